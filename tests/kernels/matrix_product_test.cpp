// SPDX-License-Identifier: Apache-2.0
#include "kernels/matrix_product.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/diagnostic.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

std::string label_of(const MatrixProductExtents& e, const targets::Target& target) {
  return std::to_string(e.matrices) + " x " + std::to_string(e.rows) + "x" + std::to_string(e.inner) + "x" +
         std::to_string(e.columns) + (e.one_right ? " one right " : " ") + target.name;
}

/// One fma chain for each element, in the order of the inner extent.
std::vector<float> product_of(const MatrixProductExtents& e, std::span<const float> left,
                              std::span<const float> right) {
  std::vector<float> result;
  for (int64_t n = 0; n < e.matrices; ++n)
    for (int64_t row = 0; row < e.rows; ++row)
      for (int64_t column = 0; column < e.columns; ++column) {
        const float* a = left.data() + (n * e.rows + row) * e.inner;
        const float* b = right.data() + (e.one_right ? 0 : n * e.inner * e.columns) + column;
        float sum = 0;
        for (int64_t k = 0; k < e.inner; ++k) sum = std::fma(a[k], b[k * e.columns], sum);
        result.push_back(sum);
      }
  return result;
}

Case product_case(const MatrixProductExtents& e, const targets::Target& target) {
  const MatrixProductSpec spec = matrix_product_spec(e);
  const std::vector<float> left = random_values(spec.src.elems(), 1);
  const std::vector<float> right = random_values(spec.right.elems(), 2);
  const std::string label = label_of(e, target);
  return {
      label,
      matrix_product("f", spec, target),
      {left, right, empty_map(spec.dst)},
      [=](const Operands& after) { expect_same_bits(product_of(e, left, right), after[2].values, label); }};
}

void run(std::initializer_list<MatrixProductExtents> extents) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const MatrixProductExtents& e : extents) cases.push_back(product_case(e, target));
  run_cases(std::move(cases));
}

}  // namespace

TEST(MatrixProduct, tiles_and_what_is_left_of_them) {
  run({{.rows = 1, .inner = 1, .columns = 1},
       {.rows = 5, .inner = 1, .columns = 16},
       {.rows = 7, .inner = 9, .columns = 8},
       {.rows = 13, .inner = 4, .columns = 49},
       {.rows = 30, .inner = 3, .columns = 131},
       {.rows = 29, .inner = 6, .columns = 1}});
}

TEST(MatrixProduct, several_matrices) {
  run({{.matrices = 3, .rows = 4, .inner = 7, .columns = 19},
       {.matrices = 2, .rows = 9, .inner = 2, .columns = 33, .one_right = true}});
}

TEST(MatrixProduct, several_slices) {
  const MatrixProductExtents large{.matrices = 2, .rows = 61, .inner = 150, .columns = 145};
  run({large});
  for (const targets::Target& target : targets::all())
    EXPECT_GT(matrix_product("f", matrix_product_spec(large), target).slices, 4) << target.name;
}

TEST(MatrixProduct, steps) {
  const MatrixProductExtents e{.matrices = 2, .rows = 9, .inner = 5, .columns = 21};
  MatrixProductSpec spec = matrix_product_spec(e);
  spec.epilogue.steps = {{.kind = EpilogueStep::Kind::binary,
                          .op = ir::Op::Mul,
                          .operand = {.kind = StepOperand::Kind::scalar, .value = 0.25}},
                         {.kind = EpilogueStep::Kind::binary,
                          .op = ir::Op::Add,
                          .operand = {.kind = StepOperand::Kind::per_channel}},
                         {.kind = EpilogueStep::Kind::activation, .activation = {ir::Op::Relu}}};
  const std::vector<float> left = random_values(spec.src.elems(), 1);
  const std::vector<float> right = random_values(spec.right.elems(), 2);
  for (const targets::Target& target : targets::all()) {
    const int64_t padded = (e.columns + target.vector_lanes - 1) / target.vector_lanes * target.vector_lanes;
    const std::vector<float> bias = random_values(padded, 3);
    std::vector<float> expected = product_of(e, left, right);
    for (size_t i = 0; i < expected.size(); ++i)
      expected[i] = std::max(0.0F, expected[i] * 0.25F + bias[i % e.columns]);
    const std::string label = label_of(e, target);
    const Operands after =
        run_case(label, matrix_product("f", spec, target), {left, right, bias, empty_map(spec.dst)});
    expect_same_bits(expected, after[3].values, label);
  }
}

TEST(MatrixProduct, matrices_that_do_not_fit_are_refused) {
  MatrixProductSpec spec = matrix_product_spec({.rows = 3, .inner = 4, .columns = 5});
  spec.right = matrix_product_spec({.rows = 3, .inner = 5, .columns = 5}).right;
  EXPECT_THROW(matrix_product("f", spec, targets::all().front()), InternalError);
}

TEST(MatrixProduct, estimate) {
  const MatrixProductSpec spec = matrix_product_spec({.matrices = 2, .rows = 3, .inner = 4, .columns = 16});
  const Estimate estimate = estimate_matrix_product(spec, targets::all().front());
  EXPECT_EQ(estimate.flops, 2 * 2 * 3 * 4 * 16);
  EXPECT_EQ(estimate.bytes_read, (2 * 3 * 4 + 2 * 4 * 16) * 4);
  EXPECT_EQ(estimate.bytes_written, 2 * 3 * 16 * 4);
  EXPECT_EQ(estimate.weight_bytes, 0);
}

}  // namespace onepass::kernels::test
