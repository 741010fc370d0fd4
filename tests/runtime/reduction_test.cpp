// SPDX-License-Identifier: Apache-2.0
#include "runtime/routine_cases.h"

namespace onepass::test {
namespace {

TEST(Reduction, EveryFunctionOverSeveralAxes) {
  std::vector<RoutineCase> cases;
  for (const std::string op : {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd"}) {
    for (const std::string type : {"f32", "i64", "i32"}) {
      cases.push_back({one_node(type + "[2,3,4,5]", op + "(x0, a)", "a = constant i64[2] {2, 3}"), 0, -3, 4});
      cases.push_back(
          {one_node(type + "[2,3,4,5]", op + "(x0, a) {keepdims=0}", "a = constant i64[2] {0, -2}"), 0, -3,
           4});
    }
    cases.push_back({one_node("f32[3,4]", op + "(x0)")});
    cases.push_back({one_node("f32[3,4]", op + "(x0) {noop_with_empty_axes=1}")});
    cases.push_back({one_node("f32[2,64,50]", op + "(x0, a)", "a = constant i64[1] {1}")});
    cases.push_back({one_node("f32[3,0]", op + "(x0, a)", "a = constant i64[1] {1}")});
    cases.push_back({one_node("f32[50]", op + "(x0)"), 0, -2, 2, true});
  }
  expect_cases(cases);
}

TEST(Reduction, GlobalPools) {
  expect_cases({{one_node("f32[2,3,7,9]", "GlobalAveragePool(x0)")},
                {one_node("f32[2,3,7,9]", "GlobalMaxPool(x0)")},
                {one_node("f32[1,70,5]", "GlobalAveragePool(x0)")},
                {one_node("f32[1,2,3,4,5]", "GlobalMaxPool(x0)"), 0, -2, 2, true}});
}

TEST(Reduction, Softmax) {
  std::vector<RoutineCase> cases;
  for (const std::string op : {"Softmax", "LogSoftmax"}) {
    cases.push_back({one_node("f32[3,10]", op + "(x0)"), 2e-7, -9, 9});
    cases.push_back({one_node("f32[2,21,6,5]", op + "(x0) {axis=1}"), 2e-7, -90, 90});
    cases.push_back({one_node("f32[1,3000]", op + "(x0) {axis=-1}"), 2e-7, -9, 9});
    cases.push_back({one_node("f32[4,1]", op + "(x0)")});
    cases.push_back({one_node("f32[0,3]", op + "(x0)")});
    cases.push_back({one_node("f32[]  f32[]", "Add(x0, x1)")});
  }
  expect_cases(cases);
}

TEST(Reduction, LocalResponse) {
  expect_cases({{one_node("f32[2,7,3,4]", "LRN(x0) {size=5, alpha=0.02, beta=0.6, bias=2.0}"), 1e-6},
                {one_node("f32[1,4,6]", "LRN(x0) {size=2}"), 1e-6}});
}

TEST(Reduction, ArgMax) {
  std::vector<RoutineCase> cases;
  for (const std::string type : {"f32", "i64", "i32", "i8", "u8"}) {
    cases.push_back({one_node(type + "[3,9,4]", "ArgMax(x0) {axis=1}"), 0, 0, 5});
    cases.push_back(
        {one_node(type + "[3,9]", "ArgMax(x0) {axis=-1, keepdims=0, select_last_index=1}"), 0, 0, 5});
  }
  cases.push_back({one_node("f32[4,30]", "ArgMax(x0) {axis=1}"), 0, -2, 2, true});
  expect_cases(cases);
}

}  // namespace
}  // namespace onepass::test
