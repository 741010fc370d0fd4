// SPDX-License-Identifier: Apache-2.0
//
// Lifetimes and places: what the planner makes of views, outputs, concats and in-place operands.
#include "plan/memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/support.h"

namespace onepass::test {
namespace {

using plan::Buffer;
using plan::BufferSpace;
using plan::Plan;

Plan chain_of(int launches, int64_t size_bytes) {
  Plan plan;
  for (int32_t l = 0; l < launches; ++l) {
    plan.buffers.push_back({.name = "b",
                            .size_bytes = size_bytes,
                            .first_launch = l,
                            .last_launch = std::min(l + 1, launches - 1)});
    plan.launches.push_back({.name = "l", .writes = {l}});
    if (l > 0) plan.launches.back().reads = {l - 1};
  }
  return plan;
}

TEST(PlanMemory, AChainNeedsTwoBuffers) {
  Plan plan = chain_of(20, 1000);
  plan::plan_memory(plan);
  plan::check_memory(plan);
  EXPECT_EQ(plan.arena_bytes, 2 * 1024);
  for (const Buffer& buffer : plan.buffers) EXPECT_EQ(buffer.offset_bytes % 64, 0);
}

TEST(PlanMemory, ADestinationTakesOverADyingOperand) {
  Plan plan = chain_of(3, 640);
  plan.launches[1].may_take_over = {0};
  plan.launches[2].may_take_over = {1};
  plan::plan_memory(plan);
  plan::check_memory(plan);
  EXPECT_EQ(plan.buffers[1].shares, 0);
  EXPECT_EQ(plan.buffers[2].shares, 1);
  EXPECT_EQ(plan.arena_bytes, 640);
}

TEST(PlanMemory, AnOperandThatIsReadAgainIsNotTakenOver) {
  Plan plan = chain_of(3, 640);
  plan.launches[1].may_take_over = {0};
  plan.launches[2].reads.push_back(0);
  plan.buffers[0].last_launch = 2;
  plan::plan_memory(plan);
  plan::check_memory(plan);
  EXPECT_EQ(plan.buffers[1].shares, -1);
}

TEST(PlanMemory, AnOperandInTwoRolesIsNotTakenOver) {
  Plan plan = chain_of(2, 640);
  plan.launches[1].reads = {0, 0};
  plan.launches[1].may_take_over = {0};
  plan::plan_memory(plan);
  plan::check_memory(plan);
  EXPECT_EQ(plan.buffers[1].shares, -1);
}

TEST(PlanMemory, ASmallBufferFillsAGap) {
  Plan plan;
  plan.buffers = {{.name = "long", .size_bytes = 512, .first_launch = 0, .last_launch = 3},
                  {.name = "early", .size_bytes = 256, .first_launch = 0, .last_launch = 1},
                  {.name = "late", .size_bytes = 192, .first_launch = 2, .last_launch = 3}};
  plan::plan_memory(plan);
  EXPECT_EQ(plan.buffers[2].offset_bytes, plan.buffers[1].offset_bytes);
  EXPECT_EQ(plan.arena_bytes, 768);
}

TEST(Lifetimes, AViewExtendsItsSource) {
  const Plan plan = plan_of(R"(
    x = input f32[2,12]
    w = constant f32[12,12] random(seed=1)
    s = constant i64[2] {4,6}
    a = MatMul(x, w)
    r = Reshape(a, s)
    b = MatMul(x, w)
    t = Transpose(r) {perm=[1,0]}
    output b
    output t
)");
  const Buffer& a = buffer_named(plan, "a");
  EXPECT_EQ(a.last_launch, launch_named(plan, "t"));
  EXPECT_EQ(plan.launches[launch_named(plan, "t")].reads.front(),
            plan.launches[launch_named(plan, "a")].writes.front());
  EXPECT_EQ(plan.launches.size(), 3U) << "a view is no launch";
}

TEST(Lifetimes, AnOutputIsWrittenIntoTheCallersBuffer) {
  const Plan plan = plan_of(R"(
    x = input f32[2,12]
    w = constant f32[12,12] random(seed=1)
    a = MatMul(x, w)
    b = MatMul(a, w)
    output a
    output b
)");
  EXPECT_EQ(buffer_named(plan, "a").space, BufferSpace::output);
  EXPECT_EQ(buffer_named(plan, "b").space, BufferSpace::output);
  EXPECT_EQ(plan.launches.size(), 2U);
  EXPECT_EQ(plan.arena_bytes, 0);
}

TEST(Lifetimes, OneValueAsTwoOutputsAndAnInputAsOutputAreCopied) {
  const Plan plan = plan_of(R"(
    x = input f32[2,12]
    w = constant f32[12,12] random(seed=1)
    a = MatMul(x, w)
    output first = a
    output second = a
    output third = x
)");
  EXPECT_EQ(plan.launches.size(), 3U);
  EXPECT_EQ(destination(plan, "output 'second'").index, 1);
  EXPECT_EQ(destination(plan, "output 'third'").index, 2);
  EXPECT_EQ(plan.buffers[plan.launches[launch_named(plan, "output 'third'")].reads.front()].space,
            BufferSpace::input);
}

TEST(Lifetimes, AViewThatIsAnOutputLiesInItsSource) {
  const Plan plan = plan_of(R"(
    x = input f32[2,12]
    w = constant f32[12,12] random(seed=1)
    s = constant i64[2] {4,6}
    a = MatMul(x, w)
    r = Reshape(a, s)
    output r
)");
  EXPECT_EQ(plan.launches.size(), 1U);
  EXPECT_EQ(destination(plan, "a").space, BufferSpace::output);
}

TEST(Lifetimes, AConcatLivesFromItsFirstSliceToItsLastReader) {
  const Plan plan = plan_of(R"(
    x = input f32[1,16,6,6]
    w = constant f32[16,16,3,3] random(seed=1)
    v = constant f32[8,32,1,1] random(seed=2)
    a = Conv(x, w)
    b = Conv(x, w) {dilations=[2,2], pads=[1,1,1,1]}
    c = Concat(a, b) {axis=1}
    y = Conv(c, v)
    output y
)",
                            {.concat_slices = false});
  const Buffer& whole = buffer_named(plan, "c blocked");
  EXPECT_EQ(whole.first_launch, launch_named(plan, "c [0]"));
  EXPECT_EQ(whole.last_launch, launch_named(plan, "y"));
  const Buffer& second = buffer_named(plan, "b blocked");
  EXPECT_EQ(second.last_launch, launch_named(plan, "c [1]"));
  EXPECT_GE(second.last_launch, whole.first_launch);
  EXPECT_TRUE(second.offset_bytes + second.size_bytes <= whole.offset_bytes ||
              whole.offset_bytes + whole.size_bytes <= second.offset_bytes);
}

// ---- in place: only where the operand's last reader is the step that reads it and nothing else reads it
// there

TEST(InPlace, AResidualOperandThatDiesInTheAddIsTakenOver) {
  const Plan plan = plan_of(R"(
    x = input f32[1,16,6,6]
    w = constant f32[16,16,1,1] random(seed=1)
    r = Conv(x, w)
    t = Conv(r, w)
    c = Conv(t, w)
    y = Add(c, r)
    z = Conv(y, w)
    output z
)");
  const Buffer& sum = destination(plan, "c + y");
  ASSERT_GE(sum.shares, 0);
  EXPECT_EQ(plan.buffers[sum.shares].name, "r blocked");
  EXPECT_EQ(sum.offset_bytes, buffer_named(plan, "r blocked").offset_bytes);
}

TEST(InPlace, B025NeitherConstantsNorInputsAreTakenOver) {
  const char* const statements = R"(
    x = input f32[1,16,6,6]
    w = constant f32[16,16,1,1] random(seed=1)
    {}
    c = Conv(x, w)
    y = Add(c, s)
    z = Conv(y, w)
    output z
)";
  for (const std::string operand : {"s = constant f32[1,16,6,6] random(seed=2)", "s = input f32[1,16,6,6]"}) {
    std::string text = statements;
    text.replace(text.find("{}"), 2, operand);
    const Plan plan = plan_of(text);
    const Buffer& sum = destination(plan, "c + y");
    // An input is converted first: that copy may be taken over, the input itself never.
    if (sum.shares >= 0) EXPECT_EQ(plan.buffers[sum.shares].space, BufferSpace::arena) << operand;
    for (const plan::Launch& launch : plan.launches)
      for (const int32_t written : launch.writes)
        EXPECT_NE(plan.buffers[written].space, BufferSpace::weights);
  }
}

