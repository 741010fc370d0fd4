// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv_amx_parts.h"

namespace onepass::kernels {

using loops::Binary;
using loops::Unary;
using loops::Value;

PartSplitter::PartSplitter(loops::Builder& builder, int64_t parts, int pairs, int vector_lanes)
    : b_(builder),
      parts_(parts),
      lanes_(vector_lanes),
      rest_(builder.registers("rest", {loops::Scalar::f32, vector_lanes}, 2 * pairs)),
      words_(builder.registers("words", {loops::Scalar::i32, vector_lanes}, pairs)) {}

void PartSplitter::split(const std::vector<Pair>& pairs, const Store& store) {
  const int count = static_cast<int>(pairs.size());
  for (int i = 0; i < count; ++i) {
    b_.assign(rest_, 2 * i, pairs[i].first);
    b_.assign(rest_, 2 * i + 1, pairs[i].second);
  }
  for (int64_t part = 0; part < parts_; ++part) {
    std::vector<Value> words;
    for (int i = 0; i < count; ++i) {
      b_.assign(words_, i,
                loops::binary(Binary::pack_bf16, b_.read(rest_, 2 * i), b_.read(rest_, 2 * i + 1)));
      words.push_back(b_.read(words_, i));
    }
    store(part, words);
    if (part + 1 < parts_)
      for (int i = 0; i < count; ++i) take_away(i);
  }
}

/// What the words of a pair hold leaves its rest; both differences are exact.
void PartSplitter::take_away(int pair) {
  const Value words = b_.read(words_, pair);
  const Value low = loops::unary(Unary::bits_to_f32,
                                 loops::binary(Binary::shift_left, words, loops::constant_i32(16, lanes_)));
  const Value high = loops::unary(Unary::bits_to_f32,
                                  loops::binary(Binary::bit_and, words, loops::constant_i32(-65536, lanes_)));
  b_.assign(rest_, 2 * pair, loops::binary(Binary::sub, b_.read(rest_, 2 * pair), low));
  b_.assign(rest_, 2 * pair + 1, loops::binary(Binary::sub, b_.read(rest_, 2 * pair + 1), high));
}

}  // namespace onepass::kernels
