// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "base/diagnostic.h"
#include "kernels/pointwise.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

constexpr Halo k_no_halo{};
constexpr Halo k_even{1, 1, 1, 1};
constexpr Halo k_lopsided{.top = 1, .left = 2, .bottom = 3, .right = 1};

EpilogueStep activation_step(ir::Op op, double alpha = 0, double beta = 0) {
  return {.kind = EpilogueStep::Kind::activation, .activation = {op, alpha, beta}};
}

EpilogueStep binary_step(ir::Op op, StepOperand operand, bool accumulator_left = true) {
  return {.kind = EpilogueStep::Kind::binary,
          .op = op,
          .accumulator_left = accumulator_left,
          .operand = std::move(operand)};
}

StepOperand scalar(double value) {
  return {.kind = StepOperand::Kind::scalar, .value = value};
}
StepOperand per_channel() {
  return {.kind = StepOperand::Kind::per_channel};
}
StepOperand gate(FeatureMap map) {
  return {.kind = StepOperand::Kind::gate, .map = std::move(map)};
}
StepOperand same_extents(FeatureMap map) {
  return {.kind = StepOperand::Kind::map, .map = std::move(map)};
}

/// Channel vectors as kernels read them: zeros up to whole vectors.
std::vector<float> channel_vector(int64_t c, uint64_t seed, const targets::Target& target) {
  std::vector<float> values = random_values(c, seed);
  values.resize((c + target.vector_lanes - 1) / target.vector_lanes * target.vector_lanes, 0.0f);
  return values;
}

int64_t channel_of(const FeatureMap& map, int64_t i) {
  return i / (map.h * map.w) % map.c;
}
int64_t plane_of(const FeatureMap& map, int64_t i) {
  return i / (map.h * map.w);
}

/// relu(relu(src) + other) over two kinds of maps.
Case residual_case(const FeatureMap& src, const FeatureMap& other, const FeatureMap& dst,
                   const targets::Target& target) {
  ElementwiseSpec spec{src,
                       dst,
                       {{activation_step(ir::Op::Relu), binary_step(ir::Op::Add, same_extents(other)),
                         activation_step(ir::Op::Relu)}}};
  const std::vector<float> a = random_values(src.values(), 1), b = random_values(src.values(), 2);
  std::vector<float> expected;
  for (size_t i = 0; i < a.size(); ++i) expected.push_back(std::max(0.0f, std::max(0.0f, a[i]) + b[i]));
  const std::string label =
      "residual c " + std::to_string(src.c) + " block " + std::to_string(src.block) + " " + target.name;
  return {label,
          elementwise("f", spec, target),
          {to_map(src, a, Surround::nan), to_map(other, b, Surround::nan), empty_map(dst)},
          [=](const Operands& after) { expect_map(dst, after[2].values, expected, label); }};
}

/// ((src * scale + shift) - v) * gate + 1: every kind of operand; lanes behind the last channel become 1
/// unmasked.
Case operands_case(const FeatureMap& src, const FeatureMap& dst, const FeatureMap& gates,
                   const targets::Target& target) {
  ElementwiseSpec spec{src,
                       dst,
                       {{{.kind = EpilogueStep::Kind::affine},
                         binary_step(ir::Op::Sub, per_channel(), false),
                         binary_step(ir::Op::Mul, gate(gates)),
                         binary_step(ir::Op::Add, scalar(1))}}};
  const std::vector<float> x = random_values(src.values(), 1), g = random_values(src.n * src.c, 5);
  const std::vector<float> scale = channel_vector(src.c, 2, target), shift = channel_vector(src.c, 3, target),
                           v = channel_vector(src.c, 4, target);
  std::vector<float> expected;
  for (int64_t i = 0; i < src.values(); ++i) {
    const int64_t c = channel_of(src, i);
    const float scaled = x[i] * scale[c];
    const float shifted = scaled + shift[c];
    const float gated = (v[c] - shifted) * g[plane_of(src, i)];
    expected.push_back(gated + 1.0f);
  }
  const std::string label =
      "operands c " + std::to_string(src.c) + " block " + std::to_string(src.block) + " " + target.name;
  return {label,
          elementwise("f", spec, target),
          {to_map(src, x, Surround::nan), scale, shift, v, to_map(gates, g), empty_map(dst)},
          [=](const Operands& after) { expect_map(dst, after[5].values, expected, label); }};
}

}  // namespace

