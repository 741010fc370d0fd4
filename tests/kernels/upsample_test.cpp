// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "kernels/pointwise.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

Case upsample_case(int64_t c, int64_t factor_h, int64_t factor_w, const Halo& halo,
                   const targets::Target& target) {
  constexpr int64_t k_n = 2, k_h = 3, k_w = 5;
  const FeatureMap src = blocked_map(k_n, c, k_h, k_w, target.vector_lanes, {1, 0, 0, 2});
  const FeatureMap dst = blocked_map(k_n, c, k_h * factor_h, k_w * factor_w, target.vector_lanes, halo);
  const std::vector<float> x = random_values(src.values(), 1);
  std::vector<float> expected;
  for (int64_t plane = 0; plane < k_n * c; ++plane)
    for (int64_t y = 0; y < dst.h; ++y)
      for (int64_t column = 0; column < dst.w; ++column)
        expected.push_back(x[(plane * k_h + y / factor_h) * k_w + column / factor_w]);
  const std::string label =
      "c " + std::to_string(c) + " by " + std::to_string(factor_h) + "x" + std::to_string(factor_w);
  return {label,
          upsample("f", {src, dst, factor_h, factor_w}, target),
          {to_map(src, x, Surround::nan), empty_map(dst)},
          [=](const Operands& after) { expect_map(dst, after[1].values, expected, label); }};
}

}  // namespace

TEST(Upsample, repeats_pixels) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (int64_t c : {1, 9, 17, 32})
      for (const Halo& halo : {Halo{}, Halo{1, 2, 3, 1}}) {
        cases.push_back(upsample_case(c, 2, 2, halo, target));
        cases.push_back(upsample_case(c, 1, 3, halo, target));
        cases.push_back(upsample_case(c, 4, 1, halo, target));
      }
  run_cases(std::move(cases));
}

TEST(Upsample, extents_that_are_no_multiples_are_refused) {
  const targets::Target& target = targets::all().front();
  EXPECT_THROW(upsample("f", {blocked_map(1, 8, 3, 3, 8), blocked_map(1, 8, 6, 7, 8), 2, 2}, target),
               InternalError);
}

TEST(Upsample, estimate) {
  const Estimate estimate =
      estimate_upsample({blocked_map(1, 8, 3, 3, 8), blocked_map(1, 8, 6, 6, 8, {1, 1, 1, 1}), 2, 2});
  EXPECT_EQ(estimate.bytes_read, 8 * 9 * 4);
  EXPECT_EQ(estimate.bytes_written, 8 * 64 * 4);
}

}  // namespace onepass::kernels::test
