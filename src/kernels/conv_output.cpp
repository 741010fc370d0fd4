// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv_output.h"

#include "kernels/halo.h"

namespace onepass::kernels {

using loops::Affine;
using loops::Value;

ConvOutput::ConvOutput(loops::Builder& builder, const ConvSpec& spec, int64_t bias_elems, int vector_lanes)
    : b_(builder),
      spec_(spec),
      lanes_(vector_lanes),
      bias_(spec.bias ? builder.input("bias", bias_elems, 64) : loops::BufferId{}),
      epilogue_(builder, spec.epilogue, spec.dst, vector_lanes),
      dst_(output_map(builder, "dst", spec.dst)) {}

void ConvOutput::store(Value sum, const At& at, bool partial) {
  const int64_t tail = spec_.dst.c % lanes_;
  const std::optional<int> channels = partial ? std::optional(static_cast<int>(tail)) : std::nullopt;
  const std::optional<int> active = blocked() ? std::nullopt : channels;
  const Affine block = channel_block(at.vector), channel = at.vector * lanes_;
  // A bias in front of the sum would make every term round at the size of the bias.
  if (spec_.bias) sum = loops::binary(loops::Binary::add, sum, b_.load(bias_, channel, lanes_));
  Value result = epilogue_.apply(sum, {at.n, block, at.y, at.x, lanes_, channel, active});
  if (channels && blocked() && !keeps_zero(spec_.epilogue))
    result = loops::select(loops::Compare::lt, loops::lane_index(lanes_),
                           loops::constant_i32(*channels, lanes_), result, loops::constant(0, lanes_));
  const Affine inside = blocked() ? Affine(0) : channel;
  b_.store(dst_, pixel_index(spec_.dst, at.n, block, at.y, at.x) + inside, result, active);
}

void ConvOutput::zero_halo(const Affine& n, const Affine& vector, const Affine& y) {
  if (spec_.dst.halo.empty()) return;
  zero_halo_of_row(b_, dst_, spec_.dst, {n, channel_block(vector), y}, lanes_);
}

}  // namespace onepass::kernels
