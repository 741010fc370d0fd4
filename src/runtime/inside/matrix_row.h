// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/inside/routine.h"

namespace onepass::inside {

/// dst[n] = sum over k, in order, of a[k * a_step] * b[k * b_row + n * b_column].
struct RowProduct {
  int64_t columns, depth;
  int64_t a_step, b_row, b_column;
};

/// Eight columns of a transposed b side by side, so that their sums do not wait for one another.
inline void dot_columns(const RowProduct& product, const float* a, const float* b, float* dst) {
  constexpr int64_t k_columns = 8;
  int64_t n = 0;
  for (; n + k_columns <= product.columns; n += k_columns) {
    float sums[k_columns] = {};
    for (int64_t k = 0; k < product.depth; ++k)
      for (int64_t j = 0; j < k_columns; ++j)
        sums[j] += a[k * product.a_step] * b[k * product.b_row + (n + j) * product.b_column];
    for (int64_t j = 0; j < k_columns; ++j) dst[n + j] = sums[j];
  }
  for (; n < product.columns; ++n) {
    float sum = 0;
    for (int64_t k = 0; k < product.depth; ++k)
      sum += a[k * product.a_step] * b[k * product.b_row + n * product.b_column];
    dst[n] = sum;
  }
}

inline void multiply_row(const RowProduct& product, const float* a, const float* b, float* dst) {
  if (product.b_column != 1) return dot_columns(product, a, b, dst);
  for (int64_t n = 0; n < product.columns; ++n) dst[n] = 0;
  for (int64_t k = 0; k < product.depth; ++k) {
    const float scale = a[k * product.a_step];
    const float* row = b + k * product.b_row;
    for (int64_t n = 0; n < product.columns; ++n) dst[n] += scale * row[n];
  }
}

inline RowProduct take_row_product(Params& params) {
  RowProduct product{};
  product.columns = params.take();
  product.depth = params.take();
  product.a_step = params.take();
  product.b_row = params.take();
  product.b_column = params.take();
  return product;
}

}  // namespace onepass::inside
