// SPDX-License-Identifier: Apache-2.0
//
// Which launches run in stripes: a test for each condition of plan/stripes.h, named after it.
#include "plan/stripes.h"

#include <gtest/gtest.h>

#include "plan/stripe_schedule.h"
#include "plan/support.h"

namespace onepass::test {
namespace {

using plan::Launch;
using plan::Plan;

constexpr const char* k_weights = R"(
    x = input f32[1,16,32,32]
    w = constant f32[32,16,1,1] random(seed=1)
    d = constant f32[32,1,3,3] random(seed=2)
    v = constant f32[16,32,1,1] random(seed=3)
    big = constant f32[256,32,3,3] random(seed=4)
)";

/// Maps of 64 and 128 KiB meet an L2 of 128 KiB.
targets::Target small_l2() {
  targets::Target target = targets::find("x86-64-v4");
  target.l2_bytes = 128 << 10;
  return target;
}

/// The names of the launches that run in stripes, joined with "|".
std::string striped(const std::string& statements, const targets::Target& target = small_l2()) {
  const Plan plan = plan::make_plan(typed_graph(k_weights + statements), target, {});
  std::string names;
  for (const Launch& launch : plan.launches)
    if (!launch.members.empty()) names += (names.empty() ? "" : "|") + launch.name;
  return names;
}

TEST(Stripes, LaunchesOverLargeMapsRunInTurn) {
  EXPECT_EQ(striped(R"(
    a = Conv(x, w)
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    c = Conv(b, v)
    output c)"),
            "a + b + c");
}

TEST(Stripes, MapsBetweenMembersTakeNoArena) {
  const targets::Target target = small_l2();
  const Plan plan = plan::make_plan(typed_graph(std::string(k_weights) + R"(
    a = Conv(x, w)
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    c = Conv(b, v)
    output c)"),
                                    target, {});
  const auto launch = std::find_if(plan.launches.begin(), plan.launches.end(),
                                   [](const Launch& l) { return !l.members.empty(); });
  ASSERT_NE(launch, plan.launches.end());
  EXPECT_EQ(launch->symbol, "onepass_stripes");
  EXPECT_EQ(launch->stripes.members.size(), 3u);
  EXPECT_LT(buffer_named(plan, "a blocked").offset_bytes, 0);
  EXPECT_LT(buffer_named(plan, "b blocked").offset_bytes, 0);
  EXPECT_GE(plan.scratch_bytes, launch->stripes.held_bytes);
  EXPECT_LE(launch->stripes.held_bytes, target.l2_bytes / 2);
}

TEST(Stripes, S1_BatchesStay) {
  EXPECT_EQ(striped(R"(
    y = input f32[2,16,32,32]
    a = Conv(y, w)
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    output b)"),
            "");
}

TEST(Stripes, S2_AStrangersSourceEndsTheRun) {
  EXPECT_EQ(striped(R"(
    y = input f32[1,32,32,32]
    a = Conv(x, w)
    b = Conv(y, d) {pads=[1,1,1,1], group=32}
    c = Mul(a, b)
    output c)"),
            "");
}

TEST(Stripes, S3_AnOperandOfTheRunEndsIt) {
  targets::Target target = small_l2();
  target.l2_bytes = 192 << 10;
  EXPECT_EQ(striped(R"(
    y = input f32[1,32,32,32]
    a = Conv(y, d) {pads=[1,1,1,1], group=32}
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    e = Conv(b, d) {pads=[1,1,1,1], group=32}
    s = Add(e, a)
    output s)",
                    target),
            "b + e + s");
}

TEST(Stripes, S4_SmallMapsStay) {
  EXPECT_EQ(striped(R"(
    y = input f32[1,16,8,8]
    a = Conv(y, w)
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    output b)"),
            "");
}

