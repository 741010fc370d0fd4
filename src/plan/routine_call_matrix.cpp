// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

namespace {

using ir::DType;

/// A dense matrix, transposed or not.
struct Matrix {
  int64_t rows, columns, row_step, column_step;
};

Matrix matrix_of(int64_t rows, int64_t columns, bool transposed) {
  Matrix matrix{rows, columns, columns, 1};
  if (transposed) {
    std::swap(matrix.rows, matrix.columns);
    std::swap(matrix.row_step, matrix.column_step);
  }
  return matrix;
}

Ints row_product(const Matrix& a, const Matrix& b) {
  return {b.columns, a.columns, a.column_step, b.row_step, b.column_step};
}

/// Strides of the batch axes of an operand, in elements, broadcast to `batch`.
Ints batch_strides(const ir::Shape& dims, const ir::Shape& batch) {
  const ir::Shape own(dims.begin(), dims.end() - 2);
  Ints strides = broadcast_strides(own, batch);
  for (int64_t& stride : strides) stride *= dims[dims.size() - 2] * dims.back();
  return strides;
}

ir::Shape wider(const ir::Shape& a, const ir::Shape& b) {
  ir::Shape result = a.size() >= b.size() ? a : b;
  const ir::Shape& other = a.size() >= b.size() ? b : a;
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& extent = result[result.size() - other.size() + i];
    if (extent == 1) extent = other[i];
  }
  return result;
}

}  // namespace

std::optional<RoutineCall> matmul(const NodeView& view) {
  if (view.type(0).dtype != DType::f32) return std::nullopt;
  ir::Shape a = view.dims(0);
  ir::Shape b = view.dims(1);
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  const Matrix left = matrix_of(a[a.size() - 2], a.back(), false);
  const Matrix right = matrix_of(b[b.size() - 2], b.back(), false);
  IndexSpace batches{.dims = wider({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2}), .strides = {}};
  batches.strides = {batch_strides(a, batches.dims), batch_strides(b, batches.dims)};
  const int64_t batch_count = ir::element_count(batches.dims);
  batches.merge_axes();
  if (!batches.fits()) return std::nullopt;
  RoutineCall call = call_of(view, "onepass_matmul_f32", {0, 1});
  append(call.params, row_product(left, right));
  append(call.params, {left.rows, left.row_step});
  batches.append_to(call.params);
  set_work(call, batch_count * left.rows, left.columns * right.columns);
  return call;
}

std::optional<RoutineCall> gemm(const NodeView& view) {
  if (view.type(0).dtype != DType::f32) return std::nullopt;
  const Matrix a = matrix_of(view.dims(0)[0], view.dims(0)[1], view.attribute("transA", 0) != 0);
  const Matrix b = matrix_of(view.dims(1)[0], view.dims(1)[1], view.attribute("transB", 0) != 0);
  RoutineCall call = call_of(view, "onepass_gemm_f32", {0, 1});
  if (view.has(2)) call.inputs.push_back(view.node().inputs[2]);
  const Ints addend = view.has(2) ? broadcast_strides(view.dims(2), view.result().dims) : Ints{0, 0};
  const ir::Attributes& attributes = view.node().attributes;
  append(call.params, row_product(a, b));
  append(call.params, {a.row_step, bits(attributes.get_float("alpha", 1)),
                       bits(attributes.get_float("beta", 1)), view.has(2), addend[0], addend[1]});
  set_work(call, a.rows, a.columns * b.columns);
  return call;
}

}  // namespace onepass::plan::routines
