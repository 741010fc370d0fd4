// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/broadcast.h"
#include "ops/conv_rows.h"
#include "ops/meanings.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

/// A matrix somewhere in memory, transposed or not.
template <class T>
struct Matrix {
  const T* elems;
  int64_t rows, columns;
  int64_t row_step, column_step;
};

template <class T>
Matrix<T> row_major(const T* elems, int64_t rows, int64_t columns) {
  return {elems, rows, columns, columns, 1};
}

template <class T>
Matrix<T> transposed(const Matrix<T>& m) {
  return {m.elems, m.columns, m.rows, m.column_step, m.row_step};
}

/// Copies rows x columns from (row, column) on, dense.
template <class T>
void pack(const Matrix<T>& m, int64_t row, int64_t column, int64_t rows, int64_t columns, T* dst) {
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      *dst++ = m.elems[(row + r) * m.row_step + (column + c) * m.column_step];
}

/// dst = a b, panel by panel of b; each element is summed in the order of k.
template <class T>
void multiply(const Matrix<T>& a, const Matrix<T>& b, T* dst) {
  constexpr int64_t panel_columns = 64;
  const int64_t depth = a.columns;
  std::vector<T> panel(depth * panel_columns + k_row_slack_elems);
  std::vector<T> rows(depth * k_row_channels);
  std::vector<int64_t> offsets(depth);
  for (int64_t n = 0; n < b.columns; n += panel_columns) {
    const int64_t width = std::min(panel_columns, b.columns - n);
    pack(b, 0, n, depth, width, panel.data());
    for (int64_t k = 0; k < depth; ++k) offsets[k] = k * width;
    for (int64_t m = 0; m < a.rows; m += k_row_channels) {
      const int64_t height = std::min(k_row_channels, a.rows - m);
      pack(a, m, 0, height, depth, rows.data());
      sum_rows(RowTask<T>{panel.data(), offsets.data(), depth, rows.data(), depth, dst + m * b.columns + n,
                          b.columns, width},
               height);
    }
  }
}

bool is_transposed(const ir::Node& node, const char* attribute) {
  return node.attributes.get_int(attribute, 0) != 0;
}

std::vector<ir::TensorType> gemm_shape(const ShapeContext& context) {
  require_float(context, 0);
  require_same_dtype(context, 0, 1);
  require_same_dtype(context, 0, 2);
  require_static_extents(context);
  require_rank(context, 0, 2, 2);
  require_rank(context, 1, 2, 2);
  ir::Shape a = context.type(0).dims;
  ir::Shape b = context.type(1).dims;
  if (is_transposed(context.node, "transA")) std::swap(a[0], a[1]);
  if (is_transposed(context.node, "transB")) std::swap(b[0], b[1]);
  if (a[1] != b[0])
    refuse(context.node, "bad_operands",
           fmt::format("{} times {} (after transA, transB)", ir::to_string(a), ir::to_string(b)),
           "[m,k] times [k,n]");
  const ir::TensorType result{context.type(0).dtype, {a[0], b[1]}};
  if (context.has(2) && (context.type(2).dims.size() > 2 ||
                         broadcast_shapes(context.node, result.dims, context.type(2).dims) != result.dims))
    refuse(context.node, "not_broadcastable",
           fmt::format("C {} on {}", ir::to_string(context.type(2)), ir::to_string(result)),
           "a C that broadcasts to [m,n]");
  return one_output(context, result);
}

template <class T>
void gemm(const ir::Node& node, Inputs inputs, Outputs outputs) {
  Matrix<T> a = row_major(elements<T>(*inputs[0]), inputs[0]->shape()[0], inputs[0]->shape()[1]);
  Matrix<T> b = row_major(elements<T>(*inputs[1]), inputs[1]->shape()[0], inputs[1]->shape()[1]);
  if (is_transposed(node, "transA")) a = transposed(a);
  if (is_transposed(node, "transB")) b = transposed(b);
  multiply(a, b, elements<T>(outputs[0]));
  const T alpha = static_cast<T>(node.attributes.get_float("alpha", 1.0));
  const T beta = static_cast<T>(node.attributes.get_float("beta", 1.0));
  for (T& element : outputs[0].data<T>()) element *= alpha;
  if (const ir::Tensor* c = optional_input(inputs, 2))
    zip<T, T, T>(outputs[0], *c, outputs[0], [=](T product, T addend) { return product + beta * addend; });
}

/// Operands of a MatMul as batches of matrices: a 1-D operand is a row on the left, a column on the right.
struct MatMulShapes {
  ir::Shape batch_a, batch_b, batch;
  int64_t m, k_a, k_b, n;
};

MatMulShapes matmul_shapes(const ir::Node& node, ir::Shape a, ir::Shape b) {
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  MatMulShapes s{{a.begin(), a.end() - 2},
                 {b.begin(), b.end() - 2},
                 {},
                 a[a.size() - 2],
                 a.back(),
                 b[b.size() - 2],
                 b.back()};
  s.batch = broadcast_shapes(node, s.batch_a, s.batch_b);
  return s;
}

std::vector<ir::TensorType> matmul_shape(const ShapeContext& context) {
  require_float(context, 0);
  require_same_dtype(context, 0, 1);
  require_static_extents(context);
  require_rank(context, 0, 1, 8);
  require_rank(context, 1, 1, 8);
  const ir::TensorType& a = context.type(0);
  const ir::TensorType& b = context.type(1);
  const MatMulShapes s = matmul_shapes(context.node, a.dims, b.dims);
  if (s.k_a != s.k_b)
    refuse(context.node, "bad_operands", fmt::format("{} times {}", ir::to_string(a), ir::to_string(b)),
           "[...,m,k] times [...,k,n]");
  ir::TensorType result{a.dtype, s.batch};
  if (a.dims.size() > 1) result.dims.push_back(s.m);
  if (b.dims.size() > 1) result.dims.push_back(s.n);
  return one_output(context, std::move(result));
}

template <class T>
void matmul(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const MatMulShapes s = matmul_shapes(node, inputs[0]->shape(), inputs[1]->shape());
  const Walk walk{s.batch, {broadcast_strides(s.batch_a, s.batch), broadcast_strides(s.batch_b, s.batch)}};
  T* dst = elements<T>(outputs[0]);
  for_each_row<2>(walk, [&](const WalkRow<2>& row) {
    for (int64_t i = 0; i < row.length; ++i, dst += s.m * s.n) {
      const T* a = elements<T>(*inputs[0]) + (row.offsets[0] + i * row.steps[0]) * s.m * s.k_a;
      const T* b = elements<T>(*inputs[1]) + (row.offsets[1] + i * row.steps[1]) * s.k_b * s.n;
      multiply(row_major(a, s.m, s.k_a), row_major(b, s.k_b, s.n), dst);
    }
  });
}

}  // namespace

const Meaning k_meaning_Gemm{gemm_shape, gemm<float>, gemm<double>};
const Meaning k_meaning_MatMul{matmul_shape, matmul<float>, matmul<double>};

}  // namespace onepass::ops
