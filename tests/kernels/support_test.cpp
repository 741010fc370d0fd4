// SPDX-License-Identifier: Apache-2.0
//
// The runner of these tests notices what it is there to notice.
#include "kernels/support.h"

#include <gmock/gmock.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "loops/builder.h"

namespace onepass::kernels::test {

namespace {

using ::testing::HasSubstr;

/// dst[target of slice] = src[slice], for three slices.
loops::LoopNest copy_to(int64_t coefficient, int lanes = 1) {
  loops::Builder b("copy");
  const loops::BufferId src = b.input("src", 3 * lanes);
  const loops::BufferId dst = b.output("dst", 3 * lanes);
  const loops::Affine slice = b.slices(3);
  b.store(dst, slice * coefficient, b.load(src, slice * lanes, lanes));
  return b.finish();
}

/// The messages of the failures that `run` reports; they do not count.
std::string failures_of(const std::function<void()>& run) {
  ::testing::TestPartResultArray failures;
  {
    const ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    run();
  }
  std::string messages;
  for (int i = 0; i < failures.size(); ++i) messages += failures.GetTestPartResult(i).message();
  return messages;
}

}  // namespace

TEST(Support, a_correct_nest_passes_and_returns_its_operands) {
  const Operands after = run_case("copy", copy_to(1), {std::vector<float>{1, 2, 3}, nan_values(3)});
  EXPECT_EQ(after[1].values, (std::vector<float>{1, 2, 3}));
}

TEST(Support, slices_that_depend_on_their_order_are_noticed) {
  const std::string messages =
      failures_of([] { run_case("overlap", copy_to(0), {std::vector<float>{1, 2, 3}, nan_values(3)}); });
  EXPECT_THAT(messages, HasSubstr("interpreter against LLVM"));
}

TEST(Support, an_access_out_of_bounds_is_noticed) {
  const std::string messages =
      failures_of([] { run_case("outside", copy_to(2), {std::vector<float>{1, 2, 3}, nan_values(3)}); });
  EXPECT_THAT(messages, HasSubstr("dst"));
}

TEST(Support, missing_operands_are_noticed) {
  const std::string messages =
      failures_of([] { run_case("short", copy_to(1), {std::vector<float>{1, 2}, nan_values(3)}); });
  EXPECT_THAT(messages, HasSubstr("operand 0"));
}

TEST(Support, maps_keep_values_and_tell_surround_from_outside) {
  const FeatureMap whole = blocked_map(1, 20, 2, 3, 8, {1, 0, 0, 1});
  const FeatureMap map = channel_slice(whole, 8, 5);
  const std::vector<float> values = random_values(map.values(), 1);
  std::vector<float> memory = to_map(map, values);
  expect_map(map, memory, values, "as made");
  EXPECT_TRUE(std::isnan(memory[0])) << "another channel";
  memory[0] = 1;
  EXPECT_THAT(failures_of([&] { expect_map(map, memory, values, "m"); }),
              HasSubstr("outside the map was written"));
  memory = to_map(map, values, Surround::nan);
  EXPECT_THAT(failures_of([&] { expect_map(map, memory, values, "m"); }), HasSubstr("should be zero"));
}

TEST(Support, bits_are_compared) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  expect_same_bits(std::vector<float>{nan, 1}, std::vector<float>{-nan, 1}, "any NaN");
  EXPECT_THAT(
      failures_of([] { expect_same_bits(std::vector<float>{0.0f}, std::vector<float>{-0.0f}, "zeros"); }),
      HasSubstr("differ"));
}

TEST(Support, ulp_distance) {
  EXPECT_EQ(ulp_distance(1.0, 1.0f), 0);
  EXPECT_EQ(ulp_distance(1.0, std::nextafter(1.0f, 2.0f)), 1);
  EXPECT_EQ(ulp_distance(0x1p128, std::numeric_limits<float>::infinity()), 0);
  EXPECT_EQ(ulp_distance(0, 0x1p-141f), 1);
  EXPECT_TRUE(std::isinf(ulp_distance(1.0, std::numeric_limits<float>::quiet_NaN())));
  EXPECT_TRUE(std::isinf(ulp_distance(-1e30, std::numeric_limits<float>::infinity())));
}

}  // namespace onepass::kernels::test
