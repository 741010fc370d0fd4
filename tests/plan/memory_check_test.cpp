// SPDX-License-Identifier: Apache-2.0
//
// The checker refuses every plan that would compute with the wrong bytes, and names launch and buffer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/memory.h"

namespace onepass::test {
namespace {

using plan::Buffer;
using plan::BufferSpace;
using plan::Plan;

constexpr int32_t k_x = 0, k_w = 1, k_a = 2, k_b = 3, k_y = 4;  // buffers of `sound`

plan::Launch launch(const char* name, std::vector<int32_t> reads, std::vector<int32_t> writes) {
  return {.name = name, .reads = std::move(reads), .writes = std::move(writes)};
}

/// x, w -> a; x -> b; a, b -> y
Plan sound() {
  Plan plan;
  plan.weights.resize(256);
  plan.arena_bytes = 512;
  plan.buffers = {{.name = "x", .space = BufferSpace::input, .size_bytes = 256},
                  {.name = "w", .space = BufferSpace::weights, .size_bytes = 256, .offset_bytes = 0},
                  {.name = "a", .size_bytes = 256, .offset_bytes = 0},
                  {.name = "b", .size_bytes = 256, .offset_bytes = 256},
                  {.name = "y", .space = BufferSpace::output, .size_bytes = 256}};
  plan.launches = {launch("first", {k_x, k_w}, {k_a}), launch("second", {k_x}, {k_b}),
                   launch("third", {k_a, k_b}, {k_y})};
  return plan;
}

void expect_refusal(const Plan& plan, const std::string& launch_name, const std::string& buffer,
                    const std::string& what) {
  try {
    plan::check_memory(plan);
    ADD_FAILURE() << "accepted: " << what;
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("launch '" + launch_name + "': buffer '" + buffer + "' " + what));
  }
}

TEST(MemoryCheck, AcceptsASoundPlan) {
  EXPECT_NO_THROW(plan::check_memory(sound()));
}

TEST(MemoryCheck, RefusesLiveBuffersThatOverlap) {
  Plan plan = sound();
  plan.buffers[k_b].offset_bytes = 0;
  expect_refusal(plan, "third", "a", "is read but does not hold its value");
}

TEST(MemoryCheck, RefusesLiveBuffersThatOverlapInPart) {
  Plan plan = sound();
  plan.buffers[k_b].offset_bytes = 192;
  expect_refusal(plan, "third", "a", "is read but does not hold its value");
}

TEST(MemoryCheck, RefusesALaterWriteThatEndsInsideALiveBuffer) {
  Plan plan = sound();
  plan.arena_bytes = 576;
  plan.buffers[k_a].offset_bytes = 192;
  plan.buffers[k_b].offset_bytes = 0;
  expect_refusal(plan, "third", "a", "is read but does not hold its value");
}

TEST(MemoryCheck, RefusesAReadBeforeTheWrite) {
  Plan plan = sound();
  std::swap(plan.launches[1], plan.launches[2]);
  expect_refusal(plan, "third", "b", "is read but does not hold its value");
}

TEST(MemoryCheck, RefusesAnOutputThatIsReadBeforeItIsWritten) {
  Plan plan = sound();
  plan.launches[0].reads.push_back(k_y);
  expect_refusal(plan, "first", "y", "is read before it is written");
}

TEST(MemoryCheck, RefusesAWrittenInput) {
  Plan plan = sound();
  plan.launches[1].writes = {k_x};
  expect_refusal(plan, "second", "x", "is written");
}

TEST(MemoryCheck, RefusesAWrittenConstant) {
  Plan plan = sound();
  plan.launches[1].writes = {k_w};
  expect_refusal(plan, "second", "w", "is written");
}

TEST(MemoryCheck, RefusesADestinationBeyondTheArena) {
  Plan plan = sound();
  plan.arena_bytes = 511;
  expect_refusal(plan, "second", "b", "leaves the arena");
}

TEST(MemoryCheck, RefusesAConstantBeyondTheWeights) {
  Plan plan = sound();
  plan.buffers[k_w].offset_bytes = 64;
  expect_refusal(plan, "first", "w", "leaves the weights");
}

TEST(MemoryCheck, RefusesABufferWithoutAPlace) {
  Plan plan = sound();
  plan.buffers[k_b].offset_bytes = -1;
  expect_refusal(plan, "second", "b", "has no place");
}

TEST(MemoryCheck, RefusesDestinationsOfOneLaunchThatOverlap) {
  Plan plan = sound();
  plan.launches[1].writes = {k_b, k_a};
  plan.buffers[k_b].offset_bytes = 128;
  expect_refusal(plan, "second", "b", "overlaps another destination");
}

/// x -> a; a -> b in place; b -> y
Plan in_place() {
  Plan plan = sound();
  plan.launches = {launch("first", {k_x, k_w}, {k_a}), launch("second", {k_a}, {k_b}),
                   launch("third", {k_b}, {k_y})};
  plan.launches[1].may_take_over = {k_a};
  plan.buffers[k_b].offset_bytes = 0;
  plan.buffers[k_b].shares = k_a;
  return plan;
}

TEST(MemoryCheck, AcceptsADestinationInPlaceOfADyingOperand) {
  EXPECT_NO_THROW(plan::check_memory(in_place()));
}

TEST(MemoryCheck, RefusesADestinationOverAnOperandThatItDoesNotShare) {
  Plan plan = in_place();
  plan.buffers[k_b].shares = -1;
  expect_refusal(plan, "second", "b", "overlaps what the launch reads");
}

TEST(MemoryCheck, RefusesADestinationInPlaceButShifted) {
  Plan plan = in_place();
  plan.buffers[k_b].offset_bytes = 64;
  expect_refusal(plan, "second", "b", "overlaps what the launch reads");
}

TEST(MemoryCheck, RefusesInPlaceWithAnotherReader) {
  Plan plan = in_place();
  plan.launches[2].reads = {k_a, k_b};
  expect_refusal(plan, "third", "a", "is read but does not hold its value");
}

TEST(MemoryCheck, RefusesInPlaceOfAnOperandThatTheLaunchMayNotTakeOver) {
  Plan plan = in_place();
  plan.launches[1].may_take_over.clear();
  expect_refusal(plan, "second", "b", "overlaps what the launch reads");
}

TEST(MemoryCheck, RefusesInPlaceOfAnOperandInTwoRoles) {
  Plan plan = in_place();
  plan.launches[1].reads = {k_a, k_a};
  expect_refusal(plan, "second", "b", "overlaps what the launch reads");
}

TEST(MemoryCheck, RefusesACountThatALaterLaunchOverwrites) {
  Plan plan = sound();
  plan.buffers.push_back({.name = "count", .size_bytes = 8, .offset_bytes = 256});
  plan.launches[0].writes.push_back(5);
  plan.counts = {{.output = 0, .buffer = 5}};
  try {
    plan::check_memory(plan);
    ADD_FAILURE() << "accepted";
  } catch (const InternalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("count"));
    EXPECT_THAT(error.what(), testing::HasSubstr("output 0"));
  }
}

}  // namespace
}  // namespace onepass::test
