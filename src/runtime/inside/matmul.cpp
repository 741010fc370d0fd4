// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/matrix_row.h"
#include "runtime/inside/routines.h"
#include "runtime/inside/row_walk.h"

using namespace onepass;

void onepass_matmul_f32(const Call* call, int64_t begin, int64_t end) {
  inside::Params params(call);
  const inside::RowProduct product = inside::take_row_product(params);
  const int64_t rows = params.take();
  const int64_t a_row = params.take();
  const auto batches = inside::take_row_walk<2>(params);
  const inside::Range range = inside::units(call, begin, end);
  for (int64_t unit = range.begin; unit < range.end; ++unit) {
    const int64_t batch = unit / rows;
    const inside::RowCursor<2> at(batches, batch / batches.inner());
    const int64_t column = batch % batches.inner();
    const float* a = inside::src_of<float>(call, 0) + at.offsets[0] + column * batches.step(0);
    const float* b = inside::src_of<float>(call, 1) + at.offsets[1] + column * batches.step(1);
    float* dst = inside::dst_of<float>(call, 2) + unit * product.columns;
    inside::multiply_row(product, a + unit % rows * a_row, b, dst);
  }
}

void onepass_gemm_f32(const Call* call, int64_t begin, int64_t end) {
  inside::Params params(call);
  const inside::RowProduct product = inside::take_row_product(params);
  const int64_t a_row = params.take();
  const float alpha = params.take_float();
  const float beta = params.take_float();
  const bool has_addend = params.take() != 0;
  const int64_t addend_row = params.take();
  const int64_t addend_column = params.take();
  const inside::Range rows = inside::units(call, begin, end);
  for (int64_t m = rows.begin; m < rows.end; ++m) {
    float* dst = inside::dst_of<float>(call, has_addend ? 3 : 2) + m * product.columns;
    inside::multiply_row(product, inside::src_of<float>(call, 0) + m * a_row, inside::src_of<float>(call, 1),
                         dst);
    for (int64_t n = 0; n < product.columns; ++n) dst[n] *= alpha;
    if (!has_addend) continue;
    const float* addend = inside::src_of<float>(call, 2) + m * addend_row;
    for (int64_t n = 0; n < product.columns; ++n) dst[n] += beta * addend[n * addend_column];
  }
}
