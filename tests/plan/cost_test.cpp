// SPDX-License-Identifier: Apache-2.0
#include "plan/cost.h"

#include <gtest/gtest.h>

namespace onepass::test {
namespace {

targets::Target machine() {
  targets::Target target = targets::find("x86-64-v4");
  target.l2_bytes = 2 << 20;
  target.l3_bytes = 32 << 20;
  target.flops_per_cycle = 64;
  target.clock_ghz = 4;
  target.l2_bytes_per_ns = 180;
  target.l3_bytes_per_ns = 30;
  target.memory_bytes_per_ns = 15;
  target.launch_ns = 10;
  return target;
}

kernels::Estimate convolution() {
  kernels::Estimate e;
  e.flops = e.executed_flops = 1e8;
  e.efficiency = 0.9;
  e.bytes_read = e.bytes_written = 400000;
  return e;
}

double ns(const kernels::Estimate& e) {
  return plan::predict_ns(e, machine());
}

}  // namespace

TEST(Cost, ComputeCountsAtThePeakOfTheTile) {
  const double peak_ns = 1e8 / (64 * 4);
  EXPECT_GT(ns(convolution()), peak_ns / 0.9);
  EXPECT_LT(ns(convolution()), peak_ns * 1.5);
  kernels::Estimate slow = convolution();
  slow.efficiency = 0.3;
  EXPECT_GT(ns(slow), 2 * ns(convolution()));
}

TEST(Cost, AFasterMachineIsFaster) {
  targets::Target fast = machine();
  fast.clock_ghz *= 2;
  EXPECT_NEAR(plan::predict_ns(convolution(), fast) / ns(convolution()), 0.5, 0.05);
}

TEST(Cost, WeightsStreamFromMemoryBesideTheArithmetic) {
  kernels::Estimate heavy = convolution();
  heavy.weight_bytes = 3000000;
  EXPECT_NEAR(ns(heavy) - ns(convolution()), 3000000 / 15.0, 1);
}

TEST(Cost, StepsCostMoreThanTheirFlopsInTiles) {
  kernels::Estimate activated = convolution();
  activated.executed_flops += 1e7;
  const double in_tiles = ns(activated);
  activated.pointwise_flops = 1e7;
  EXPECT_GT(ns(activated), in_tiles);
}

TEST(Cost, MapsCountByTheCacheThatHoldsThem) {
  const auto bytes_per_ns = [](int64_t bytes) {
    kernels::Estimate copy;
    copy.bytes_read = copy.bytes_written = bytes / 2;
    kernels::Estimate nothing;
    return static_cast<double>(bytes) / (ns(copy) - ns(nothing));
  };
  EXPECT_NEAR(bytes_per_ns(100 << 20), 15, 0.1);
  EXPECT_NEAR(bytes_per_ns(20 << 20), 30, 0.1);
  EXPECT_GT(bytes_per_ns(1 << 20), 60);
}

TEST(Cost, AStepInsideAKernelSavesThePassAndTheLaunch) {
  for (const int64_t elems : {1LL, 1000LL, 1000000LL, 100000000LL})
    for (const int operands : {0, 1})
      for (const double flops : {1.0, 20.0}) {
        const double joined = plan::joined_step_ns(elems, operands, flops, machine());
        EXPECT_LT(joined, plan::separate_pass_ns(elems, operands, flops, machine())) << elems;
        EXPECT_GT(joined, 0);
      }
}

}  // namespace onepass::test
