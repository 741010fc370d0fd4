// SPDX-License-Identifier: Apache-2.0
//
// TopK and NonMaxSuppression.
#include "text_case.h"

namespace onepass::ops::testing {
namespace {

TEST(TopK, OrdersAndBreaksTiesByIndex) {
  expect_cases({
      {"x = constant f32[5] {1, 3, 2, 3, 0} k = constant i64[1] {3} v, i = TopK(x, k) output v output i",
       {"f32[3] {3, 3, 2}", "i64[3] {1, 3, 2}"}},
      {"x = constant f32[4] {2, 1, 2, 1} k = constant i64[1] {3} v, i = TopK(x, k) {largest=0} output v "
       "output i",
       {"f32[3] {1, 1, 2}", "i64[3] {1, 3, 0}"}},
      {"x = constant i64[2,2] {1, 4, 3, 2} k = constant i64[1] {1} v, i = TopK(x, k) {axis=0} output v "
       "output i",
       {"i64[1,2] {3, 4}", "i64[1,2] {1, 0}"}},
      {"x = constant f32[3] {1, nan, inf} k = constant i64[1] {2} v, i = TopK(x, k) {sorted=0} output v "
       "output i",
       {"f32[2] {nan, inf}", "i64[2] {1, 2}"}},
  });
  EXPECT_EQ(code_of("x = constant f32[2] iota k = constant i64[1] {3} v, i = TopK(x, k) @\"n\" output v"),
            "bad_operand");
}

// Boxes 0, 1 and 2 overlap (IoU of 0 and 1: 0.9/1.1), box 3 stands apart, box 4 repeats box 0.
const std::string k_boxes =
    "b = constant f32[1,5,4] {0, 0, 1, 1,  0, 0.1, 1, 1.1,  0, 0.05, 1, 1.05,  2, 2, 3, 3,  1, 1, 0, 0} ";
const std::string k_scores = "s = constant f32[1,1,5] {0.9, 0.75, 0.6, 0.95, 0.3} ";
const std::string k_limits = "m = constant i64[1] {3} t = constant f32[1] {0.5} ";

TEST(NonMaxSuppression, SelectsByScoreAndSuppressesOverlaps) {
  const std::string plain = k_boxes + k_scores + k_limits + "y = NonMaxSuppression(b, s, m, t) output y";
  const std::string scored = k_boxes + k_scores + k_limits +
                             "c = constant f32[] {0.92} y = NonMaxSuppression(b, s, m, t, c) output y";
  // Without an IoU threshold it is 0: any overlap suppresses.
  const std::string strict =
      k_boxes + k_scores + "m = constant i64[] {9} y = NonMaxSuppression(b, s, m) output y";
  expect_cases({{plain.c_str(), {"i64[2,3] {0, 0, 3, 0, 0, 0}"}},
                {scored.c_str(), {"i64[1,3] {0, 0, 3}"}},
                {strict.c_str(), {"i64[2,3] {0, 0, 3, 0, 0, 0}"}}});
}

// B094: max_output_boxes_per_class omitted or 0 selects nothing.
TEST(NonMaxSuppression, NoLimitGivenSelectsNothing) {
  const std::string omitted = k_boxes + k_scores + "y = NonMaxSuppression(b, s) output y";
  const std::string zero =
      k_boxes + k_scores + "m = constant i64[1] {0} y = NonMaxSuppression(b, s, m) output y";
  expect_cases({{omitted.c_str(), {"i64[0,3] {}"}}, {zero.c_str(), {"i64[0,3] {}"}}});
}

// B095: identical batches select the same boxes, under their own batch index.
TEST(NonMaxSuppression, BatchesAndClassesAreIndependent) {
  expect_case(
      {"b = constant f32[2,2,4] {0, 0, 1, 1,  2, 2, 3, 3,  0, 0, 1, 1,  2, 2, 3, 3} "
       "s = constant f32[2,2,2] {0.1, 0.9,  0.8, 0.2,  0.1, 0.9,  0.8, 0.2} m = constant i64[1] {3} "
       "y = NonMaxSuppression(b, s, m) output y",
       {"i64[8,3] {0,0,1, 0,0,0, 0,1,0, 0,1,1, 1,0,1, 1,0,0, 1,1,0, 1,1,1}"}});
}

// B097: no score threshold means no filtering, also of negative scores.
TEST(NonMaxSuppression, OmittedScoreThresholdFiltersNothing) {
  const std::string boxes =
      "b = constant f32[1,2,4] {0, 0, 1, 1, 2, 2, 3, 3} s = constant f32[1,1,2] {-2, -1} "
      "m = constant i64[1] {5} t = constant f32[1] {0.5} ";
  const std::string omitted = boxes + "y = NonMaxSuppression(b, s, m, t) output y";
  const std::string zero = boxes + "c = constant f32[1] {0} y = NonMaxSuppression(b, s, m, t, c) output y";
  expect_cases({{omitted.c_str(), {"i64[2,3] {0, 0, 1, 0, 0, 0}"}}, {zero.c_str(), {"i64[0,3] {}"}}});
}

// B098: the centre form (x, y, width, height) and the corner form (y1, x1, y2, x2) select alike.
TEST(NonMaxSuppression, CentreAndCornerFormsAgree) {
  const std::string rest =
      "s = constant f32[1,1,3] {0.5, 0.6, 0.4} m = constant i64[1] {3} t = constant f32[1] {0.5} "
      "y = NonMaxSuppression(b, s, m, t) ";
  const std::string centre = "b = constant f32[1,3,4] {2, 1, 4, 2,  2, 1.25, 4, 2,  8, 1, 4, 2} " + rest +
                             "{center_point_box=1} output y";
  const std::string corner =
      "b = constant f32[1,3,4] {0, 0, 2, 4,  0.25, 0, 2.25, 4,  0, 6, 2, 10} " + rest + "output y";
  expect_cases(
      {{centre.c_str(), {"i64[2,3] {0, 0, 1, 0, 0, 2}"}}, {corner.c_str(), {"i64[2,3] {0, 0, 1, 0, 0, 2}"}}});
}

TEST(NonMaxSuppression, TiesGoToTheLowerIndex) {
  expect_case(
      {"b = constant f32[1,3,4] {2, 2, 3, 3,  0, 0, 1, 1,  0, 0, 1, 1} s = constant f32[1,1,3] {0.5, 0.5, "
       "0.5} "
       "m = constant i64[1] {2} t = constant f32[1] {0.5} y = NonMaxSuppression(b, s, m, t) output y",
       {"i64[2,3] {0, 0, 0, 0, 0, 1}"}});
}

TEST(NonMaxSuppression, RefusesWhatTheStandardDoesNotAllow) {
  EXPECT_EQ(code_of(k_boxes + k_scores +
                    "m = constant i64[1] {1} t = constant f32[1] {1.5} "
                    "y = NonMaxSuppression(b, s, m, t) @\"n\" output y"),
            "bad_operand");
  EXPECT_EQ(code_of("b = constant f32[1,2,4] iota s = constant f32[1,1,3] iota y = NonMaxSuppression(b, s) "
                    "@\"n\" output y"),
            "bad_operand");
}

}  // namespace
}  // namespace onepass::ops::testing