TEST(Elementwise, residual_over_maps_with_any_halo) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (int64_t c : {1, 7, 9, 15, 17, 24, 33})
      for (const Halo& halo : {k_no_halo, k_lopsided}) {
        const auto blocked = [&](const Halo& h) { return blocked_map(2, c, 5, 7, target.vector_lanes, h); };
        cases.push_back(residual_case(blocked(k_no_halo), blocked(halo), blocked(halo), target));
        cases.push_back(residual_case(plain_map(2, c, 5, 7, halo), plain_map(2, c, 5, 7),
                                      plain_map(2, c, 5, 7, halo), target));
      }
  run_cases(std::move(cases));
}

TEST(Elementwise, every_kind_of_operand) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (int64_t c : {1, 7, 16, 17, 33})
      for (const Halo& halo : {k_no_halo, k_even}) {
        const int64_t block = target.vector_lanes;
        cases.push_back(operands_case(blocked_map(2, c, 3, 11, block, k_lopsided),
                                      blocked_map(2, c, 3, 11, block, halo), blocked_map(2, c, 1, 1, block),
                                      target));
        cases.push_back(operands_case(plain_map(2, c, 3, 11), plain_map(2, c, 3, 11, halo),
                                      plain_map(2, c, 1, 1), target));
      }
  run_cases(std::move(cases));
}

TEST(Elementwise, rows_of_channels) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (int64_t c : {7, 10, 40}) {
      const FeatureMap map = matrix_map(3, c);
      cases.push_back(residual_case(map, map, map, target));
      cases.push_back(operands_case(map, map, matrix_map(1, c), target));
    }
  run_cases(std::move(cases));
}

TEST(Elementwise, in_place) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Halo& halo : {k_no_halo, k_even}) {
      const FeatureMap map = blocked_map(1, 20, 9, 9, target.vector_lanes, halo);
      const std::vector<float> x = random_values(map.values(), 1);
      std::vector<float> expected;
      for (float value : x) expected.push_back(std::max(0.0f, value));
      Operands operands{to_map(map, x), empty_map(map)};
      operands[1].same_memory_as = 0;
      cases.push_back(
          {"in place", elementwise("f", {map, map, {{activation_step(ir::Op::Relu)}}}, target), operands,
           [=](const Operands& after) { expect_map(map, after[1].values, expected, "in place"); }});
    }
  run_cases(std::move(cases));
}

TEST(Elementwise, lanes_behind_the_last_channel_are_zero_after_a_sigmoid) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (int64_t c : {3, 19}) {
      const FeatureMap map = blocked_map(1, c, 4, 5, target.vector_lanes, k_even);
      const std::vector<float> x = random_values(map.values(), 1, -6, 6);
      std::vector<float> expected;
      for (float value : x)
        expected.push_back(static_cast<float>(1 / (1 + std::exp(-static_cast<double>(value)))));
      cases.push_back({"sigmoid",
                       elementwise("f", {map, map, {{activation_step(ir::Op::Sigmoid)}}}, target),
                       {to_map(map, x), empty_map(map)},
                       [=](const Operands& after) {
                         expect_near(expected, from_map(map, after[1].values), 1e-6, "sigmoid");
                         expect_zero_surround(map, after[1].values, "sigmoid");
                       }});
    }
  run_cases(std::move(cases));
}

TEST(Elementwise, large_maps_are_shared_out_in_coarse_slices) {
  const targets::Target& target = targets::find("native");
  const FeatureMap flat = plain_map(1, 3, 200, 201),
                   haloed = blocked_map(1, 40, 60, 61, target.vector_lanes, k_even);
  std::vector<Case> cases{residual_case(flat, flat, flat, target),
                          residual_case(haloed, haloed, haloed, target)};
  for (Case& test : cases) {
    EXPECT_GE(test.nest.slices, 4);
    EXPECT_LE(test.nest.slices, 12);
    test.interpret = false;
  }
  run_cases(std::move(cases));
}

TEST(Elementwise, maps_of_different_extents_are_refused) {
  const targets::Target& target = targets::all().front();
  EXPECT_THROW(elementwise("f", {plain_map(1, 2, 3, 4), plain_map(1, 2, 4, 3), {}}, target), InternalError);
  EXPECT_THROW(elementwise("f", {plain_map(1, 8, 3, 4), blocked_map(1, 8, 3, 4, 8), {}}, target),
               InternalError);
}

TEST(Elementwise, estimate) {
  const FeatureMap map = blocked_map(1, 5, 3, 4, 8), dst = blocked_map(1, 5, 3, 4, 8, k_even);
  const Estimate estimate = estimate_elementwise({map, dst, {{binary_step(ir::Op::Add, same_extents(map))}}});
  EXPECT_EQ(estimate.bytes_read, 2 * 8 * 3 * 4 * 4);
  EXPECT_EQ(estimate.bytes_written, 8 * 5 * 6 * 4);
  EXPECT_EQ(estimate.flops, 5 * 3 * 4);
}

}  // namespace onepass::kernels::test
