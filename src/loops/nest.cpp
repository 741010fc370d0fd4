// SPDX-License-Identifier: Apache-2.0
#include "loops/nest.h"

#include "base/diagnostic.h"

namespace onepass::loops {

int64_t element_bytes(Scalar scalar) {
  return scalar == Scalar::bf16 ? 2 : 4;
}

namespace {

constexpr int64_t k_scratch_alignment_bytes = 64;

int64_t rounded_bytes(const Buffer& buffer) {
  return (buffer.elems * element_bytes(buffer.scalar) + k_scratch_alignment_bytes - 1) /
         k_scratch_alignment_bytes * k_scratch_alignment_bytes;
}

}  // namespace

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum(a.constant + b.constant);
  auto left = a.terms.begin();
  auto right = b.terms.begin();
  while (left != a.terms.end() || right != b.terms.end()) {
    if (right == b.terms.end() || (left != a.terms.end() && left->first < right->first)) {
      sum.terms.push_back(*left++);
    } else if (left == a.terms.end() || right->first < left->first) {
      sum.terms.push_back(*right++);
    } else {
      if (left->second + right->second != 0)
        sum.terms.emplace_back(left->first, left->second + right->second);
      ++left;
      ++right;
    }
  }
  return sum;
}

Affine operator-(const Affine& a, const Affine& b) {
  return a + b * -1;
}

Affine operator*(const Affine& a, int64_t factor) {
  Affine product(a.constant * factor);
  if (factor == 0) return product;
  for (const auto& [var, coefficient] : a.terms) product.terms.emplace_back(var, coefficient * factor);
  return product;
}

Scalar value_scalar(Scalar memory) {
  return memory == Scalar::bf16 ? Scalar::f32 : memory;
}

int64_t scratch_bytes(const LoopNest& nest) {
  int64_t bytes = 0;
  for (const Buffer& buffer : nest.buffers)
    if (buffer.scratch) bytes += rounded_bytes(buffer);
  return bytes;
}

int64_t scratch_offset_bytes(const LoopNest& nest, BufferId id) {
  require(nest.buffers.at(id.id).scratch, "the buffer is scratch");
  int64_t offset = 0;
  for (int32_t before = 0; before < id.id; ++before)
    if (nest.buffers[before].scratch) offset += rounded_bytes(nest.buffers[before]);
  return offset;
}

}  // namespace onepass::loops
