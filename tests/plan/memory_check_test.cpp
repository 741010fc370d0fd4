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
  expect_refusal(plan, "first", "y", "is read but does not hold its value");
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

// ---- buffers inside others: `whole` is made of left and right, `window` of the end of right

constexpr int32_t k_outer = 5, k_left = 6, k_right = 7, k_whole = 8, k_window = 9;

/// x -> left; x -> right; whole -> a; window, a -> y
Plan placed() {
  Plan plan = sound();
  plan.arena_bytes = 768;
  plan.buffers[k_a].offset_bytes = 512;
  const auto inside = [](const char* name, int64_t size_bytes, int64_t at_bytes) {
    return Buffer{.name = name,
                  .size_bytes = size_bytes,
                  .offset_bytes = at_bytes,
                  .inside = k_outer,
                  .inside_bytes = at_bytes};
  };
  plan.buffers.push_back({.name = "outer", .size_bytes = 512, .offset_bytes = 0});
  plan.buffers.push_back(inside("left", 192, 0));
  plan.buffers.push_back(inside("right", 320, 192));
  plan.buffers.push_back(inside("whole", 512, 0));
  plan.buffers.push_back(inside("window", 128, 384));
  plan.buffers[k_whole].parts = {{k_left, 0, 0, 192}, {k_right, 192, 0, 320}};
  plan.buffers[k_window].parts = {{k_right, 0, 192, 128}};
  plan.launches = {launch("first", {k_x}, {k_left}), launch("second", {k_x}, {k_right}),
                   launch("third", {k_whole}, {k_a}), launch("fourth", {k_window, k_a}, {k_y})};
  return plan;
}

TEST(MemoryCheckParts, AcceptsSlicesOfOneBuffer) {
  EXPECT_NO_THROW(plan::check_memory(placed()));
}

TEST(MemoryCheckParts, AcceptsASliceThatIsReadWhileItsNeighbourIsWritten) {
  Plan plan = placed();
  plan.launches[1].reads = {k_left};
  EXPECT_NO_THROW(plan::check_memory(plan));
}

TEST(MemoryCheckParts, AcceptsAWindowOfAMapOfWhichTheRestIsOverwritten) {
  Plan plan = placed();
  plan.buffers[k_b].offset_bytes = 0;  // [0, 256): left, and the first 64 bytes of right
  plan.launches.insert(plan.launches.begin() + 3, launch("between", {k_x}, {k_b}));
  EXPECT_NO_THROW(plan::check_memory(plan));
}

