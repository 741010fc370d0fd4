// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions as convolutions of their phases, against the definition in double.
#include "kernels/conv_phases.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "kernels/choice.h"
#include "support.h"

namespace onepass::kernels::test {
namespace {

struct Shape {
  const char* label;
  int64_t n = 1, c = 1, k = 1, h = 1, w = 1;
  int64_t kernel_h = 1, kernel_w = 1, stride_h = 2, stride_w = 2;
  int64_t pad_top = 0, pad_left = 0;
  int64_t less_h = 0, less_w = 0;  ///< what the end pads cut, minus output_padding
  int64_t dilation = 1, groups = 1;
  bool bias = true;
};

TransposedConv transposed_of(const Shape& s) {
  const auto extent = [&](int64_t in, int64_t kernel, int64_t stride, int64_t cut) {
    return (in - 1) * stride + (kernel - 1) * s.dilation + 1 - cut;
  };
  TransposedConv t;
  t.src = plain_map(s.n, s.c, s.h, s.w);
  t.dst = plain_map(s.n, s.k, extent(s.h, s.kernel_h, s.stride_h, s.pad_top + s.less_h),
                    extent(s.w, s.kernel_w, s.stride_w, s.pad_left + s.less_w));
  t.kernel_h = s.kernel_h;
  t.kernel_w = s.kernel_w;
  t.stride_h = s.stride_h;
  t.stride_w = s.stride_w;
  t.dilation_h = t.dilation_w = s.dilation;
  t.pad_top = s.pad_top;
  t.pad_left = s.pad_left;
  t.groups = s.groups;
  t.bias = s.bias;
  return t;
}

/// The definition, in double: every source value goes through every tap.
std::vector<float> reference(const TransposedConv& t, std::span<const float> x, std::span<const float> w,
                             std::span<const float> bias) {
  const int64_t cg = t.src.c / t.groups, kg = t.dst.c / t.groups;
  std::vector<double> y(t.dst.values(), 0.0);
  for (int64_t n = 0; n < t.src.n; ++n)
    for (int64_t c = 0; c < t.src.c; ++c)
      for (int64_t k = 0; k < kg; ++k)
        for (int64_t i = 0; i < t.src.h * t.src.w; ++i)
          for (int64_t tap = 0; tap < t.kernel_h * t.kernel_w; ++tap) {
            const int64_t kh = tap / t.kernel_w, kw = tap % t.kernel_w;
            const int64_t oy = i / t.src.w * t.stride_h - t.pad_top + kh * t.dilation_h;
            const int64_t ox = i % t.src.w * t.stride_w - t.pad_left + kw * t.dilation_w;
            if (oy < 0 || oy >= t.dst.h || ox < 0 || ox >= t.dst.w) continue;
            const int64_t output = c / cg * kg + k;
            y[((n * t.dst.c + output) * t.dst.h + oy) * t.dst.w + ox] +=
                static_cast<double>(x[(n * t.src.c + c) * t.src.h * t.src.w + i]) *
                w[(c * kg + k) * t.kernel_h * t.kernel_w + tap];
          }
  std::vector<float> result;
  for (size_t i = 0; i < y.size(); ++i) {
    const int64_t k = static_cast<int64_t>(i) / (t.dst.h * t.dst.w) % t.dst.c;
    result.push_back(static_cast<float>(y[i] + (bias.empty() ? 0 : bias[k])));
  }
  return result;
}

std::vector<KernelChoice> choices(const ConvSpec& spec, const targets::Target& target) {
  std::vector<KernelChoice> result;
  if (conv_amx_supports(spec, target))
    result.push_back(ConvAmxChoice{spec, conv_amx_tiles(spec, 6, target).front()});
  if (conv_depthwise_supports(spec, target))
    for (const DepthwiseTile& tile : conv_depthwise_tiles(spec, target))
      result.push_back(ConvDepthwiseChoice{spec, tile});
  if (conv_winograd_supports(spec, target))
    result.push_back(ConvWinogradChoice{spec, conv_winograd_tiles(spec, target).front()});
  if (!conv_direct_supports(spec, target)) return result;
  const std::vector<ConvTile> tiles = conv_direct_tiles(spec, target);
  result.push_back(ConvDirectChoice{spec, tiles.front()});
  result.push_back(ConvDirectChoice{spec, tiles.back()});
  ConvTile other = tiles.front();
  other.rows_outer = !other.rows_outer;
  result.push_back(ConvDirectChoice{spec, other});
  return result;
}

/// What the convolutions of one transposed convolution have written so far.
struct Written {
  std::vector<float> memory;
  int64_t twice = 0;