TEST(InPlace, B026NotWhereTheOperandIsReadLater) {
  const Plan plan = plan_of(R"(
    x = input f32[1,16,6,6]
    w = constant f32[16,16,1,1] random(seed=1)
    r = Conv(x, w)
    t = Conv(r, w)
    c = Conv(t, w)
    y = Add(c, r)
    z = Conv(y, w)
    u = Conv(r, w) {strides=[2,2]}
    output z
    output u
)");
  ASSERT_GT(buffer_named(plan, "r blocked").last_launch, launch_named(plan, "c + y"));
  EXPECT_EQ(destination(plan, "c + y").shares, -1);
}

TEST(InPlace, B028NotWhereTheOperandLiesUnderAnotherHalo) {
  const Plan plan = plan_of(R"(
    x = input f32[1,16,6,6]
    w = constant f32[16,16,1,1] random(seed=1)
    v = constant f32[16,16,3,3] random(seed=2)
    r = Conv(x, w)
    t = Conv(r, v) {pads=[1,1,1,1]}
    c = Conv(t, w)
    y = Add(c, r)
    z = Conv(y, w)
    output z
)");
  EXPECT_FALSE(buffer_named(plan, "r blocked").map->halo.empty());
  EXPECT_TRUE(destination(plan, "c + y").map->halo.empty());
  EXPECT_EQ(destination(plan, "c + y").shares, -1);
}

TEST(InPlace, B029NotWhereTheOperandIsTheConvolutionsOwnInput) {
  const Plan plan = plan_of(R"(
    x = input f32[1,16,6,6]
    w = constant f32[16,16,1,1] random(seed=1)
    r = Conv(x, w)
    c = Conv(r, w)
    y = Add(c, r)
    z = Conv(y, w)
    output z
)");
  const plan::Launch& joined = plan.launches[launch_named(plan, "c + y")];
  EXPECT_EQ(
      std::count(joined.reads.begin(), joined.reads.end(), plan.launches[launch_named(plan, "r")].writes[0]),
      2);
  EXPECT_EQ(destination(plan, "c + y").shares, -1);
}

TEST(InPlace, AnElementwiseKernelTakesOverItsSource) {
  const Plan plan = plan_of(R"(
    x = input f32[1,16,6,6]
    w = constant f32[16,16,1,1] random(seed=1)
    r = Conv(x, w)
    y = Relu(r)
    z = Conv(y, w)
    output z
)",
                            {.joins = false});
  EXPECT_EQ(plan.buffers[destination(plan, "y").shares].name, "r blocked");
}

}  // namespace
}  // namespace onepass::test
