// SPDX-License-Identifier: Apache-2.0
#include "text_case.h"

namespace onepass::ops::testing {
namespace {

/// Resize of one row by `operands` under `attributes`.
std::string row(const std::string& values, const std::string& operands, const std::string& attributes) {
  return "x = constant f32[1,4] {" + values + "} " + operands + " y = Resize(x, roi, scales, sizes) {" +
         attributes + "} @\"n\" output y";
}

std::string by_scale(const std::string& scale, const std::string& attributes) {
  std::string text = row("1, 2, 3, 4", "scales = constant f32[2] {1, " + scale + "}", attributes);
  return text.replace(text.find("roi, scales, sizes"), 18, "_, scales");
}

std::string to_size(const std::string& size, const std::string& attributes) {
  std::string text = row("1, 2, 3, 4", "sizes = constant i64[2] {1, " + size + "}", attributes);
  return text.replace(text.find("roi, scales, sizes"), 18, "_, _, sizes");
}

void expect_row(const std::string& body, const char* expected) {
  expect_case({body.c_str(), {expected}});
}

TEST(Resize, NearestRoundings) {
  const std::string asymmetric = "coordinate_transformation_mode=\"asymmetric\", nearest_mode=";
  // Coordinates 0, 0.5, 1, 1.5, ...
  expect_row(by_scale("2", asymmetric + "\"floor\""), "f32[1,8] {1, 1, 2, 2, 3, 3, 4, 4}");
  expect_row(by_scale("2", asymmetric + "\"ceil\""), "f32[1,8] {1, 2, 2, 3, 3, 4, 4, 4}");
  expect_row(by_scale("2", asymmetric + "\"round_prefer_floor\""), "f32[1,8] {1, 1, 2, 2, 3, 3, 4, 4}");
  expect_row(by_scale("2", asymmetric + "\"round_prefer_ceil\""), "f32[1,8] {1, 2, 2, 3, 3, 4, 4, 4}");
  // Half pixel: 0.5 and 2.5 are ties.
  expect_row(by_scale("0.5", ""), "f32[1,2] {1, 3}");
  expect_row(by_scale("0.5", "nearest_mode=\"round_prefer_ceil\""), "f32[1,2] {2, 4}");
}

TEST(Resize, NearestMovesAnyType) {
  expect_case(
      {"x = constant i64[1,1,2,2] {1, 2, 3, 4} s = constant f32[4] {1, 1, 2, 2} y = Resize(x, _, s) output y",
       {"i64[1,1,4,4] {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4}"}});
}

TEST(Resize, Linear) {
  const std::string linear = "mode=\"linear\"";
  expect_row(by_scale("2", linear), "f32[1,8] {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4}");
  expect_row(by_scale("2", linear + ", coordinate_transformation_mode=\"asymmetric\""),
             "f32[1,8] {1, 1.5, 2, 2.5, 3, 3.5, 4, 4}");
  expect_row(to_size("7", linear + ", coordinate_transformation_mode=\"align_corners\""),
             "f32[1,7] {1, 1.5, 2, 2.5, 3, 3.5, 4}");
  expect_row(to_size("1", linear), "f32[1,1] {2.5}");
  expect_row(to_size("1", linear + ", coordinate_transformation_mode=\"pytorch_half_pixel\""),
             "f32[1,1] {1}");
  expect_row(to_size("1", linear + ", coordinate_transformation_mode=\"align_corners\""), "f32[1,1] {1}");
}

TEST(Resize, LinearIsSeparable) {
  expect_case(
      {"x = constant f32[1,1,2,2] {1, 2, 3, 4} s = constant i64[2] {4, 4} "
       "y = Resize(x, _, _, s) {mode=\"linear\", axes=[2, 3]} output y",
       {"f32[1,1,4,4] {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4}"}});
}

TEST(Resize, Cubic) {
  // At 0.5 between two elements the weights are A/8, 1/2 - A/8, 1/2 - A/8, A/8 with A = -0.5: -1, 9, 9, -1
  // of 16.
  const std::string cubic = "mode=\"cubic\", cubic_coeff_a=-0.5";
  expect_row(to_size("1", cubic), "f32[1,1] {2.5}");
  expect_row(to_size("2", cubic), "f32[1,2] {1.4375, 3.5625}");
  // Taps outside are left out: (9 * 1 + 9 * 2 - 1 * 3) / 17 at 0.5 and (-1 * 3 + 9 * 4) / 8 at 3.5.
  expect_row(by_scale("2", cubic + ", coordinate_transformation_mode=\"asymmetric\", exclude_outside=1"),
             "f32[1,8] {1, 1.4117647, 2, 2.5, 3, 3.5882353, 4, 4.125}");
}

TEST(Resize, CropsWithExtrapolation) {
  // The crop reaches from -0.25 * 4 = -1 to 1.25 * 4 = 5 in 7 steps of 1.
  const std::string text =
      "x = constant f32[1,5] {1, 2, 3, 4, 5} roi = constant f32[4] {0, -0.25, 1, 1.25} sizes = constant "
      "i64[2] {1, 7} "
      "y = Resize(x, roi, _, sizes) {mode=\"nearest\", "
      "coordinate_transformation_mode=\"tf_crop_and_resize\", "
      "extrapolation_value=9.5} output y";
  expect_row(text, "f32[1,7] {9.5, 1, 2, 3, 4, 5, 9.5}");
}

TEST(Resize, KeepsProportions) {
  const std::string image =
      "x = constant f32[2,4] iota s = constant i64[2] {4, 6} y = Resize(x, _, _, s) "
      "{coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\", "
      "keep_aspect_ratio_policy=";
  const std::string larger = image + "\"not_larger\"} z = Shape(y) output z";
  const std::string smaller = image + "\"not_smaller\"} z = Shape(y) output z";
  expect_cases({{larger.c_str(), {"i64[2] {3, 6}"}}, {smaller.c_str(), {"i64[2] {4, 8}"}}});
}

TEST(Resize, EmptyOperandsAreAbsent) {
  expect_case(
      {"x = constant f32[1,2] {1, 2} e = constant f32[0] {} s = constant i64[2] {1, 4} "
       "y = Resize(x, e, e, s) output y",
       {"f32[1,4] {1, 1, 2, 2}"}});
}

TEST(Resize, RefusesByName) {
  EXPECT_EQ(code_of(by_scale("2", "antialias=1")), "unsupported_attribute");
  EXPECT_EQ(code_of(by_scale("2", "mode=\"area\"")), "unsupported_attribute");
  EXPECT_EQ(code_of(by_scale("0", "")), "bad_operand");
  EXPECT_EQ(code_of(by_scale("nan", "")), "bad_operand");
  EXPECT_EQ(code_of(by_scale("1e30", "")), "too_large");
  EXPECT_EQ(code_of(to_size("-1", "")), "bad_operand");
  EXPECT_EQ(code_of("x = constant f32[1,4] iota y = Resize(x) @\"n\" output y"), "bad_operand");
  EXPECT_EQ(code_of("x = constant i64[4] iota s = constant f32[1] {2} y = Resize(x, _, s) {mode=\"linear\"} "
                    "@\"n\" output y"),
            "unsupported_type");
}

}  // namespace
}  // namespace onepass::ops::testing
