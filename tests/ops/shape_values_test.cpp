// SPDX-License-Identifier: Apache-2.0
#include "text_case.h"

namespace onepass::ops::testing {
namespace {

TEST(ShapeValues, IdentityAndDropout) {
  expect_cases({
      {"x = constant i64[2] {1, 2} y = Identity(x) output y", {"i64[2] {1, 2}"}},
      {"x = constant f32[2] {1, nan} y, m = Dropout(x) output y output m",
       {"f32[2] {1, nan}", "bool[2] {1, 1}"}},
      {"x = constant f32[1] {3} t = constant bool[] {false} y = Dropout(x, _, t) output y", {"f32[1] {3}"}},
  });
  EXPECT_EQ(
      code_of("x = constant f32[1] {3} t = constant bool[] {true} y = Dropout(x, _, t) @\"n\" output y"),
      "training_mode");
}

TEST(ShapeValues, Cast) {
  const std::string x = "x = constant f32[6] {-1.9, 0.0, 2.5, nan, inf, 1e30} y = Cast(x) ";
  const std::string to_int = x + "{to=7} output y";
  const std::string to_bool = x + "{to=9} output y";
  const std::string to_half = x + "{to=10} output y";
  expect_cases({
      {to_int.c_str(), {"i64[6] {-1, 0, 2, 0, 9223372036854775807, 9223372036854775807}"}},
      {to_bool.c_str(), {"bool[6] {1, 0, 1, 1, 1, 1}"}},
      {to_half.c_str(), {"f32[6] {-1.9, 0, 2.5, nan, inf, 1e30}"}},
      {"x = constant bool[2] {true, false} y = Cast(x) {to=1} output y", {"f32[2] {1, 0}"}},
      {"x = constant i64[2] {300, -1} y = Cast(x) {to=2} output y", {"u8[2] {44, 255}"}},
      {"x = constant i64[1] {3} y = Cast(x) {to=11} output y", {"f64[1] {3}"}},
  });
  EXPECT_EQ(code_of("x = constant f32[1] {1} y = Cast(x) {to=8} @\"n\" output y"), "unsupported_type");
  EXPECT_EQ(code_of("x = constant f32[1] {1} y = Cast(x) @\"n\" output y"), "missing_attribute");
}

TEST(ShapeValues, Shape) {
  expect_cases({
      {"x = constant f32[2,3,4] iota y = Shape(x) output y", {"i64[3] {2, 3, 4}"}},
      {"x = constant f32[2,3,4] iota y = Shape(x) {start=1} output y", {"i64[2] {3, 4}"}},
      {"x = constant f32[2,3,4] iota y = Shape(x) {start=-2, end=-1} output y", {"i64[1] {3}"}},
      {"x = constant f32[2,3,4] iota y = Shape(x) {start=5, end=-9} output y", {"i64[0] {}"}},
  });
}

TEST(ShapeValues, ConstantOfShape) {
  expect_cases({
      {"s = constant i64[2] {1, 2} y = ConstantOfShape(s) output y", {"f32[1,2] {0, 0}"}},
      {"s = constant i64[1] {3} y = ConstantOfShape(s) {value=i64[1] {-1}} output y",
       {"i64[3] {-1, -1, -1}"}},
      {"s = constant i64[0] {} y = ConstantOfShape(s) {value=f32[1] {0.5}} output y", {"f32[] {0.5}"}},
  });
  EXPECT_EQ(code_of("s = constant i64[2] {4294967296, 4294967296} y = ConstantOfShape(s) @\"n\" output y"),
            "too_large");
  EXPECT_EQ(code_of("s = constant i64[1] {-1} y = ConstantOfShape(s) @\"n\" output y"), "bad_extent");
}

TEST(ShapeValues, Range) {
  const auto range = [](const char* type, const char* a, const char* b, const char* c) {
    const auto operand = [&](const char* name, const char* value) {
      return std::string(name) + " = constant " + type + "[] {" + value + "} ";
    };
    return operand("a", a) + operand("b", b) + operand("c", c) + "y = Range(a, b, c) @\"n\" output y";
  };
  const std::string up = range("i64", "3", "9", "3");
  const std::string down = range("i32", "10", "4", "-2");
  const std::string floats = range("f32", "0.0", "1.0", "0.25");
  const std::string none = range("i64", "3", "0", "1");
  expect_cases({{up.c_str(), {"i64[2] {3, 6}"}},
                {down.c_str(), {"i32[3] {10, 8, 6}"}},
                {floats.c_str(), {"f32[4] {0, 0.25, 0.5, 0.75}"}},
                {none.c_str(), {"i64[0] {}"}}});
  EXPECT_EQ(code_of(range("i64", "0", "1", "0")), "bad_operand");
  EXPECT_EQ(code_of(range("i64", "0", "9223372036854775807", "1")), "too_large");
}

}  // namespace
}  // namespace onepass::ops::testing
