// SPDX-License-Identifier: Apache-2.0
//
// What concat_slices leaves a copy: a test for each condition, named after it. The results stay the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/placement_support.h"

namespace onepass::test {
namespace {

using plan::Buffer;
using plan::Plan;

TEST(ConcatSlices, C1ASliceThatEndsInsideABlockIsNotPlaced) {
  const char* const statements = R"(
    u = constant f32[12,32,1,1] random(seed=11)
    o = constant f32[16,44,1,1] random(seed=12)
    a = Conv(x, u)
    b = Conv(x, w1)
    c = Concat(a, b) {axis=1}
    y = Conv(c, o)
    z = Conv(b, w1)
    output y
    output z
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(refused(plan, "C1"), 1);
  EXPECT_THAT(plan.placements[0].reason, testing::HasSubstr("'a'"));
  EXPECT_EQ(plan.placements[0].nodes.back(), "c");
  for (const Buffer& buffer : plan.buffers)
    if (buffer.map) EXPECT_EQ(buffer.inside, -1) << buffer.name;
}

TEST(ConcatSlices, C1WhatFillsBlocksOf8MayNotFillThoseOf16) {
  const char* const statements = R"(
    u = constant f32[24,32,1,1] random(seed=11)
    o = constant f32[16,56,1,1] random(seed=12)
    a = Conv(x, u)
    b = Conv(x, w1)
    c = Concat(a, b) {axis=1}
    y = Conv(c, o)
    z = Conv(b, w1)
    output y
    output z
)";
  EXPECT_EQ(refused(placed_plan(statements, "x86-64-v3"), "C1"), 0);
  EXPECT_EQ(refused(placed_plan(statements, "x86-64-v4"), "C1"), 1);
}

TEST(ConcatSlices, C2SeveralPicturesAreCopied) {
  const char* const statements = R"(
    x = input f32[2,32,9,9]
    w1 = constant f32[32,32,1,1] random(seed=1)
    v = constant f32[16,64,1,1] random(seed=3)
    s = constant i64[2] {16,16}
    a = Conv(x, w1)
    b = Conv(a, w1)
    c = Concat(a, b) {axis=1}
    y = Conv(c, v)
    p, q = Split(b, s) {axis=1}
    z = Add(p, q)
    output y
    output z
)";
  const Plan plan = plan_of(statements);
  EXPECT_EQ(refused(plan, "C2"), 2);
  EXPECT_EQ(copies(plan), 4);
  expect_same_results(statements);
}