  void add(std::span<const float> part) {
    for (size_t i = 0; i < part.size(); ++i) {
      if (std::isnan(part[i])) continue;
      twice += std::isnan(memory[i]) ? 0 : 1;
      memory[i] = part[i];
    }
  }
};

/// Halo of the source for every part under every kernel.
Halo source_halo(const std::vector<ConvSpec>& parts) {
  Halo halo;
  for (const ConvSpec& part : parts) halo = widest(halo, required_halo(part));
  halo.bottom += 4;  // whole tiles of winograd
  halo.right += 4;
  return halo;
}

/// An epilogue that does not keep zero lanes zero, as (x + 0.5) of one scalar.
Epilogue shifted() {
  EpilogueStep step{.kind = EpilogueStep::Kind::binary, .op = ir::Op::Add};
  step.operand = {.kind = StepOperand::Kind::scalar, .value = 0.5};
  return {{step}};
}

void add_cases(const Shape& shape, const targets::Target& target, int64_t src_block, bool shift,
               std::vector<Case>& cases) {
  const TransposedConv t = transposed_of(shape);
  std::vector<ConvSpec> parts = convolutions_of(t);
  ASSERT_FALSE(parts.empty()) << shape.label;
  const std::vector<float> x = random_values(t.src.values(), 1);
  const std::vector<float> w =
      random_values(shape.c * shape.k / shape.groups * shape.kernel_h * shape.kernel_w, 2);
  const std::vector<float> bias = shape.bias ? random_values(shape.k, 3) : std::vector<float>{};
  std::vector<float> expected = reference(t, x, w, bias);
  if (shift)
    for (float& value : expected) value += 0.5F;
  const FeatureMap dst = blocked_map(t.dst.n, t.dst.c, t.dst.h, t.dst.w, target.vector_lanes, {1, 2, 3, 1});
  const Halo halo = source_halo(parts);
  for (ConvSpec& part : parts) {
    part.src = src_block == 1 ? plain_map(shape.n, shape.c, shape.h, shape.w, halo)
                              : blocked_map(shape.n, shape.c, shape.h, shape.w, src_block, halo);
    set_destination(part, dst);
    if (shift) part.epilogue = shifted();
  }
  for (size_t kernel = 0; kernel < choices(parts[0], target).size(); ++kernel) {
    auto written = std::make_shared<Written>(Written{empty_map(dst)});
    for (size_t i = 0; i < parts.size(); ++i) {
      const KernelChoice choice = choices(parts[i], target).at(kernel);
      const std::string label = std::string(shape.label) + " part " + std::to_string(i) + " " +
                                family_name(choice) + " " + target.name;
      Operands operands = {to_map(parts[i].src, x),
                           pack_weights(choice, target, part_weights(t, parts[i], w))};
      if (shape.bias) operands.emplace_back(pad_channels(bias, dst_of(choice), target));
      operands.emplace_back(empty_map(dst));
      const bool last = i + 1 == parts.size();
      const auto check = [=](const Operands& after) {
        written->add(after.back().values);
        if (!last) return;
        EXPECT_EQ(written->twice, 0) << label;
        expect_near(expected, from_map(dst, written->memory), 1e-5, label);
        expect_zero_surround(dst, written->memory, label);
        expect_untouched_outside(dst, written->memory, label);
      };
      cases.push_back({label, build("kernel" + std::to_string(cases.size()), choice, target),
                       std::move(operands), check});
    }
  }
}

void run(const std::vector<Shape>& shapes, bool plain = false, bool shift = false) {
  for (const targets::Target& target : targets::all()) {
    std::vector<Case> cases;
    for (const Shape& shape : shapes) add_cases(shape, target, plain ? 1 : target.vector_lanes, shift, cases);
    run_cases(std::move(cases));
  }
}

size_t parts_of(const Shape& shape) {
  return convolutions_of(transposed_of(shape)).size();
}

TEST(ConvPhases, KernelsAsWideAsTheirStride) {
  run({{.label = "2x2", .c = 5, .k = 20, .h = 3, .w = 7, .kernel_h = 2, .kernel_w = 2},
       {.label = "2x2 two images",
        .n = 2,
        .c = 32,
        .k = 32,
        .h = 2,
        .w = 5,
        .kernel_h = 2,
        .kernel_w = 2,
        .bias = false},
       {.label = "3x3 stride 3",
        .c = 9,
        .k = 3,
        .h = 2,
        .w = 4,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride_h = 3,
        .stride_w = 3},
       {.label = "1x4 stride 1x4",
        .c = 4,
        .k = 17,
        .h = 3,
        .w = 3,
        .kernel_w = 4,
        .stride_h = 1,
        .stride_w = 4}});
}

TEST(ConvPhases, OverlappingKernels) {
  run({{.label = "4x4 p1",
        .c = 18,
        .k = 33,
        .h = 4,
        .w = 5,
        .kernel_h = 4,
        .kernel_w = 4,
        .pad_top = 1,
        .pad_left = 1,
        .less_h = 1,
        .less_w = 1},
       {.label = "3x3 p1 op1",
        .c = 8,
        .k = 16,
        .h = 3,
        .w = 4,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_top = 1,
        .pad_left = 1},
       {.label = "3x3 p1",
        .c = 8,
        .k = 16,
        .h = 3,
        .w = 4,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad_top = 1,
        .pad_left = 1,
        .less_h = 1,
        .less_w = 1},
       {.label = "3x3", .c = 3, .k = 9, .h = 2, .w = 2, .kernel_h = 3, .kernel_w = 3},
       {.label = "5x3 uneven pads",
        .c = 7,
        .k = 12,
        .h = 3,
        .w = 4,
        .kernel_h = 5,
        .kernel_w = 3,
        .pad_top = 2,
        .less_h = 1,
        .less_w = 2},
       {.label = "4x4 p2 cuts rows",
        .c = 4,
        .k = 8,
        .h = 3,
        .w = 3,
        .kernel_h = 4,
        .kernel_w = 4,
        .pad_top = 2,
        .pad_left = 2,
        .less_h = 2,
        .less_w = 2},
       {.label = "7x7 stride 3",
        .c = 4,
        .k = 4,
        .h = 2,
        .w = 3,
        .kernel_h = 7,
        .kernel_w = 7,
        .stride_h = 3,
        .stride_w = 3,
        .pad_top = 2,
        .pad_left = 2}});
}

TEST(ConvPhases, OutputPaddingBehindTheKernelIsTheBias) {
  run({{.label = "output padding 2",
        .c = 3,
        .k = 5,
        .h = 2,
        .w = 3,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride_h = 3,
        .stride_w = 3,
        .less_h = -2,
        .less_w = -1}});
}

TEST(ConvPhases, StrideOneIsAConvolution) {
  const Shape shape{.label = "3x3 s1",
                    .c = 16,
                    .k = 20,
                    .h = 5,
                    .w = 6,
                    .kernel_h = 3,
                    .kernel_w = 3,
                    .stride_h = 1,
                    .stride_w = 1,
                    .pad_top = 1,
                    .pad_left = 1,
                    .less_h = 1,
                    .less_w = 1};
  const Shape dilated{.label = "3x3 s1 d2",
                      .c = 5,
                      .k = 4,
                      .h = 5,
                      .w = 6,
                      .kernel_h = 3,
                      .kernel_w = 3,
                      .stride_h = 1,
                      .stride_w = 1,
                      .pad_left = 1,
                      .dilation = 2};
  const Shape grouped{.label = "3x3 s1 g2",
                      .c = 64,
                      .k = 64,
                      .h = 3,
                      .w = 3,
                      .kernel_h = 3,
                      .kernel_w = 3,
                      .stride_h = 1,
                      .stride_w = 1,
                      .pad_top = 2,
                      .pad_left = 1,
                      .groups = 2};
  for (const Shape& s : {shape, dilated, grouped}) {
    ASSERT_EQ(parts_of(s), 1U) << s.label;
    EXPECT_FALSE(convolutions_of(transposed_of(s)).front().phases) << s.label;
  }
  run({shape, dilated, grouped});
}

TEST(ConvPhases, Depthwise) {
  const std::vector<Shape> shapes = {{.label = "dw 4x4 p1",
                                      .c = 20,
                                      .k = 20,
                                      .h = 3,
                                      .w = 5,
                                      .kernel_h = 4,
                                      .kernel_w = 4,
                                      .pad_top = 1,
                                      .pad_left = 1,
                                      .less_h = 1,
                                      .less_w = 1,
                                      .groups = 20},
                                     {.label = "dw 2x2",
                                      .n = 2,
                                      .c = 33,
                                      .k = 33,
                                      .h = 2,
                                      .w = 3,
                                      .kernel_h = 2,
                                      .kernel_w = 2,
                                      .groups = 33,
                                      .bias = false}};
  run(shapes);
  run(shapes, false, true);
}

TEST(ConvPhases, PlainSourceAndEpilogue) {
  const std::vector<Shape> shapes = {
      {.label = "2x2", .c = 3, .k = 5, .h = 3, .w = 7, .kernel_h = 2, .kernel_w = 2},
      {.label = "4x4 p1",
       .c = 3,
       .k = 20,
       .h = 3,
       .w = 5,
       .kernel_h = 4,
       .kernel_w = 4,
       .pad_top = 1,
       .pad_left = 1,
       .less_h = 1,
       .less_w = 1}};
  run(shapes, true);
  run(shapes, false, true);
}

TEST(ConvPhases, PhasesOfOneWindowAreOneConvolution) {
  EXPECT_EQ(parts_of({.label = "", .h = 4, .w = 4, .kernel_h = 2, .kernel_w = 2}), 1U);
  EXPECT_EQ(
      parts_of({.label = "", .h = 4, .w = 4, .kernel_h = 8, .kernel_w = 4, .stride_h = 4, .stride_w = 4}),
      1U);
  EXPECT_EQ(parts_of({.label = "",
                      .h = 4,
                      .w = 4,
                      .kernel_h = 4,
                      .kernel_w = 4,
                      .pad_top = 1,
                      .pad_left = 1,
                      .less_h = 1,
                      .less_w = 1}),
            4U);
}

TEST(ConvPhases, WhatIsNotCovered) {
  EXPECT_EQ(parts_of({.label = "1x1", .h = 4, .w = 4}), 0U);
  EXPECT_EQ(parts_of({.label = "2x2 p1", .h = 4, .w = 4, .kernel_h = 2, .kernel_w = 2, .pad_left = 1}), 0U);
  EXPECT_EQ(
      parts_of(
          {.label = "groups", .c = 4, .k = 4, .h = 4, .w = 4, .kernel_h = 2, .kernel_w = 2, .groups = 2}),
      0U);
  EXPECT_EQ(parts_of({.label = "dilated", .h = 4, .w = 4, .kernel_h = 2, .kernel_w = 2, .dilation = 2}), 0U);
  EXPECT_EQ(parts_of({.label = "cut", .h = 4, .w = 4, .kernel_h = 2, .kernel_w = 2, .pad_top = 3}), 0U);
}

}  // namespace
}  // namespace onepass::kernels::test
