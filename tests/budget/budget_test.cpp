// SPDX-License-Identifier: Apache-2.0
#include "budget/budget.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "budget/support.h"
#include "plan/plan.h"

namespace onepass::test {
namespace {

using budget::Algorithm;
using budget::Assignment;

constexpr const char* k_chain = R"(
    x = input f32[1,64,28,28]
    w1 = constant f32[64,64,3,3] random(seed=1, lo=-0.07, hi=0.07)
    w2 = constant f32[64,64,3,3] random(seed=2, lo=-0.07, hi=0.07)
    w3 = constant f32[256,64,1,1] random(seed=3, lo=-0.2, hi=0.2)
    a = Conv(x, w1) {pads=[1,1,1,1]}
    r = Relu(a)
    b = Conv(r, w2) {pads=[1,1,1,1]}
    s = Relu(b)
    c = Conv(s, w3)
    output c
)";

Assignment assigned(const std::string& text, double tolerance, const char* target = "x86-64-v4+amx") {
  return budget::assign(budget_graph(text), targets::find(target), {.tolerance = tolerance});
}

int64_t layers_of(const Assignment& assignment, Algorithm algorithm) {
  const auto& layers = assignment.report.layers;
  return std::count_if(layers.begin(), layers.end(),
                       [&](const budget::LayerReport& layer) { return layer.algorithm == algorithm; });
}

TEST(Budget, AGenerousToleranceGivesTheFastest) {
  const Assignment assignment = assigned(k_chain, 0.5);
  EXPECT_TRUE(assignment.report.holds);
  EXPECT_TRUE(assignment.report.demotions.empty());
  EXPECT_EQ(layers_of(assignment, Algorithm::bf16), 3);
}

TEST(Budget, PlainBf16NeedsAToleranceOfAThousandth) {
  EXPECT_EQ(layers_of(assigned(k_chain, 9e-4), Algorithm::bf16), 0);
}

TEST(Budget, ALoweredToleranceDemotesAndSaysWhy) {
  const Assignment assignment = assigned(k_chain, 2e-2);
  EXPECT_TRUE(assignment.report.holds);
  EXPECT_GT(layers_of(assignment, Algorithm::bf16) + layers_of(assignment, Algorithm::amx3), 0);
  const Assignment tighter = assigned(k_chain, 1e-5);
  EXPECT_LT(tighter.report.predicted, 5e-6);
  const Assignment tightest = assigned(k_chain, 2e-6);
  ASSERT_FALSE(tightest.report.demotions.empty());
  EXPECT_EQ(tightest.report.demotions[0].from, Algorithm::amx3);
  EXPECT_NE(tightest.report.demotions[0].reason.find("at the outputs"), std::string::npos);
}

TEST(Budget, WhatNothingHoldsIsAsAccurateAsDirectSums) {
  const Assignment assignment = assigned(k_chain, 1e-12);
  EXPECT_FALSE(assignment.report.holds);
  EXPECT_GT(assignment.report.floor, 0);
  EXPECT_LE(assignment.report.predicted, 1.1 * assignment.report.floor);
  EXPECT_EQ(layers_of(assignment, Algorithm::amx3), 0);
  EXPECT_NE(budget::summary(assignment.report).find("direct sums everywhere"), std::string::npos);
}

TEST(Budget, OnlyTheLayerThatAmplifiesIsDemoted) {
  // The first convolution's result is divided away; the second one's is multiplied.
  const Assignment assignment = assigned(R"(
    x = input f32[1,256,14,14]
    w1 = constant f32[256,256,1,1] random(seed=1, lo=-0.1, hi=0.1)
    w2 = constant f32[256,256,1,1] random(seed=2, lo=-0.1, hi=0.1)
    small = constant f32[1] {0.0001}
    large = constant f32[1] {10}
    one = constant f32[1] {1}
    quiet = Conv(x, w1)
    loud = Conv(x, w2)
    a = Mul(quiet, small)
    b = Mul(loud, large)
    s = Tanh(b)
    y = Add(a, s)
    output y
)",
                                         1e-5);
  ASSERT_EQ(assignment.report.layers.size(), 2U);
  EXPECT_EQ(assignment.report.layers[0].algorithm, Algorithm::amx3);
  ASSERT_EQ(assignment.report.demotions.size(), 1U);
  EXPECT_EQ(assignment.report.demotions[0].node, "loud");
}

