// SPDX-License-Identifier: Apache-2.0
#include "runtime/routine_cases.h"

namespace onepass::test {
namespace {

TEST(Selection, TopK) {
  const auto top = [](const std::string& type, const std::string& k, const std::string& attributes) {
    return one_node(type, "TopK(x0, k) {" + attributes + "}", "k = constant i64[1] {" + k + "}", "v,i");
  };
  expect_cases({{top("f32[3,20]", "5", "axis=-1"), 0, 0, 9},
                {top("f32[3,20]", "20", "largest=0")},
                {top("i64[3,20]", "7", "axis=1"), 0, 0, 6},
                {top("i32[6,4]", "3", "axis=0, largest=0"), 0, 0, 3},
                {top("f32[1,5000]", "100", "axis=1")},
                {top("f32[2,7,3]", "1", "axis=1")},
                {top("f32[2,7]", "0", "axis=1")},
                {top("f32[40]", "30", "axis=0"), 0, -2, 2, true},
                {top("f32[40]", "30", "axis=0, largest=0"), 0, -2, 2, true}});
}

std::string nms(const std::string& types, const std::string& operands, const std::string& attributes = "") {
  return one_node(types, "NonMaxSuppression(x0, x1" + operands + ")" + attributes,
                  "m = constant i64[1] {7}\nmany = constant i64[] {1000}\niou = constant f32[1] {0.3}\n"
                  "score = constant f32[1] {0.55}\nnone = constant f32[1] {9}");
}

TEST(Selection, NonMaxSuppression) {
  const std::string small = "f32[1,40,4] f32[1,1,40]";
  const std::string large = "f32[2,60,4] f32[2,3,60]";
  expect_cases({{nms(small, ", m, iou, score"), 0, 0, 1},
                {nms(large, ", m, iou, score"), 0, 0, 1},
                {nms(large, ", many, iou"), 0, 0, 1},
                {nms(large, ", many, iou, score", " {center_point_box=1}"), 0, 0, 1},
                {nms(large, ", many, iou, none"), 0, 0, 1},
                {nms(small, ", m"), 0, 0, 1},
                {nms(small, ""), 0, 0, 1},
                {nms("f32[1,40,4] f32[1,2,40]", ", many, iou"), 0, 0, 1, true}});
}

TEST(Selection, RowsOfNonMaxSuppressionGoOn) {
  expect_cases(
      {{"b = input f32[1,50,4]\ns = input f32[1,1,50]\nm = constant i64[] {9}\niou = constant f32[] {0.4}\n"
        "r = NonMaxSuppression(b, s, m, iou)\none = constant i64[] {2}\n"
        "i = Gather(r, one) {axis=1}\nzero = constant i64[1] {0}\nq = Squeeze(b, zero)\n"
        "y = Gather(q, i)\nk = constant f32[4] {1, 2, 3, 4}\nz = Mul(y, k)\noutput r\noutput z\n",
        0, 0, 1}});
}

}  // namespace
}  // namespace onepass::test
