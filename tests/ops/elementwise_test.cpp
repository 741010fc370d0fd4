// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::Op;

std::vector<bool> truths(const ir::Tensor& tensor) {
  return {tensor.data<bool>().begin(), tensor.data<bool>().end()};
}

TEST(Arithmetic, HandComputed) {
  const ir::Tensor a = floats({3}, {1, 4, -9});
  const ir::Tensor b = floats({3}, {2, -8, 0.5});
  expect_elements(output_of(Op::Add, {a, b}), {3}, {3, -4, -8.5});
  expect_elements(output_of(Op::Sub, {a, b}), {3}, {-1, 12, -9.5});
  expect_elements(output_of(Op::Mul, {a, b}), {3}, {2, -32, -4.5});
  expect_elements(output_of(Op::Div, {a, b}), {3}, {0.5, -0.5, -18});
  expect_elements(output_of(Op::Pow, {floats({3}, {2, -3, 4}), floats({3}, {3, 2, -0.5})}), {3}, {8, 9, 0.5});
  expect_elements(output_of(Op::Min, {a, b}), {3}, {1, -8, -9});
  expect_elements(output_of(Op::Max, {a, b}), {3}, {2, 4, 0.5});
  expect_elements(output_of(Op::Mod, {floats({2}, {-5, 5.5}), floats({2}, {3, -2})}, {{"fmod", int64_t{1}}}),
                  {2}, {-2, 1.5});
  expect_elements(output_of(Op::Mod, {floats({3}, {-5, 5.5, 5}), floats({3}, {3, -2, 4})}), {3},
                  {1, -0.5, 1});
  expect_elements(output_of(Op::Div, {floats({2}, {1, 0}), floats({2}, {0, 0})}), {2}, {k_infinity, k_nan});
}

TEST(Arithmetic, Broadcasts) {
  const ir::Tensor x = counting({2, 2, 3});
  expect_elements(output_of(Op::Add, {x, floats({2, 1}, {100, 200})}), {2, 2, 3},
                  {100, 101, 102, 203, 204, 205, 106, 107, 108, 209, 210, 211});
  expect_elements(output_of(Op::Sub, {floats({}, {10}), counting({2, 1})}), {2, 1}, {10, 9});
  expect_elements(output_of(Op::Mul, {floats({2, 1}, {1, 10}), floats({1, 3}, {1, 2, 3})}), {2, 3},
                  {1, 2, 3, 10, 20, 30});
  expect_elements(output_of(Op::Add, {counting({2, 1, 2}), counting({3, 1}, 10)}), {2, 3, 2},
                  {10, 11, 11, 12, 12, 13, 12, 13, 13, 14, 14, 15});
  EXPECT_EQ(output_of(Op::Add, {ir::Tensor(ir::DType::f32, {0, 2}), floats({1, 2}, {1, 2})}).shape(),
            (ir::Shape{0, 2}));
}

TEST(Arithmetic, AnyNumberOfOperands) {
  const ir::Tensor a = floats({2}, {1, 5});
  const ir::Tensor b = floats({}, {3});
  const ir::Tensor c = floats({2, 1}, {2, 4});
  expect_elements(output_of(Op::Sum, {a, b, c}), {2, 2}, {6, 10, 8, 12});
  expect_elements(output_of(Op::Min, {a, b, c}), {2, 2}, {1, 2, 1, 3});
  expect_elements(output_of(Op::Max, {a, b, c}), {2, 2}, {3, 5, 4, 5});
  expect_elements(output_of(Op::Max, {a}), {2}, {1, 5});
}

TEST(Arithmetic, ExtremesKeepNan) {
  const ir::Tensor a = floats({2}, {k_nan, 1});
  const ir::Tensor b = floats({2}, {1, k_nan});
  expect_elements(output_of(Op::Min, {a, b}), {2}, {k_nan, k_nan});
  expect_elements(output_of(Op::Max, {a, b}), {2}, {k_nan, k_nan});
}

TEST(Arithmetic, Integers) {
  const ir::Tensor a = ints({4}, {7, -7, 7, -7});
  const ir::Tensor b = ints({4}, {2, 2, -2, -2});
  EXPECT_EQ(values<int64_t>(output_of(Op::Div, {a, b})), (Ints{3, -3, -3, 3}));
  EXPECT_EQ(values<int64_t>(output_of(Op::Mod, {a, b})), (Ints{1, 1, -1, -1}));
  EXPECT_EQ(values<int64_t>(output_of(Op::Mod, {a, b}, {{"fmod", int64_t{1}}})), (Ints{1, -1, 1, -1}));
  EXPECT_EQ(values<int64_t>(output_of(Op::Pow, {a, ints({}, {3})})), (Ints{343, -343, 343, -343}));
  EXPECT_EQ(values<int64_t>(output_of(Op::Pow, {a, ints({}, {-1})})), (Ints{0, 0, 0, 0}));
  EXPECT_EQ(values<int64_t>(output_of(Op::Pow, {ints({1}, {9}), floats({}, {0.5})})), (Ints{3}));
  expect_elements(output_of(Op::Pow, {floats({1}, {1.5}), ints({}, {2})}), {1}, {2.25});
  const ir::Tensor bytes =
      output_of(Op::Add, {tensor<uint8_t>({2}, {250, 1}), tensor<uint8_t>({2}, {10, 1})});
  EXPECT_EQ(values<uint8_t>(bytes), (std::vector<uint8_t>{4, 2}));
  const ir::Tensor product = output_of(Op::Mul, {tensor<int32_t>({1}, {1 << 30}), tensor<int32_t>({1}, {4})});
  EXPECT_EQ(values<int32_t>(product), (std::vector<int32_t>{0}));
}

