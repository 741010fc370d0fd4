// SPDX-License-Identifier: Apache-2.0
//
// The operators that move elements, on hand-computed cases.
#include "text_case.h"

namespace onepass::ops::testing {
namespace {

TEST(Movement, Concat) {
  expect_cases({
      {"a = constant f32[2,1] {1, 2} b = constant f32[2,2] {3, 4, 5, 6} y = Concat(a, b) {axis=-1} output y",
       {"f32[2,3] {1, 3, 4, 2, 5, 6}"}},
      {"a = constant u8[1,2] {1, 2} y = Concat(a, a) {axis=0} output y", {"u8[2,2] {1, 2, 1, 2}"}},
      {"a = constant i64[0] {} b = constant i64[2] {3, 4} y = Concat(a, b) {axis=0} output y",
       {"i64[2] {3, 4}"}},
  });
  EXPECT_EQ(code_of("a = constant f32[2] iota y = Concat(a, a) {axis=1} @\"n\" output y"), "bad_axis");
  EXPECT_EQ(code_of("a = constant f32[2] iota y = Concat(a, a) @\"n\" output y"), "missing_attribute");
  EXPECT_EQ(
      code_of(
          "a = constant f32[2,1] iota b = constant f32[1,2] iota y = Concat(a, b) {axis=1} @\"n\" output y"),
      "bad_operand");
}

TEST(Movement, Split) {
  expect_cases({
      {"x = constant f32[2,4] iota a, b = Split(x) {axis=1} output a output b",
       {"f32[2,2] {0, 1, 4, 5}", "f32[2,2] {2, 3, 6, 7}"}},
      {"x = constant i64[5] iota s = constant i64[2] {2, 3} a, b = Split(x, s) output a output b",
       {"i64[2] {0, 1}", "i64[3] {2, 3, 4}"}},
      {"x = constant i64[5] iota a, b = Split(x) {num_outputs=2} output a output b",
       {"i64[3] {0, 1, 2}", "i64[2] {3, 4}"}},
      {"x = constant f32[3] iota s = constant i64[3] {1, 1, 1} a, _, b = Split(x, s) output a output b",
       {"f32[1] {0}", "f32[1] {2}"}},
  });
  EXPECT_EQ(code_of("x = constant i64[5] iota a, b = Split(x) @\"n\" output a"), "bad_split");
  EXPECT_EQ(code_of("x = constant i64[5] iota s = constant i64[2] {2, 2} a, b = Split(x, s) @\"n\" output a"),
            "bad_split");
}

TEST(Movement, Slice) {
  const auto slice = [](const char* operands) {
    return "x = constant f32[3,4] iota " + std::string(operands) + " output y";
  };
  const std::string steps = slice(
      "s = constant i64[2] {-1, 0} e = constant i64[2] {-100, 4} a = constant i64[2] {0, 1} t = constant "
      "i64[2] {-1, 2} "
      "y = Slice(x, s, e, a, t)");
  const std::string plain =
      slice("s = constant i64[1] {1} e = constant i64[1] {9223372036854775807} y = Slice(x, s, e)");
  const std::string negative = slice(
      "s = constant i32[1] {-3} e = constant i32[1] {-1} a = constant i32[1] {-1} y = Slice(x, s, e, a)");
  const std::string none = slice("s = constant i64[1] {2} e = constant i64[1] {1} y = Slice(x, s, e)");
  const std::string far = slice(
      "s = constant i64[1] {-9223372036854775808} e = constant i64[1] {1} a = constant i64[1] {0} "
      "t = constant i64[1] {9223372036854775807} y = Slice(x, s, e, a, t)");
  expect_cases({
      {steps.c_str(), {"f32[3,2] {8, 10, 4, 6, 0, 2}"}},
      {plain.c_str(), {"f32[2,4] {4, 5, 6, 7, 8, 9, 10, 11}"}},
      {negative.c_str(), {"f32[3,2] {1, 2, 5, 6, 9, 10}"}},
      {none.c_str(), {"f32[0,4] {}"}},
      {far.c_str(), {"f32[1,4] {0, 1, 2, 3}"}},
  });
  EXPECT_EQ(
      code_of(
          "x = constant f32[3] iota s = constant i64[1] {0} e = constant i64[1] {1} t = constant i64[1] {0} "
          "y = Slice(x, s, e, _, t) @\"n\" output y"),
      "bad_slice");
}

TEST(Movement, Pad) {
  const auto pad = [](const std::string& pads, const std::string& mode) {
    return "x = constant f32[1,3] {1, 2, 3} p = constant i64[4] {" + pads + "} y = Pad(x, p) {mode=\"" +
           mode + "\"} @\"n\" output y";
  };
  const std::string constant = pad("1,1,0,2", "constant");
  const std::string reflect = pad("0,2,0,2", "reflect");
  const std::string edge = pad("1,1,0,1", "edge");
  const std::string wrap = pad("0,4,0,2", "wrap");
  const std::string crop = pad("0,-1,0,2", "constant");
  expect_cases({
      {constant.c_str(), {"f32[2,6] {0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 0, 0}"}},
      {reflect.c_str(), {"f32[1,7] {3, 2, 1, 2, 3, 2, 1}"}},
      {edge.c_str(), {"f32[2,5] {1, 1, 2, 3, 3, 1, 1, 2, 3, 3}"}},
      {wrap.c_str(), {"f32[1,9] {3, 1, 2, 3, 1, 2, 3, 1, 2}"}},
      {crop.c_str(), {"f32[1,4] {2, 3, 0, 0}"}},
      {"x = constant f32[1,2] {1, 2} p = constant i64[2] {1, 1} v = constant f32[] {-inf} a = constant "
       "i64[1] {-1} "
       "y = Pad(x, p, v, a) output y",
       {"f32[1,4] {-inf, 1, 2, -inf}"}},
  });
  EXPECT_EQ(code_of(pad("0,3,0,0", "reflect")), "bad_pads");
  EXPECT_EQ(code_of(pad("0,-2,0,-2", "constant")), "bad_pads");
  EXPECT_EQ(code_of(pad("0,0,0,9223372036854775807", "constant")), "too_large");
  EXPECT_EQ(code_of(pad("0,0,0,1", "mirror")), "unsupported_attribute");
}

TEST(Movement, Transpose) {
  expect_cases({
      {"x = constant f32[2,3] iota y = Transpose(x) output y", {"f32[3,2] {0, 3, 1, 4, 2, 5}"}},
      {"x = constant i8[1,2,3] iota y = Transpose(x) {perm=[1,2,0]} output y",
       {"i8[2,3,1] {0, 1, 2, 3, 4, 5}"}},
  });
  EXPECT_EQ(code_of("x = constant f32[2,3] iota y = Transpose(x) {perm=[0,0]} @\"n\" output y"),
            "bad_permutation");
}

TEST(Movement, ReshapeFamily) {
  expect_cases({
      {"x = constant f32[2,3] iota s = constant i64[3] {0, -1, 1} y = Reshape(x, s) output y",
       {"f32[2,3,1] {0, 1, 2, 3, 4, 5}"}},
      {"x = constant f32[0,3] {} s = constant i64[2] {3, 0} y = Reshape(x, s) {allowzero=1} output y",
       {"f32[3,0] {}"}},
      {"x = constant f32[1] {7} s = constant i64[0] {} y = Reshape(x, s) output y", {"f32[] {7}"}},
      {"x = constant f32[2,1,3] iota y = Flatten(x) {axis=-1} output y", {"f32[2,3] {0, 1, 2, 3, 4, 5}"}},
      {"x = constant f32[2,2] iota y = Flatten(x) {axis=0} output y", {"f32[1,4] {0, 1, 2, 3}"}},
      {"x = constant f32[1,2,1] iota y = Squeeze(x) output y", {"f32[2] {0, 1}"}},
      {"x = constant f32[1,2,1] iota a = constant i64[1] {-1} y = Squeeze(x, a) output y",
       {"f32[1,2] {0, 1}"}},
      {"x = constant f32[2] iota a = constant i64[2] {0, -1} y = Unsqueeze(x, a) output y",
       {"f32[1,2,1] {0, 1}"}},
  });
  const std::string x = "x = constant f32[2,3] iota s = constant i64[2] ";
  EXPECT_EQ(code_of(x + "{4, -1} y = Reshape(x, s) @\"n\" output y"), "bad_reshape");
  EXPECT_EQ(code_of(x + "{-1, -1} y = Reshape(x, s) @\"n\" output y"), "bad_reshape");
  EXPECT_EQ(code_of(x + "{2147483648, 2147483648} y = Reshape(x, s) @\"n\" output y"), "too_large");
  EXPECT_EQ(code_of(x + "{0, 1} y = Squeeze(x, s) @\"n\" output y"), "bad_axis");
  EXPECT_EQ(code_of(x + "{1, 1} y = Unsqueeze(x, s) @\"n\" output y"), "bad_axis");
}

TEST(Movement, ExpandAndTile) {
  expect_cases({
      {"x = constant f32[2,1] {1, 2} s = constant i64[3] {2, 1, 2} y = Expand(x, s) output y",
       {"f32[2,2,2] {1, 1, 2, 2, 1, 1, 2, 2}"}},
      {"x = constant f32[2,3] iota s = constant i64[1] {1} y = Expand(x, s) output y", {"f32[2,3] iota"}},
      {"x = constant i64[1,2] {1, 2} r = constant i64[2] {2, 2} y = Tile(x, r) output y",
       {"i64[2,4] {1, 2, 1, 2, 1, 2, 1, 2}"}},
      {"x = constant i64[2] {1, 2} r = constant i64[1] {0} y = Tile(x, r) output y", {"i64[0] {}"}},
  });
  EXPECT_EQ(code_of("x = constant f32[2] iota s = constant i64[1] {3} y = Expand(x, s) @\"n\" output y"),
            "not_broadcastable");
  EXPECT_EQ(
      code_of("x = constant f32[2] iota r = constant i64[1] {4294967296} y = Tile(x, r) @\"n\" output y"),
      "too_large");
}

TEST(Movement, DepthAndSpace) {
  const std::string pixels = "x = constant f32[1,8,1,1] iota y = DepthToSpace(x) {blocksize=2";
  const std::string dcr = pixels + "} output y";
  const std::string crd = pixels + ", mode=\"CRD\"} output y";
  expect_cases({
      {dcr.c_str(), {"f32[1,2,2,2] {0, 2, 4, 6, 1, 3, 5, 7}"}},
      {crd.c_str(), {"f32[1,2,2,2] {0, 1, 2, 3, 4, 5, 6, 7}"}},
      {"x = constant f32[1,2,2,2] {0, 2, 4, 6, 1, 3, 5, 7} y = SpaceToDepth(x) {blocksize=2} output y",
       {"f32[1,8,1,1] iota"}},
  });
  EXPECT_EQ(code_of("x = constant f32[1,6,1,1] iota y = DepthToSpace(x) {blocksize=2} @\"n\" output y"),
            "bad_extent");
  EXPECT_EQ(code_of("x = constant f32[1,1,3,2] iota y = SpaceToDepth(x) {blocksize=2} @\"n\" output y"),
            "bad_extent");
}

TEST(Movement, Gather) {
  expect_cases({
      {"x = constant f32[2,3] iota i = constant i64[2] {-1, 0} y = Gather(x, i) {axis=1} output y",
       {"f32[2,2] {2, 0, 5, 3}"}},
      {"x = constant f32[2,3] iota i = constant i32[] {1} y = Gather(x, i) output y", {"f32[3] {3, 4, 5}"}},
      {"x = constant i64[3] {7, 8, 9} i = constant i64[1,2] {2, 2} y = Gather(x, i) output y",
       {"i64[1,2] {9, 9}"}},
  });
  const std::string x = "x = constant f32[3] iota i = constant i64[1] ";
  EXPECT_EQ(code_of(x + "{3} y = Gather(x, i) @\"n\" output y"), "index_out_of_range");
  EXPECT_EQ(code_of(x + "{-4} y = Gather(x, i) @\"n\" output y"), "index_out_of_range");
}

}  // namespace
}  // namespace onepass::ops::testing
