// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::Op;

TEST(Gemm, HandComputed) {
  const ir::Tensor a = floats({2, 3}, {1, 2, 3, 4, 5, 6});
  const ir::Tensor b = floats({3, 2}, {1, 10, 2, 20, 3, 30});
  const ir::Tensor c = floats({2}, {100, 1000});
  expect_elements(output_of(Op::Gemm, {a, b}), {2, 2}, {14, 140, 32, 320});
  expect_elements(output_of(Op::Gemm, {a, b, c}, {{"alpha", 0.5}, {"beta", 2.0}}), {2, 2},
                  {207, 2070, 216, 2160});
  expect_elements(output_of(Op::Gemm, {a, b, floats({2, 1}, {1, 2})}), {2, 2}, {15, 141, 34, 322});
}

TEST(Gemm, Transposed) {
  const ir::Tensor a = floats({3, 2}, {1, 4, 2, 5, 3, 6});
  const ir::Tensor b = floats({2, 3}, {1, 2, 3, 10, 20, 30});
  expect_elements(output_of(Op::Gemm, {a, b}, {{"transA", int64_t{1}}, {"transB", int64_t{1}}}), {2, 2},
                  {14, 140, 32, 320});
}

TEST(Gemm, ManyPanels) {
  const ir::Tensor a = filled({6, 9}, 1);
  const ir::Tensor b = counting({9, 150});
  const ir::Tensor y = output_of(Op::Gemm, {a, b});
  for (int64_t i = 0; i < y.size(); ++i) ASSERT_EQ(y.data<float>()[i], 9.0F * (i % 150) + 36 * 150) << i;
}

TEST(Gemm, Refusals) {
  const ir::Tensor a = filled({2, 3}, 1);
  EXPECT_EQ(refusal(Op::Gemm, {a, a}), "bad_operands");
  EXPECT_EQ(refusal(Op::Gemm, {a, filled({3}, 1)}), "bad_rank");
  EXPECT_EQ(refusal(Op::Gemm, {a, filled({3, 4}, 1), filled({5}, 1)}), "not_broadcastable");
  EXPECT_EQ(refusal(Op::Gemm, {a, filled({3, 4}, 1), filled({1, 1, 1}, 1)}), "not_broadcastable");
  EXPECT_EQ(refusal(Op::Gemm, {ints({1, 1}, {1}), ints({1, 1}, {1})}), "unsupported_type");
}

TEST(MatMul, BroadcastsBatches) {
  const ir::Tensor a = floats({2, 1, 1, 2}, {1, 2, 3, 4});
  const ir::Tensor b = floats({3, 2, 1}, {1, 10, 2, 20, 3, 30});
  expect_elements(output_of(Op::MatMul, {a, b}), {2, 3, 1, 1}, {21, 42, 63, 43, 86, 129});
}

TEST(MatMul, OneAxis) {
  const ir::Tensor row = floats({2}, {1, 10});
  expect_elements(output_of(Op::MatMul, {row, row}), {}, {101});
  expect_elements(output_of(Op::MatMul, {row, counting({2, 3})}), {3}, {30, 41, 52});
  expect_elements(output_of(Op::MatMul, {counting({3, 2}), row}), {3}, {10, 32, 54});
  expect_elements(output_of(Op::MatMul, {row, counting({2, 2, 1})}), {2, 1}, {10, 32});
}

TEST(MatMul, Refusals) {
  EXPECT_EQ(refusal(Op::MatMul, {filled({2, 3}, 1), filled({2, 3}, 1)}), "bad_operands");
  EXPECT_EQ(refusal(Op::MatMul, {filled({2, 2, 3}, 1), filled({3, 3, 2}, 1)}), "not_broadcastable");
  EXPECT_EQ(refusal(Op::MatMul, {filled({}, 1), filled({2}, 1)}), "bad_rank");
}

}  // namespace
}  // namespace onepass::ops::testing
