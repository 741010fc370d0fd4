// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "loops/printer.h"
#include "plan/support.h"

namespace onepass::test {
namespace {

using plan::BufferSpace;
using plan::Plan;

constexpr const char* k_network = R"(
    x = input f32[1,3,12,12]
    w1 = constant f32[16,3,3,3] random(seed=1)
    w2 = constant f32[16,16,3,3] random(seed=2)
    w3 = constant f32[16,16,3,3] random(seed=3)
    b = constant f32[16] random(seed=4)
    k = constant f32[16,10] random(seed=5)
    a = Conv(x, w1, b) {pads=[1,1,1,1]}
    r = Relu(a)
    c = Conv(r, w2, b) {pads=[1,1,1,1]}
    s = Relu(c)
    d = Conv(s, w3, b) {pads=[1,1,1,1]}
    e = Add(d, r)
    g = GlobalAveragePool(e)
    f = Flatten(g)
    m = MatMul(f, k)
    y = Softmax(m) {axis=1}
    output y
)";

TEST(Lowering, RefusesAllNodesThatNothingRunsAtOnce) {
  try {
    plan_of(R"(
      x = input f64[2,3,4]
      y = input f32[1,2,8,8]
      w = constant f32[4,2,3,3] random(seed=1)
      s = constant i64[2] {2,12}
      a = Softmax(x) {axis=1}
      b = Reshape(a, s)
      c = Conv(y, w)
      d = Softmax(b) {axis=1}
      output c
      output d
)");
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    ASSERT_EQ(error.diagnostics().size(), 2U) << error.what();
    EXPECT_EQ(error.diagnostics()[0].node, "a");
    EXPECT_EQ(error.diagnostics()[1].node, "d");
    for (const Diagnostic& d : error.diagnostics()) {
      EXPECT_EQ(d.code, "no_kernel");
      EXPECT_EQ(d.op, "Softmax");
      EXPECT_FALSE(d.accepted.empty());
    }
  }
}

TEST(Lowering, EqualKernelsAreMadeOnce) {
  const Plan plan = plan_of(R"(
    x = input f32[1,16,6,6]
    w1 = constant f32[16,16,1,1] random(seed=1)
    w2 = constant f32[16,16,1,1] random(seed=2)
    a = Conv(x, w1)
    b = Conv(a, w2)
    c = Conv(b, w1)
    output c
)");
  const plan::Launch &a = plan.launches[launch_named(plan, "a")], &b = plan.launches[launch_named(plan, "b")];
  EXPECT_EQ(a.symbol, b.symbol);
  EXPECT_NE(a.operands[1], b.operands[1]) << "each has its own weights";
  EXPECT_EQ(a.operands[1], plan.launches[launch_named(plan, "c")].operands[1]) << "equal weights lie once";
  std::set<std::string> symbols;
  for (const loops::LoopNest& kernel : plan.kernels) EXPECT_TRUE(symbols.insert(kernel.name).second);
}

TEST(Lowering, EveryLaunchNamesAKernelOrARoutine) {
  const Plan plan = plan_of(k_network);
  for (const plan::Launch& launch : plan.launches) {
    const bool kernel = std::any_of(plan.kernels.begin(), plan.kernels.end(),
                                    [&](const auto& k) { return k.name == launch.symbol; });
    EXPECT_EQ(kernel, launch.family != "routine") << launch.symbol;
    EXPECT_EQ(launch.operands.size(), launch.reads.size() + launch.writes.size());
    EXPECT_GE(launch.slices, 1);
    EXPECT_GT(launch.predicted_ns, 0);
    EXPECT_GT(launch.estimate.bytes_written, 0);
  }
  EXPECT_GT(plan.bytes_read(), 0);
  EXPECT_GT(plan.predicted_ns(), 0);
}

TEST(Lowering, WeightsLieOnCacheLinesAndInsideTheImage) {
  const Plan plan = plan_of(k_network);
  int64_t constants = 0;
  for (const plan::Buffer& buffer : plan.buffers) {
    if (buffer.space != BufferSpace::weights) continue;
    ++constants;
    EXPECT_EQ(buffer.offset_bytes % 64, 0) << buffer.name;
    EXPECT_LE(buffer.offset_bytes + buffer.size_bytes, static_cast<int64_t>(plan.weights.size()))
        << buffer.name;
  }
  EXPECT_EQ(constants, 5) << "three filters, one bias, one matrix";
  EXPECT_EQ(plan.weights.size() % 64, 0U);
}

TEST(Lowering, TheSameGraphGivesTheSamePlan) {
  const Plan a = plan_of(k_network), b = plan_of(k_network);
  ASSERT_EQ(a.launches.size(), b.launches.size());
  for (size_t l = 0; l < a.launches.size(); ++l) {
    EXPECT_EQ(a.launches[l].symbol, b.launches[l].symbol);
    EXPECT_EQ(a.launches[l].operands, b.launches[l].operands);
    EXPECT_EQ(a.launches[l].params, b.launches[l].params);
    EXPECT_EQ(a.launches[l].slices, b.launches[l].slices);
  }
  ASSERT_EQ(a.buffers.size(), b.buffers.size());
  for (size_t i = 0; i < a.buffers.size(); ++i)
    EXPECT_EQ(a.buffers[i].offset_bytes, b.buffers[i].offset_bytes);
  ASSERT_EQ(a.kernels.size(), b.kernels.size());
  for (size_t k = 0; k < a.kernels.size(); ++k)
    EXPECT_EQ(loops::print(a.kernels[k]), loops::print(b.kernels[k]));
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.arena_bytes, b.arena_bytes);
}

TEST(Lowering, FusionSavesLaunchesAndBytes) {
  const Plan fused = plan_of(k_network), split = plan_of(k_network, {.joins = false});
  EXPECT_EQ(split.launches.size() - fused.launches.size(), 3U) << "two Relu, one Add";
  EXPECT_LT(fused.bytes_read() + fused.bytes_written(), split.bytes_read() + split.bytes_written());
  EXPECT_LT(fused.predicted_ns(), split.predicted_ns());
  EXPECT_LE(fused.arena_bytes, split.arena_bytes);
}

}  // namespace
}  // namespace onepass::test