TEST(MemoryCheckParts, RefusesSlicesThatOverlap) {
  Plan plan = placed();
  plan.buffers[k_right].offset_bytes = plan.buffers[k_right].inside_bytes = 128;
  expect_refusal(plan, "third", "whole", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesASliceThatIsNotWritten) {
  Plan plan = placed();
  plan.launches.erase(plan.launches.begin() + 1);
  expect_refusal(plan, "third", "whole", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesABufferOverASliceThatIsStillRead) {
  Plan plan = placed();
  plan.buffers[k_b].offset_bytes = 256;
  plan.launches.insert(plan.launches.begin() + 2, launch("between", {k_x}, {k_b}));
  expect_refusal(plan, "third", "whole", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesABufferOverAWindowThatIsStillRead) {
  Plan plan = placed();
  plan.buffers[k_b].offset_bytes = 256;
  plan.launches.insert(plan.launches.begin() + 3, launch("between", {k_x}, {k_b}));
  expect_refusal(plan, "fourth", "window", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesAWindowOfOtherBytes) {
  Plan plan = placed();
  plan.buffers[k_window].parts[0].from_bytes = 128;
  expect_refusal(plan, "fourth", "window", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesADestinationOverASliceThatTheLaunchReads) {
  Plan plan = placed();
  plan.launches[2].writes = {k_right};
  expect_refusal(plan, "third", "right", "overlaps what the launch reads");
}

TEST(MemoryCheckParts, RefusesAWholeThatALaunchWrites) {
  Plan plan = placed();
  plan.launches[1].writes = {k_whole};
  expect_refusal(plan, "second", "whole", "is written, but made of others");
}

/// The same, but that all lies in output 0; "window" is not read.
Plan placed_in_output() {
  Plan plan = placed();
  for (const int32_t buffer : {k_left, k_right, k_whole, plan.buffers[k_left].inside}) {
    plan.buffers[buffer].space = BufferSpace::output;
    plan.buffers[buffer].offset_bytes = plan.buffers[buffer].inside_bytes;
  }
  plan.buffers[k_y].index = 1;
  plan.launches.pop_back();
  plan.launches.push_back(launch("fourth", {k_a}, {k_y}));
  plan.outputs = {k_whole, k_y};
  return plan;
}

TEST(MemoryCheckParts, AcceptsAnOutputThatIsMadeOfParts) {
  EXPECT_NO_THROW(plan::check_memory(placed_in_output()));
}

TEST(MemoryCheckParts, RefusesAnOutputOfWhichAPartIsNotWritten) {
  Plan plan = placed_in_output();
  plan.launches.erase(plan.launches.begin() + 1, plan.launches.begin() + 3);
  plan.launches.insert(plan.launches.begin() + 1, launch("second", {k_x}, {k_a}));
  expect_refusal(plan, "the end of the run", "whole", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesAnOutputOfWhichAPartIsOverwritten) {
  Plan plan = placed_in_output();
  plan.buffers[k_right].offset_bytes = plan.buffers[k_right].inside_bytes = 128;
  expect_refusal(plan, "third", "whole", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesAPartOfAnotherOutput) {
  Plan plan = placed_in_output();
  plan.buffers[k_right].index = 1;
  expect_refusal(plan, "second", "right", "leaves the buffer that it lies in");
}

TEST(MemoryCheckParts, ALaunchMayWriteOverTheOperandInWhosePlaceItLies) {
  Plan plan = placed_in_output();
  Buffer over = plan.buffers[k_right];
  over.name = "over";
  over.shares = k_right;
  const auto number = static_cast<int32_t>(plan.buffers.size());
  plan.buffers.push_back(over);
  plan.buffers[k_whole].parts[1].buffer = number;
  plan.launches.insert(plan.launches.begin() + 2, launch("between", {k_right, k_x}, {number}));
  expect_refusal(plan, "between", "over", "overlaps what the launch reads");
  plan.launches[2].may_take_over = {k_right};
  EXPECT_NO_THROW(plan::check_memory(plan));
  plan.launches.push_back(launch("fifth", {k_right}, {k_y}));
  expect_refusal(plan, "fifth", "right", "is read but does not hold its value");
}

TEST(MemoryCheckParts, RefusesPartsWithAGapAndPartsThatEndEarly) {
  Plan plan = placed();
  plan.buffers[k_whole].parts[1].at_bytes = 256;
  expect_refusal(plan, "third", "whole", "is not covered by its parts");
  plan = placed();
  plan.buffers[k_whole].parts.pop_back();
  expect_refusal(plan, "third", "whole", "is not covered by its parts");
}

TEST(MemoryCheckParts, RefusesAPartThatItsBufferDoesNotHave) {
  Plan plan = placed();
  plan.buffers[k_window].parts[0].from_bytes = 256;
  expect_refusal(plan, "fourth", "window", "is not covered by its parts");
}

TEST(MemoryCheckParts, RefusesASliceThatLeavesItsBuffer) {
  Plan plan = placed();
  plan.buffers[k_outer].size_bytes = 448;
  expect_refusal(plan, "second", "right", "leaves the buffer that it lies in");
}

TEST(MemoryCheckParts, RefusesPlanesOfAnotherStrideOrHalo) {
  const auto mapped = [](const kernels::Halo& halo) {
    Plan plan = placed();
    plan.buffers[k_whole].map = kernels::blocked_map(1, 64, 1, 2, 8);
    plan.buffers[k_left].map = kernels::blocked_map(1, 24, 1, 2, 8);
    plan.buffers[k_right].map = kernels::blocked_map(1, 40, 1, 2, 8, halo);
    return plan;
  };
  EXPECT_NO_THROW(plan::check_memory(mapped({})));
  expect_refusal(mapped({.top = 1}), "third", "whole", "has a part that lies otherwise");
}

TEST(MemoryCheckParts, RefusesABufferThatIsPartOfItself) {
  Plan plan = placed();
  plan.buffers[k_window].parts = {{k_window, 0, 0, 128}};
  expect_refusal(plan, "fourth", "window", "is part of itself");
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