TEST(Stripes, S5_HeavyWeightsStay) {
  EXPECT_EQ(striped(R"(
    a = Conv(x, w)
    b = Conv(a, big) {pads=[1,1,1,1]}
    output b)"),
            "");
}

TEST(Stripes, S6_ASecondReaderKeepsTheMap) {
  EXPECT_EQ(striped(R"(
    a = Conv(x, w)
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    g = GlobalAveragePool(a)
    output b
    output g)"),
            "");
}

TEST(Stripes, S6_AnOutputKeepsTheMap) {
  EXPECT_EQ(striped(R"(
    a = Conv(x, w)
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    output b
    output a)"),
            "");
}

TEST(Stripes, S7_WhatFitsL2Stays) {
  targets::Target target = small_l2();
  target.l2_bytes = 1 << 20;
  EXPECT_EQ(striped(R"(
    a = Conv(x, w)
    b = Conv(a, d) {pads=[1,1,1,1], group=32}
    output b)",
                    target),
            "");
}

// ---- the schedule
// ------------------------------------------------------------------------------------------

kernels::RowSlices rows(int64_t count, int64_t stride, int64_t before, int64_t extent) {
  kernels::RowSlices slices{.groups = {}, .stride = stride, .before = before, .extent = extent};
  for (int64_t y = 0; y < count; ++y) slices.groups.push_back({y, y + 1, y + 1});
  return slices;
}

TEST(StripeSchedule, AWindowNeedsItsRowsAndKeepsThoseOfTheNextStripe) {
  const kernels::FeatureMap src = kernels::blocked_map(1, 16, 8, 4, 16, {1, 1, 1, 1}),
                            dst = kernels::blocked_map(1, 16, 8, 4, 16);
  const std::vector<plan::StripeTable> tables =
      plan::schedule({{rows(8, 1, 0, 1), src}, {rows(8, 1, 1, 3), dst}}, {{1, 0}}, 3);
  EXPECT_EQ(tables[1].since, (std::vector<int32_t>{0, 3, 6}));
  EXPECT_EQ(tables[1].until, (std::vector<int32_t>{3, 6, 8}));
  EXPECT_EQ(tables[0].since, (std::vector<int32_t>{0, 2, 5}));
  EXPECT_EQ(tables[0].until, (std::vector<int32_t>{4, 7, 8}));
  EXPECT_EQ(tables[0].first_row, (std::vector<int32_t>{0, 3, 6}));  // the row above the map comes first
  EXPECT_EQ(tables[0].end_row, (std::vector<int32_t>{5, 8, 10}));   // the last has the row below it
  EXPECT_EQ(tables[0].most_rows(), 5);
}

TEST(StripeSchedule, AStrideReadsTwiceTheRows) {
  const kernels::FeatureMap src = kernels::blocked_map(1, 16, 8, 4, 16),
                            dst = kernels::blocked_map(1, 16, 4, 2, 16);
  const std::vector<plan::StripeTable> tables =
      plan::schedule({{rows(8, 1, 0, 1), src}, {rows(4, 2, 0, 2), dst}}, {{1, 0}}, 2);
  EXPECT_EQ(tables[0].since, (std::vector<int32_t>{0, 4}));
  EXPECT_EQ(tables[0].until, (std::vector<int32_t>{4, 8}));
}

TEST(StripeSchedule, GroupsThatShareARowAreBothNeeded) {
  const kernels::FeatureMap map = kernels::blocked_map(1, 16, 8, 4, 16);
  kernels::RowSlices tiles{.groups = {{0, 4, 0}, {0, 8, 4}, {4, 8, 8}}};
  const std::vector<plan::StripeTable> tables =
      plan::schedule({{tiles, map}, {rows(8, 1, 0, 1), map}}, {{1, 0}}, 4);
  EXPECT_EQ(tables[0].since, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(tables[0].until, (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(tables[0].first_row, (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(tables[0].most_rows(), 8);
}

}  // namespace
}  // namespace onepass::test
