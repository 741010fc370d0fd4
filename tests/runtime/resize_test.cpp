// SPDX-License-Identifier: Apache-2.0
#include "runtime/routine_cases.h"

namespace onepass::test {
namespace {

std::string by_scales(const std::string& type, const std::string& scales, const std::string& attributes) {
  return one_node(
      type, "Resize(x0, roi, s) {" + attributes + "}",
      "roi = constant f32[8] {0, 0, 0.1, 0.2, 1, 1, 0.8, 1.3}\ns = constant f32[4] {" + scales + "}");
}

std::string to_sizes(const std::string& type, const std::string& sizes, const std::string& attributes) {
  return one_node(
      type, "Resize(x0, roi, _, s) {" + attributes + "}",
      "roi = constant f32[8] {0, 0, 0.1, 0.2, 1, 1, 0.8, 1.3}\ns = constant i64[4] {" + sizes + "}");
}

TEST(Resize, EveryModeAndCoordinate) {
  std::vector<RoutineCase> cases;
  for (const std::string mode : {"nearest", "linear", "cubic"})
    for (const std::string coordinates : {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel",
                                          "align_corners", "asymmetric", "tf_crop_and_resize"}) {
      const std::string attributes = "mode=\"" + mode + "\", coordinate_transformation_mode=\"" +
                                     coordinates + "\", extrapolation_value=7.5";
      for (const char* scales : {"1, 1, 2, 2", "1, 1, 0.6, 1.7", "1, 2, 3, 0.5"})
        cases.push_back({by_scales("f32[2,3,5,6]", scales, attributes)});
      cases.push_back({to_sizes("f32[2,3,5,6]", "2, 3, 9, 4", attributes)});
      cases.push_back({to_sizes("f32[1,2,4,4]", "1, 2, 1, 13", attributes)});
    }
  expect_cases(cases);
}

TEST(Resize, NearestRoundingsAndTypes) {
  std::vector<RoutineCase> cases;
  for (const std::string rounding : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
    for (const std::string type : {"f32", "u8", "i64"})
      cases.push_back(
          {by_scales(type + "[1,2,5,4]", "1, 1, 2.5, 2", "nearest_mode=\"" + rounding + "\""), 0, 0, 99});
  expect_cases(cases);
}

TEST(Resize, CubicOptions) {
  expect_cases({{by_scales("f32[1,2,5,6]", "1, 1, 2, 1.4", "mode=\"cubic\", cubic_coeff_a=-0.5")},
                {by_scales("f32[1,2,5,6]", "1, 1, 2, 1.4", "mode=\"cubic\", exclude_outside=1")},
                {by_scales("f32[1,2,5,6]", "1, 1, 0.5, 0.4", "mode=\"linear\", exclude_outside=1")}});
}

TEST(Resize, AxesAndProportions) {
  const auto axes = [](const std::string& sizes, const std::string& attributes) {
    return one_node("f32[1,3,6,8]", "Resize(x0, _, _, s) {" + attributes + "}",
                    "s = constant i64[2] {" + sizes + "}");
  };
  expect_cases({{axes("12, 5", "mode=\"linear\", axes=[2,3]")},
                {axes("5, 12", "mode=\"linear\", axes=[-1,2]")},
                {axes("12, 5", "mode=\"linear\", axes=[2,3], keep_aspect_ratio_policy=\"not_larger\"")},
                {axes("12, 5", "axes=[2,3], keep_aspect_ratio_policy=\"not_smaller\"")},
                {by_scales("f32[1,16,40,40]", "1, 1, 2, 2",
                           "mode=\"linear\", coordinate_transformation_mode=\"asymmetric\"")},
                {by_scales("f32[1,20,20,16]", "1, 2, 2, 1", "mode=\"linear\"")}});
}

}  // namespace
}  // namespace onepass::test