TEST(ConcatSlices, C3AConstantIsCopied) {
  const char* const statements = R"(
    k = constant f32[1,32,9,9] random(seed=11)
    a = Conv(x, w1)
    c = Concat(a, k) {axis=1}
    y = Conv(c, v)
    output y
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(refused(plan, "C3"), 1);
  EXPECT_EQ(copies(plan), 1);
  EXPECT_EQ(distance(plan, "a blocked", "c blocked"), 0);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, C4OnePixelThatIsComputedPlainIsCopied) {
  const char* const statements = R"(
    f = input f32[1,32,1,1]
    g = GlobalAveragePool(x)
    a = Conv(g, w1)
    c = Concat(a, f) {axis=1}
    y = Conv(c, v)
    output y
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(refused(plan, "C4"), 1);
  EXPECT_EQ(copies(plan), 1);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, C5AnOperandThatStandsTwiceIsCopiedOnce) {
  const char* const statements = R"(
    a = Conv(x, w1)
    c = Concat(a, a) {axis=1}
    y = Conv(c, v)
    output y
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(refused(plan, "C5"), 1);
  EXPECT_EQ(copies(plan), 1);
  EXPECT_EQ(plan.placements.size(), 2U);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, C5AnotherOrderOfTheSameMapsIsCopied) {
  const char* const statements = R"(
    a = Conv(x, w1)
    b = Conv(x, w3) {pads=[1,1,1,1]}
    c = Concat(a, b) {axis=1}
    d = Concat(b, a) {axis=1}
    y = Conv(c, v)
    z = Conv(d, v)
    output y
    output z
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(refused(plan, "C5"), 1) << "d starts with b where that lies, and a is copied behind it";
  EXPECT_EQ(copies(plan), 1);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, C6NothingIsPlacedWhereAnotherMapLies) {
  const char* const statements = R"(
    a = Conv(x, w1)
    b = Conv(x, w3) {pads=[1,1,1,1]}
    d = Conv(b, w1)
    c = Concat(a, b) {axis=1}
    e = Concat(a, d) {axis=1}
    y = Conv(c, v)
    z = Conv(e, v)
    output y
    output z
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(refused(plan, "C6"), 1) << "behind a lies b";
  EXPECT_EQ(copies(plan), 1);
  EXPECT_EQ(distance(plan, "a blocked", "c blocked"), 0);
  EXPECT_EQ(distance(plan, "d blocked", "e blocked"), 4 * block_bytes(plan, "e blocked"));
  EXPECT_NE(buffer_named(plan, "c blocked").inside, buffer_named(plan, "e blocked").inside);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, C6AHalfThatChangesCannotBeJoinedInItsPlace) {
  const char* const statements = R"(
    s = constant i64[2] {16,16}
    u = constant f32[16,16,1,1] random(seed=11)
    e = Conv(x, w1)
    p, q = Split(e, s) {axis=1}
    m = Conv(q, u)
    c = Concat(p, m) {axis=1}
    y = Conv(c, w1)
    output y
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(refused(plan, "C6"), 1);
  EXPECT_EQ(copies(plan), 1);
  expect_same_results(k_placement_weights + std::string(statements));
}

TEST(ConcatSlices, OverlappingWindowsOfThreeMapsShareOneBuffer) {
  const char* const statements = R"(
    a = Conv(x, w1)
    b = Conv(x, w3) {pads=[1,1,1,1]}
    d = Conv(b, w1)
    c = Concat(a, b) {axis=1}
    e = Concat(b, d) {axis=1}
    y = Conv(c, v)
    z = Conv(e, v)
    output y
    output z
)";
  const Plan plan = placed_plan(statements);
  EXPECT_EQ(copies(plan), 0);
  EXPECT_EQ(distance(plan, "e blocked", "c blocked"), 4 * block_bytes(plan, "c blocked"));
  EXPECT_EQ(buffer_named(plan, "slices of 'c'").size_bytes, 12 * block_bytes(plan, "c blocked"));
  expect_same_results(k_placement_weights + std::string(statements));
}

/// A reader with wide padding: its halo around everything would be many times the maps.
TEST(ConcatSlices, C7AHaloThatCostsMoreThanTheCopyIsNotShared) {
  const char* const statements = R"(
    x = input f32[1,16,24,24]
    w = constant f32[16,16,1,1] random(seed=1)
    w3 = constant f32[16,16,3,3] random(seed=2)
    v = constant f32[16,32,1,1] random(seed=3)
    a = Conv(x, w)
    b = Relu(a)
    t = Conv(b, w3) {pads=[48,48,48,48], dilations=[48,48]}
    d = Conv(x, w)
    c = Concat(d, b) {axis=1}
    y = Conv(c, v)
    output y
    output t
)";
  const Plan plan = plan_of(statements);
  EXPECT_EQ(refused(plan, "C7"), 1);
  EXPECT_EQ(copies(plan), 1);
  EXPECT_TRUE(buffer_named(plan, "c blocked").map->halo.empty());
  EXPECT_EQ(buffer_named(plan, "b blocked").map->halo.top, 48);
  EXPECT_EQ(buffer_named(plan, "b blocked").inside, -1);
  expect_same_results(statements);
}

}  // namespace
}  // namespace onepass::test
