// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/pointwise.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

constexpr Halo k_no_halo{};
constexpr Halo k_lopsided{.top = 1, .left = 2, .bottom = 3, .right = 1};

std::string label_of(const char* what, const FeatureMap& map, const targets::Target& target) {
  return std::string(what) + " " + std::to_string(map.n) + "x" + std::to_string(map.c) + "x" +
         std::to_string(map.h) + "x" + std::to_string(map.w) + " " + target.name;
}

/// dst holds the values of src, its surround is zero, nothing else was written.
Case layout_case(const char* what, const FeatureMap& src, const FeatureMap& dst,
                 const targets::Target& target) {
  const std::vector<float> values = random_values(src.values(), 3);
  const std::string label = label_of(what, src, target);
  return {label,
          layout("f", {src, dst}, target),
          {to_map(src, values, Surround::nan), empty_map(dst)},
          [=](const Operands& after) { expect_map(dst, after[1].values, values, label); }};
}

struct Extents {
  int64_t n, c, h, w;
};

constexpr Extents k_extents[] = {{1, 1, 1, 1},   {1, 7, 3, 5},   {2, 9, 2, 17}, {1, 15, 4, 8},
                                 {1, 17, 3, 33}, {2, 24, 5, 16}, {1, 33, 1, 7}};

}  // namespace

TEST(Layout, plain_to_blocked) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Extents& e : k_extents)
      for (const Halo& halo : {k_no_halo, k_lopsided})
        cases.push_back(layout_case("plain to blocked", plain_map(e.n, e.c, e.h, e.w),
                                    blocked_map(e.n, e.c, e.h, e.w, target.vector_lanes, halo), target));
  run_cases(std::move(cases));
}

TEST(Layout, blocked_to_plain) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Extents& e : k_extents)
      for (const Halo& halo : {k_no_halo, k_lopsided})
        cases.push_back(layout_case("blocked to plain",
                                    blocked_map(e.n, e.c, e.h, e.w, target.vector_lanes, halo),
                                    plain_map(e.n, e.c, e.h, e.w, halo), target));
  run_cases(std::move(cases));
}

TEST(Layout, plain_to_plain_with_a_halo) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Extents& e : k_extents)
      cases.push_back(layout_case("plain to plain", plain_map(e.n, e.c, e.h, e.w),
                                  plain_map(e.n, e.c, e.h, e.w, k_lopsided), target));
  run_cases(std::move(cases));
}

TEST(Layout, blocked_to_a_channel_slice) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Extents& e : k_extents) {
      const int64_t block = target.vector_lanes;
      const FeatureMap whole = blocked_map(e.n, block + e.c + 3 * block, e.h, e.w, block, k_lopsided);
      const FeatureMap slice = channel_slice(whole, block, e.c);
      const FeatureMap alone = blocked_map(e.n, e.c, e.h, e.w, block);
      cases.push_back(layout_case("blocked to slice", alone, slice, target));
      cases.push_back(layout_case("slice to blocked", slice, alone, target));
    }
  run_cases(std::move(cases));
}

TEST(Layout, lanes_of_a_slice_that_belong_to_the_next_channels_are_not_copied) {
  for (const targets::Target& target : targets::all()) {
    const int64_t block = target.vector_lanes;
    const FeatureMap whole = blocked_map(1, 2 * block, 3, 3, block);
    const FeatureMap slice = channel_slice(whole, 0, block - 3);
    const FeatureMap dst = blocked_map(1, block - 3, 3, 3, block);
    const std::vector<float> memory = to_map(whole, random_values(whole.values(), 5));
    const Operands after = run_case("slice", layout("f", {slice, dst}, target), {memory, empty_map(dst)});
    expect_map(dst, after[1].values, from_map(slice, memory), "slice");
  }
}

TEST(Layout, there_and_back_over_maps_that_fill_many_slices) {
  const targets::Target& target = targets::find("native");
  const FeatureMap plain = plain_map(2, 40, 57, 61);
  const FeatureMap blocked = blocked_map(2, 40, 57, 61, target.vector_lanes, k_lopsided);
  const std::vector<float> values = random_values(plain.values(), 9);
  EXPECT_GT(layout("f", {plain, blocked}, target).slices, 4);
  std::vector<Case> cases{layout_case("plain to blocked", plain, blocked, target),
                          layout_case("blocked to plain", blocked, plain, target)};
  for (Case& test : cases) test.interpret = false;
  run_cases(std::move(cases));
}

TEST(Layout, estimate_counts_the_halo) {
  const Estimate estimate =
      estimate_layout({plain_map(1, 3, 4, 5), blocked_map(1, 3, 4, 5, 8, {1, 1, 1, 1})});
  EXPECT_EQ(estimate.bytes_read, 3 * 4 * 5 * 4);
  EXPECT_EQ(estimate.bytes_written, 8 * 6 * 7 * 4);
}

}  // namespace onepass::kernels::test