TEST(Budget, TargetsWithoutLooseAlgorithmsAreNotMeasured) {
  const Assignment assignment = assigned(k_chain, 1e-5, "x86-64-v4");
  EXPECT_FALSE(assignment.report.measured);
  EXPECT_TRUE(assignment.policies.empty());
  EXPECT_TRUE(assigned(k_chain, 1e-7, "x86-64-v4").report.measured) << "below the default it counts";
}

TEST(Budget, IsTheSameTwiceAndFromWhatWasMeasuredBefore) {
  const ir::Graph graph = budget_graph(k_chain);
  const Assignment first = budget::assign(graph, amx_target(), {.tolerance = 3e-6, .threads = 1});
  const Assignment second = budget::assign(graph, amx_target(), {.tolerance = 3e-6, .threads = 2});
  const Assignment known =
      budget::assign(graph, amx_target(), {.tolerance = 3e-6, .known = first.sensitivities});
  for (const Assignment* other : {&second, &known}) {
    EXPECT_EQ(first.policies, other->policies);
    EXPECT_EQ(first.sensitivities, other->sensitivities);
    EXPECT_EQ(first.report.predicted, other->report.predicted);
  }
}

TEST(Budget, WhatWasMeasuredBeforeIsUsed) {
  const ir::Graph graph = budget_graph(k_chain);
  constexpr double k_tolerance = 1e-4;
  Assignment before = budget::assign(graph, amx_target(), {.tolerance = k_tolerance});
  for (auto& [layer, sensitivity] : before.sensitivities) sensitivity *= 1000;
  budget::Options options{.tolerance = k_tolerance, .known = before.sensitivities};
  const Assignment known = budget::assign(graph, amx_target(), options);
  EXPECT_EQ(layers_of(known, Algorithm::amx3), 0);
  options.known.erase(options.known.begin());
  EXPECT_GT(layers_of(budget::assign(graph, amx_target(), options), Algorithm::amx3), 0)
      << "a layer is missing: measured anew";
}

TEST(Budget, SourcesThatBf16CannotHoldKeepTheirSums) {
  ir::Graph graph = budget_graph(k_chain);
  std::vector<ir::Tensor> frame = {ir::Tensor(ir::DType::f32, {1, 64, 28, 28})};
  for (float& value : frame[0].data<float>()) value = 3.4e38F;
  const Assignment assignment = budget::assign(graph, amx_target(), {.tolerance = 0.5, .frames = {frame}});
  ASSERT_FALSE(assignment.report.layers.empty());
  EXPECT_LE(assignment.report.layers[0].algorithm, Algorithm::winograd);
}

TEST(Budget, ThePlanFollowsThePolicyOfEachLayer) {
  const ir::Graph graph = budget_graph(k_chain);
  plan::PlanOptions options;
  options.conv = budget::policy_for(Algorithm::amx3);
  options.conv_by_value["a"] = budget::policy_for(Algorithm::direct);
  const plan::Plan plan = plan::make_plan(graph, amx_target(), options);
  std::vector<std::string> families;
  for (const plan::Launch& launch : plan.launches)
    if (launch.family.starts_with("conv")) families.push_back(launch.family);
  ASSERT_EQ(families.size(), 3U);
  EXPECT_EQ(families[0], "conv_direct");
  EXPECT_EQ(families[1], "conv_amx");
}

}  // namespace
}  // namespace onepass::test
