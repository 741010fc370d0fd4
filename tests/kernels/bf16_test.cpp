// SPDX-License-Identifier: Apache-2.0
//
// Maps in bf16: a kernel on them gives what the same kernel gives on f32 maps of the same values, rounded.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "kernels/choice.h"
#include "kernels/support.h"
#include "loops/tiles.h"

namespace onepass::kernels::test {

namespace {

uint16_t rounded(float value) {
  return static_cast<uint16_t>(loops::pack_bf16(std::bit_cast<uint32_t>(value), 0));
}

float widened(uint16_t half) {
  return std::bit_cast<float>(static_cast<uint32_t>(half) << 16);
}

std::vector<float> rounded_values(std::vector<float> values) {
  for (float& value : values) value = widened(rounded(value));
  return values;
}

/// f32 memory as bf16 memory, two elements to a float.
std::vector<float> as_bf16(const std::vector<float>& memory) {
  std::vector<float> packed((memory.size() + 1) / 2);
  for (size_t i = 0; i < memory.size(); ++i)
    packed[i / 2] = std::bit_cast<float>(std::bit_cast<uint32_t>(packed[i / 2]) |
                                         static_cast<uint32_t>(rounded(memory[i])) << (16 * (i % 2)));
  return packed;
}

std::vector<float> from_bf16(const std::vector<float>& packed, int64_t elems) {
  std::vector<float> memory;
  for (int64_t i = 0; i < elems; ++i)
    memory.push_back(
        widened(static_cast<uint16_t>(std::bit_cast<uint32_t>(packed[i / 2]) >> (16 * (i % 2)))));
  return memory;
}

Operand memory_of(const FeatureMap& map, const std::vector<float>& values) {
  const std::vector<float> memory = to_map(map, values);
  return map.scalar == loops::Scalar::bf16 ? as_bf16(memory) : memory;
}

std::vector<float> values_of(const FeatureMap& map, const Operand& operand) {
  if (map.scalar == loops::Scalar::f32) return from_map(map, operand.values);
  return from_map(map, from_bf16(operand.values, map.elems()));
}

struct Conv {
  const char* label;
  int64_t c, k, h, w, kernel, stride, groups;
};

ConvSpec spec_of(const Conv& s, const targets::Target& target, bool bf16) {
  const int64_t pad = s.kernel / 2;
  ConvSpec spec{.kernel_h = s.kernel, .kernel_w = s.kernel, .stride_h = s.stride, .stride_w = s.stride};
  spec.pad_top = spec.pad_left = pad;
  spec.groups = s.groups;
  spec.bias = true;
  const int64_t oh = (s.h - 1) / s.stride + 1, ow = (s.w - 1) / s.stride + 1;
  spec.dst = blocked_map(1, s.k, oh, ow, target.vector_lanes, {1, 1, 1, 1});
  spec.src = blocked_map(1, s.c, s.h, s.w, target.vector_lanes, {1, 1, 5, 5});
  FeatureMap residual = blocked_map(1, s.k, oh, ow, target.vector_lanes);
  if (bf16) spec.dst = in_bf16(spec.dst), spec.src = in_bf16(spec.src), residual = in_bf16(residual);
  spec.epilogue.steps = {{.kind = EpilogueStep::Kind::binary,
                          .op = ir::Op::Add,
                          .operand = {.kind = StepOperand::Kind::map, .map = residual}}};
  return spec;
}

std::vector<float> run_conv(const KernelChoice& choice, const targets::Target& target, const Conv& s) {
  KernelChoice own = choice;
  const ConvSpec spec = std::visit(
      [](const auto& c) {
        if constexpr (requires { c.spec; }) return c.spec;
        return ConvSpec{};
      },
      choice);
  const std::vector<float> x = rounded_values(random_values(s.c * s.h * s.w, 1));
  const std::vector<float> w = random_values(s.k * s.c / s.groups * s.kernel * s.kernel, 2);
  const std::vector<float> skip = rounded_values(random_values(spec.dst.values(), 3));
  Operands operands = {memory_of(spec.src, x), pack_weights(choice, target, w),
                       pad_channels(random_values(s.k, 4), spec.dst, target),
                       memory_of(spec.epilogue.steps[0].operand.map, skip),
                       std::vector<float>(spec.dst.elems(), 0.0F)};
  const std::string label = std::string(s.label) + " " + family_name(choice) + " " + target.name;
  return values_of(spec.dst, run_case(label, build("kernel", choice, target), operands).back());
}

TEST(Bf16Maps, ConvolutionsRoundTheirOutputsAlone) {
  const Conv shapes[] = {{"1x1", 40, 40, 5, 7, 1, 1, 1},
                         {"3x3", 32, 24, 9, 8, 3, 1, 1},
                         {"3x3 s2", 33, 48, 9, 11, 3, 2, 1},
                         {"depthwise", 20, 20, 6, 9, 3, 1, 20}};
  for (const targets::Target& target : targets::all())
    for (const Conv& shape : shapes) {
      const auto wide = conv_candidates(spec_of(shape, target, false), target);
      const auto narrow = conv_candidates(spec_of(shape, target, true), target);
      for (const KernelChoice& choice : narrow) {
        const auto same = std::find_if(wide.begin(), wide.end(),
                                       [&](const KernelChoice& c) { return c.index() == choice.index(); });
        ASSERT_NE(same, wide.end());
        const std::vector<float> expected = rounded_values(run_conv(*same, target, shape));
        const std::string label = std::string(shape.label) + " " + family_name(choice) + " " + target.name;
        expect_near(expected, run_conv(choice, target, shape), 1e-2, label);
        if (family_name(choice) == std::string("conv_direct") || shape.groups > 1)
          expect_same_bits(expected, run_conv(choice, target, shape), label);
      }
    }
}

TEST(Bf16Maps, LayoutsRoundAndWiden) {
  for (const targets::Target& target : targets::all()) {
    const FeatureMap plain = plain_map(2, 19, 5, 6);
    const FeatureMap blocked = in_bf16(blocked_map(2, 19, 5, 6, target.vector_lanes, {1, 0, 2, 1}));
    const std::vector<float> x = random_values(plain.values(), 7);
    const Operands there = run_case("to bf16", build("kernel", LayoutSpec{plain, blocked}, target),
                                    {to_map(plain, x), std::vector<float>(blocked.elems(), 0.0F)});
    expect_same_bits(rounded_values(x), values_of(blocked, there.back()), "to bf16");
    const Operands back = run_case("from bf16", build("kernel", LayoutSpec{blocked, plain}, target),
                                   {there.back().values, empty_map(plain)});
    expect_same_bits(rounded_values(x), from_map(plain, back.back().values), "from bf16");
  }
}

TEST(Bf16Maps, PoolsAndPointwiseStepsKeepThem) {
  for (const targets::Target& target : targets::all()) {
    const auto map = [&](int64_t h, int64_t w) {
      return in_bf16(blocked_map(1, 21, h, w, target.vector_lanes));
    };
    PoolSpec pool{.src = map(6, 8), .dst = map(3, 4)};
    pool.kernel_h = pool.kernel_w = pool.stride_h = pool.stride_w = 2;
    const std::vector<float> x = rounded_values(random_values(21 * 48, 9));
    const Operands pooled = run_case("pool", build("kernel", pool, target),
                                     {memory_of(pool.src, x), std::vector<float>(pool.dst.elems(), 0.0F)});
    std::vector<float> expected;
    for (int64_t c = 0; c < 21; ++c)
      for (int64_t y = 0; y < 3; ++y)
        for (int64_t at = 0; at < 4; ++at) {
          const float* from = x.data() + (c * 6 + 2 * y) * 8 + 2 * at;
          expected.push_back(std::max({from[0], from[1], from[8], from[9]}));
        }
    expect_same_bits(expected, values_of(pool.dst, pooled.back()), "max pool in bf16");

    ElementwiseSpec relu{.src = map(6, 8), .dst = map(6, 8)};
    relu.epilogue.steps = {{.activation = {.op = ir::Op::Relu}}};
    const Operands positive = run_case("relu", build("kernel", relu, target),
                                       {memory_of(relu.src, x), std::vector<float>(relu.dst.elems(), 0.0F)});
    std::vector<float> kept = x;
    for (float& value : kept) value = value > 0 ? value : 0.0F;
    expect_same_bits(kept, values_of(relu.dst, positive.back()), "relu in bf16");
  }
}

}  // namespace

}  // namespace onepass::kernels::test