TEST(Arithmetic, SmallestIntegerOverMinusOneWraps) {
  const ir::Tensor smallest = tensor<int32_t>({1}, {std::numeric_limits<int32_t>::min()});
  const ir::Tensor minus_one = tensor<int32_t>({1}, {-1});
  EXPECT_EQ(values<int32_t>(output_of(Op::Div, {smallest, minus_one})), values<int32_t>(smallest));
  EXPECT_EQ(values<int32_t>(output_of(Op::Mod, {smallest, minus_one})), (std::vector<int32_t>{0}));
}

TEST(Arithmetic, Refusals) {
  const ir::Tensor x = floats({2}, {1, 2});
  EXPECT_EQ(refusal(Op::Add, {x}), "missing_input");
  EXPECT_EQ(refusal(Op::Add, {x, x, x}), "too_many_inputs");
  EXPECT_EQ(refusal(Op::Add, {x, floats({3}, {1, 2, 3})}), "not_broadcastable");
  EXPECT_EQ(refusal(Op::Add, {x, ints({2}, {1, 2})}), "unsupported_type");
  EXPECT_EQ(refusal(Op::Add, {bools({1}, {true}), bools({1}, {true})}), "unsupported_type");
  EXPECT_EQ(refusal(Op::Sum, {ints({1}, {1})}), "unsupported_type");
  EXPECT_EQ(refusal(Op::Div, {ints({1}, {1}), ints({1}, {0})}), "division_by_zero");
  EXPECT_EQ(refusal(Op::Mod, {ints({1}, {1}), ints({1}, {0})}), "division_by_zero");
  EXPECT_EQ(
      refusal(Op::Mul, {ir::Tensor(ir::DType::f32, {1 << 16, 1}), ir::Tensor(ir::DType::f32, {1, 1 << 16})}),
      "too_large");
}

TEST(PRelu, SlopeBroadcastsToX) {
  const ir::Tensor x = floats({1, 2, 2}, {-1, 2, -3, 4});
  expect_elements(output_of(Op::PRelu, {x, floats({2, 1}, {0.5, 2})}), {1, 2, 2}, {-0.5, 2, -6, 4});
  EXPECT_EQ(refusal(Op::PRelu, {floats({1}, {1}), floats({2}, {1, 2})}), "not_broadcastable");
}

TEST(Logic, Comparisons) {
  const ir::Tensor a = floats({4}, {1, 2, 3, k_nan});
  const ir::Tensor b = floats({4}, {2, 2, 2, k_nan});
  EXPECT_THAT(truths(output_of(Op::Equal, {a, b})), ::testing::ElementsAre(false, true, false, false));
  EXPECT_THAT(truths(output_of(Op::Greater, {a, b})), ::testing::ElementsAre(false, false, true, false));
  EXPECT_THAT(truths(output_of(Op::GreaterOrEqual, {a, b})),
              ::testing::ElementsAre(false, true, true, false));
  EXPECT_THAT(truths(output_of(Op::Less, {a, b})), ::testing::ElementsAre(true, false, false, false));
  EXPECT_THAT(truths(output_of(Op::LessOrEqual, {a, b})), ::testing::ElementsAre(true, true, false, false));
  EXPECT_THAT(truths(output_of(Op::Equal, {bools({2}, {true, false}), bools({1}, {true})})),
              ::testing::ElementsAre(true, false));
  EXPECT_EQ(refusal(Op::Less, {bools({1}, {true}), bools({1}, {true})}), "unsupported_type");
}

TEST(Logic, AndOrNot) {
  const ir::Tensor a = bools({4}, {true, true, false, false});
  const ir::Tensor b = bools({4}, {true, false, true, false});
  EXPECT_THAT(truths(output_of(Op::And, {a, b})), ::testing::ElementsAre(true, false, false, false));
  EXPECT_THAT(truths(output_of(Op::Or, {a, b})), ::testing::ElementsAre(true, true, true, false));
  EXPECT_THAT(truths(output_of(Op::Not, {a})), ::testing::ElementsAre(false, false, true, true));
  EXPECT_EQ(refusal(Op::And, {floats({1}, {1}), floats({1}, {1})}), "unsupported_type");
}

TEST(Where, BroadcastsAllThree) {
  const ir::Tensor condition = bools({2, 1}, {true, false});
  expect_elements(output_of(Op::Where, {condition, floats({2}, {1, 2}), floats({}, {9})}), {2, 2},
                  {1, 2, 9, 9});
  EXPECT_EQ(values<int64_t>(output_of(Op::Where, {condition, ints({}, {1}), ints({}, {2})})), (Ints{1, 2}));
  EXPECT_EQ(refusal(Op::Where, {condition, floats({}, {1}), ints({}, {2})}), "unsupported_type");
  EXPECT_EQ(refusal(Op::Where, {condition, floats({}, {1})}), "missing_input");
}

}  // namespace
}  // namespace onepass::ops::testing
