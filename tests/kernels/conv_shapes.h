// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>
#include <vector>

#include "conv_reference.h"
#include "kernels/choice.h"
#include "support.h"

// Convolutions by their shapes, each with every kernel that supports it, against the definition.
namespace onepass::kernels::test {

struct Shape {
  const char* label;
  int64_t n = 1, c = 1, k = 1, h = 1, w = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride = 1, pad = 0, dilation = 1, groups = 1;
  bool bias = true;
};

inline int64_t out_extent(int64_t in, int64_t kernel, const Shape& s) {
  return (in + 2 * s.pad - (kernel - 1) * s.dilation - 1) / s.stride + 1;
}

inline ConvSpec spec_of(const Shape& s, int64_t src_block, int64_t dst_block) {
  const int64_t oh = out_extent(s.h, s.kernel_h, s), ow = out_extent(s.w, s.kernel_w, s);
  ConvSpec spec;
  spec.src = plain_map(s.n, s.c, s.h, s.w);
  spec.dst = blocked_map(s.n, s.k, oh, ow, dst_block, {1, 1, 1, 1});
  spec.kernel_h = s.kernel_h;
  spec.kernel_w = s.kernel_w;
  spec.stride_h = spec.stride_w = s.stride;
  spec.dilation_h = spec.dilation_w = s.dilation;
  spec.pad_top = spec.pad_left = s.pad;
  spec.groups = s.groups;
  spec.bias = s.bias;
  const Halo halo = required_halo(spec);
  spec.src =
      src_block == 1 ? plain_map(s.n, s.c, s.h, s.w, halo) : blocked_map(s.n, s.c, s.h, s.w, src_block, halo);
  return spec;
}

inline std::vector<KernelChoice> choices(const ConvSpec& spec, const targets::Target& target) {
  std::vector<KernelChoice> result;
  if (conv_depthwise_supports(spec, target))
    for (const DepthwiseTile& tile : conv_depthwise_tiles(spec, target))
      result.push_back(ConvDepthwiseChoice{spec, tile});
  if (conv_amx_supports(spec, target)) {
    for (const int products : {6, 3, 1}) {
      const std::vector<AmxTile> tiles = conv_amx_tiles(spec, products, target);
      result.push_back(ConvAmxChoice{spec, tiles.front()});
      result.push_back(ConvAmxChoice{spec, tiles.back()});
    }
    return result;  // the rest is as on the class without tiles
  }
  if (conv_direct_supports(spec, target)) {
    const std::vector<ConvTile> tiles = conv_direct_tiles(spec, target);
    // The best, the last, and the best again with the other order of slices.
    result.push_back(ConvDirectChoice{spec, tiles.front()});
    result.push_back(ConvDirectChoice{spec, tiles.back()});
    ConvTile other = tiles.front();
    other.rows_outer = !other.rows_outer;
    result.push_back(ConvDirectChoice{spec, other});
  }
  return result;
}

/// As kernels/conv.h declares it.
inline double tolerance_of(const KernelChoice& choice) {
  const auto* amx = std::get_if<ConvAmxChoice>(&choice);
  if (amx == nullptr || amx->tile.products > 1) return 1e-5;
  return 2e-2;
}

inline void add_cases(const Shape& shape, const targets::Target& target, int64_t src_block,
                      std::vector<Case>& cases) {
  const ConvSpec spec = spec_of(shape, src_block, target.vector_lanes);
  const std::vector<float> x = random_values(shape.n * shape.c * shape.h * shape.w, 1);
  const std::vector<float> w =
      random_values(shape.k * shape.c / shape.groups * shape.kernel_h * shape.kernel_w, 2);
  const std::vector<float> bias = shape.bias ? random_values(shape.k, 3) : std::vector<float>{};
  const std::vector<float> expected = reference(spec, x, w, bias);
  const std::vector<KernelChoice> all = choices(spec, target);
  ASSERT_FALSE(all.empty()) << shape.label;
  for (const KernelChoice& choice : all) {
    const std::string label = std::string(shape.label) + " " + family_name(choice) + " " + target.name;
    Operands operands = {to_map(spec.src, x), pack_weights(choice, target, w)};
    if (shape.bias) operands.emplace_back(pad_channels(bias, spec.dst, target));
    operands.emplace_back(empty_map(spec.dst));
    const auto check = [=](const Operands& after) {
      expect_near(expected, from_map(spec.dst, after.back().values), tolerance_of(choice), label);
      expect_zero_surround(spec.dst, after.back().values, label);
    };
    cases.push_back(
        {label, build("kernel" + std::to_string(cases.size()), choice, target), std::move(operands), check});
  }
}

inline void run(const std::vector<Shape>& shapes, std::initializer_list<bool> plain_sources) {
  for (const targets::Target& target : targets::all()) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes)
      for (bool plain : plain_sources) add_cases(shape, target, plain ? 1 : target.vector_lanes, cases);
    run_cases(std::move(cases));
  }
}

}  // namespace onepass::kernels::test
