// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::Op;

TEST(Reduce, HandComputed) {
  const ir::Tensor x = floats({2, 3}, {1, 5, 3, -4, 2, 6});
  const ir::Tensor last = ints({1}, {-1});
  expect_elements(output_of(Op::ReduceSum, {x, last}), {2, 1}, {9, 4});
  expect_elements(output_of(Op::ReduceMean, {x, last}), {2, 1}, {3, 4.0F / 3});
  expect_elements(output_of(Op::ReduceMax, {x, last}), {2, 1}, {5, 6});
  expect_elements(output_of(Op::ReduceMin, {x, last}), {2, 1}, {1, -4});
  expect_elements(output_of(Op::ReduceProd, {x, last}), {2, 1}, {15, -48});
  expect_elements(output_of(Op::ReduceSum, {x, ints({1}, {0})}, {{"keepdims", int64_t{0}}}), {3}, {-3, 7, 9});
}

TEST(Reduce, OuterAndInnerAxesTogether) {
  const ir::Tensor x = counting({2, 2, 2});
  expect_elements(output_of(Op::ReduceSum, {x, ints({2}, {2, 0})}), {1, 2, 1}, {10, 18});
  expect_elements(output_of(Op::ReduceMax, {x, ints({2}, {0, -1})}, {{"keepdims", int64_t{0}}}), {2}, {5, 7});
}

TEST(Reduce, NoAxes) {
  const ir::Tensor x = counting({2, 2}, 1);
  expect_elements(output_of(Op::ReduceSum, {x}), {1, 1}, {10});
  expect_elements(output_of(Op::ReduceSum, {x, ints({0}, {})}, {{"keepdims", int64_t{0}}}), {}, {10});
  expect_elements(output_of(Op::ReduceSum, {x}, {{"noop_with_empty_axes", int64_t{1}}}), {2, 2},
                  {1, 2, 3, 4});
}

TEST(Reduce, IntegersNanAndEmpty) {
  EXPECT_EQ(values<int64_t>(output_of(Op::ReduceProd, {ints({3}, {2, 3, -4})})), (Ints{-24}));
  EXPECT_EQ(values<int64_t>(output_of(Op::ReduceSum, {ints({3}, {2, 3, -4})})), (Ints{1}));
  EXPECT_EQ(values<int64_t>(output_of(Op::ReduceMean, {ints({2}, {-2, -5})})), (Ints{-3}));
  expect_elements(output_of(Op::ReduceMax, {floats({3}, {1, k_nan, 2})}), {1}, {k_nan});
  const ir::Tensor nothing(ir::DType::f32, {2, 0});
  const ir::Tensor last = ints({1}, {1});
  expect_elements(output_of(Op::ReduceSum, {nothing, last}), {2, 1}, {0, 0});
  expect_elements(output_of(Op::ReduceMin, {nothing, last}), {2, 1}, {k_infinity, k_infinity});
  EXPECT_EQ(refusal(Op::ReduceMax, {ints({0}, {})}), "bad_extent");
}

TEST(Reduce, Refusals) {
  const ir::Tensor x = counting({2, 2});
  EXPECT_EQ(refusal(Op::ReduceSum, {x, ints({1}, {2})}), "bad_axis");
  EXPECT_EQ(refusal(Op::ReduceSum, {x, ints({2}, {1, -1})}), "bad_axis");
  EXPECT_EQ(refusal(Op::ReduceSum, {x, floats({1}, {1})}), "unsupported_type");
  EXPECT_EQ(refusal(Op::ReduceSum, {bools({1}, {true})}), "unsupported_type");
}

TEST(Reduce, AxesMustBeKnownAtCompileTime) {
  const ir::Node node = node_of(Op::ReduceSum);
  const ir::TensorType x{ir::DType::f32, {2, 2}};
  const ir::TensorType axes{ir::DType::i64, {1}};
  const ShapeContext context{node, {&x, &axes}, {nullptr, nullptr}};
  EXPECT_THROW(meaning(Op::ReduceSum).shape(context), Error);
}

TEST(Reduce, CountedAxisSurvivesUnlessReduced) {
  const ir::Node node = node_of(Op::ReduceMax, {{"keepdims", int64_t{0}}});
  const ir::TensorType x{ir::DType::f32, {2, 7, 3}, 1};
  const ir::TensorType axes{ir::DType::i64, {1}};
  const ir::Tensor first = ints({1}, {0});
  const ir::Tensor second = ints({1}, {1});
  EXPECT_EQ(meaning(Op::ReduceMax).shape({node, {&x, &axes}, {nullptr, &first}})[0],
            (ir::TensorType{ir::DType::f32, {7, 3}, 0}));
  EXPECT_EQ(meaning(Op::ReduceMax).shape({node, {&x, &axes}, {nullptr, &second}})[0],
            (ir::TensorType{ir::DType::f32, {2, 3}, -1}));
}

TEST(ArgMax, TiesAxesAndNan) {
  const ir::Tensor x = floats({2, 3}, {1, 7, 7, 4, 0, 4});
  const auto run = [&](AttributeList attributes) {
    return values<int64_t>(output_of(Op::ArgMax, {x}, attributes));
  };
  EXPECT_EQ(run({{"axis", int64_t{1}}}), (Ints{1, 0}));
  EXPECT_EQ(run({{"axis", int64_t{-1}}, {"select_last_index", int64_t{1}}}), (Ints{2, 2}));
  EXPECT_EQ(run({}), (Ints{1, 0, 0}));
  EXPECT_EQ(output_of(Op::ArgMax, {x}, {{"keepdims", int64_t{0}}}).shape(), (ir::Shape{3}));
  EXPECT_EQ(values<int64_t>(output_of(Op::ArgMax, {floats({4}, {1, k_nan, 9, k_nan})})), (Ints{1}));
  EXPECT_EQ(refusal(Op::ArgMax, {x}, {{"axis", int64_t{2}}}), "bad_axis");
  EXPECT_EQ(refusal(Op::ArgMax, {ir::Tensor(ir::DType::f32, {0})}), "bad_extent");
}

}  // namespace
}  // namespace onepass::ops::testing
