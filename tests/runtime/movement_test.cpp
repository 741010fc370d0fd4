// SPDX-License-Identifier: Apache-2.0
#include "runtime/routine_cases.h"

namespace onepass::test {
namespace {

TEST(Movement, TransposeOfEveryElementSize) {
  expect_cases({{one_node("f32[2,3,5,7]", "Transpose(x0) {perm=[0,2,3,1]}")},
                {one_node("f32[2,3,5,7]", "Transpose(x0)")},
                {one_node("i64[4,6]", "Transpose(x0) {perm=[1,0]}")},
                {one_node("u8[3,4,5]", "Transpose(x0) {perm=[2,0,1]}")},
                {one_node("f32[1,33,61,3]", "Transpose(x0) {perm=[0,3,1,2]}")},
                {one_node("f32[130,257]", "Transpose(x0)")},
                {one_node("f32[3,130,61]", "Transpose(x0) {perm=[0,2,1]}")},
                {one_node("f32[2,3,2,2,4,2]", "Transpose(x0) {perm=[3,0,5,1,4,2]}")},
                {one_node("f32[]", "Transpose(x0)")},
                {one_node("f32[0,3]", "Transpose(x0)")}});
}

TEST(Movement, Slice) {
  const auto slice = [](const char* type, const char* starts, const char* ends, const char* rest) {
    return one_node(type, std::string("Slice(x0, s, e") + (*rest ? ", a, t)" : ")"),
                    std::string("s = constant i64") + starts + "\ne = constant i64" + ends + "\n" + rest);
  };
  expect_cases(
      {{slice("f32[4,6]", "[2] {1, 2}", "[2] {3, 5}", "")},
       {slice("f32[4,6]", "[2] {-1, -1}", "[2] {-9, -7}",
              "a = constant i64[2] {0, 1}\nt = constant i64[2] {-1, -2}")},
       {slice("f32[2,3,20,5]", "[1] {1}", "[1] {9223372036854775807}",
              "a = constant i64[1] {-2}\nt = constant i64[1] {3}")},
       {slice("i32[7]", "[1] {5}", "[1] {5}", "")},
       {slice("f32[9000,4]", "[2] {1, 1}", "[2] {9000, 3}", "")},
       {slice("i64[300,7]", "[2] {0, 2}", "[2] {300, 7}", "")},
       {slice("bool[3,9]", "[1] {0}", "[1] {8}", "a = constant i64[1] {1}\nt = constant i64[1] {2}")}});
}

TEST(Movement, ReshapesCopy) {
  expect_cases({{one_node("f32[2,3,4]", "Reshape(x0, s)", "s = constant i64[2] {6, -1}")},
                {one_node("f32[2,3,4]", "Flatten(x0)")},
                {one_node("f32[1,3,1]", "Squeeze(x0)")},
                {one_node("i64[3]", "Unsqueeze(x0, a)", "a = constant i64[2] {0, 2}")},
                {one_node("f32[70000]", "Identity(x0)")},
                {one_node("f32[5]", "Dropout(x0)")}});
}

TEST(Movement, ExpandAndTile) {
  expect_cases({{one_node("f32[3,1]", "Expand(x0, s)", "s = constant i64[3] {2, 3, 5}")},
                {one_node("f32[1]", "Expand(x0, s)", "s = constant i64[2] {40, 600}")},
                {one_node("u8[2,3]", "Tile(x0, s)", "s = constant i64[2] {3, 2}")},
                {one_node("f32[2,1,4]", "Tile(x0, s)", "s = constant i64[3] {1, 5, 2}")},
                {one_node("f32[2]", "Tile(x0, s)", "s = constant i64[1] {0}")}});
}

TEST(Movement, BlocksOfDepth) {
  expect_cases({{one_node("f32[2,8,3,5]", "DepthToSpace(x0) {blocksize=2}")},
                {one_node("f32[1,18,4,4]", "DepthToSpace(x0) {blocksize=3, mode=\"CRD\"}")},
                {one_node("f32[1,9,56,56]", "DepthToSpace(x0) {blocksize=3, mode=\"CRD\"}")},
                {one_node("f32[2,3,4,6]", "SpaceToDepth(x0) {blocksize=2}")}});
}

TEST(Movement, PadInEveryMode) {
  const auto pad = [](const char* type, const char* pads, const char* rest, const char* attributes) {
    return one_node(type, std::string("Pad(x0, p") + (*rest ? ", v)" : ")") + attributes,
                    std::string("p = constant i64") + pads + "\n" + rest);
  };
  expect_cases(
      {{pad("f32[2,3,4]", "[6] {1, 0, 2, 0, 1, 3}", "", "")},
       {pad("f32[2,3,4]", "[6] {1, 0, 2, 0, 1, 3}", "v = constant f32[] {1.5}", "")},
       {pad("f32[4,5]", "[4] {2, 3, 1, 4}", "", " {mode=\"reflect\"}")},
       {pad("f32[4,5]", "[4] {2, 3, 1, 9}", "", " {mode=\"edge\"}")},
       {pad("i64[4,5]", "[4] {5, 3, 1, 11}", "", " {mode=\"wrap\"}")},
       {pad("u8[6,5]", "[4] {-1, 2, -2, -1}", "v = constant u8[] {7}", "")},
       {pad("f32[6,5]", "[4] {-1, 2, 2, -1}", "", " {mode=\"reflect\"}")},
       {pad("f32[1,3,60,60]", "[8] {0, 0, 1, 1, 0, 0, 1, 1}", "", "")},
       {one_node("f32[2,3,4] f32[]", "Pad(x0, p, x1)", "p = constant i64[6] {1, 0, 2, 0, 1, 3}")},
       {one_node("i64[6,5] i64[1]", "Pad(x0, p, x1)", "p = constant i64[4] {-1, 2, -2, -1}"), 0, -50, 50},
       {one_node("u8[6,5] u8[]", "Pad(x0, p, x1)", "p = constant i64[4] {1, 2, 3, 4}"), 0, 0, 200},
       {one_node("f32[4,5] f32[]", "Pad(x0, p, x1) {mode=\"edge\"}", "p = constant i64[4] {2, 3, 1, 9}")},
       {one_node("f32[3,4]", "Pad(x0, p, _, a)", "p = constant i64[2] {1, 2}\na = constant i64[1] {-1}")}});
}

TEST(Movement, ConcatAndSplit) {
  expect_cases({{one_node("f32[2,3,4] f32[2,1,4] f32[2,5,4]", "Concat(x0, x1, x2) {axis=1}")},
                {one_node("i64[3] i64[1]", "Concat(x0, x1) {axis=-1}")},
                {one_node("u8[2,3] u8[2,0]", "Concat(x0, x1) {axis=1}")},
                {one_node("f32[30,50,20] f32[30,50,20]", "Concat(x0, x1) {axis=0}")},
                {one_node("f32[4,5]", "Concat(x0) {axis=0}")},
                {one_node("f32[2,7,3]", "Split(x0, s) {axis=1}", "s = constant i64[3] {2, 1, 4}", "a,b,c")},
                {one_node("f32[4,6]", "Split(x0) {axis=-1}", "", "a,b,c")},
                {one_node("f32[9000,2] f32[9000,1] f32[9000,4]", "Concat(x0, x1, x2) {axis=1}")},
                {one_node("f32[9000,7]", "Split(x0, s) {axis=1}", "s = constant i64[3] {2, 1, 4}", "a,b,c")},
                {one_node("f32[3000,3]", "Split(x0, s) {axis=1}", "s = constant i64[2] {3, 0}", "a,b")},
                {one_node("f32[900,85]", "Split(x0, s) {axis=1}", "s = constant i64[3] {2, 2, 81}", "a,b,c")},
                {"x = input f32[2,6]\na, _, c = Split(x) {axis=1}\noutput a\noutput c\n"}});
}

TEST(Movement, Gather) {
  expect_cases({{one_node("f32[2,5,3]", "Gather(x0, i) {axis=1}", "i = constant i64[2,2] {0, -1, 4, 2}")},
                {one_node("f32[4,3]", "Gather(x0, i)", "i = constant i64[] {2}")},
                {one_node("u8[6]", "Gather(x0, i)", "i = constant i32[3] {5, -6, 0}")},
                {one_node("f32[9,40] i64[70]", "Gather(x0, x1)"), 0, -9, 9},
                {one_node("i64[3,2,2] i32[5]", "Gather(x0, x1) {axis=-1}"), 0, -2, 2}});
}

}  // namespace
}  // namespace onepass::test
