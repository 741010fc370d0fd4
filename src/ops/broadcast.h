// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <utility>

#include "ops/reference_support.h"

namespace onepass::ops {

/// Strides, in elements, that read a dense tensor of `shape` as if it had the shape `dst`: 0 along broadcast
/// axes. Axes are aligned at the last one.
ir::Shape broadcast_strides(const ir::Shape& shape, const ir::Shape& dst);

/// Walks several arrays together. `strides[k]` has one stride per axis of `extents`.
struct Walk {
  ir::Shape extents;
  std::vector<ir::Shape> strides;
};

/// The same walk with as few axes as possible and at least one: neighbours that step alike become one.
Walk merged(const Walk& walk);

/// One innermost row of a walk: operand k is read at offsets[k] + i * steps[k], i < length.
template <size_t N>
struct WalkRow {
  std::array<int64_t, N> offsets{};
  std::array<int64_t, N> steps{};
  int64_t length = 0;
};

/// Calls body(row) for each innermost row, in row-major order.
template <size_t N, class Body>
void for_each_row(const Walk& walk, Body body) {
  const Walk w = merged(walk);
  const size_t last = w.extents.size() - 1;
  if (ir::element_count(w.extents) == 0) return;
  WalkRow<N> row;
  row.length = w.extents[last];
  for (size_t k = 0; k < N; ++k) row.steps[k] = w.strides[k][last];
  ir::Shape index(last, 0);
  while (true) {
    body(std::as_const(row));
    size_t axis = last;
    for (; axis-- > 0;) {
      const bool wraps = ++index[axis] == w.extents[axis];
      if (wraps) index[axis] = 0;
      for (size_t k = 0; k < N; ++k) row.offsets[k] += w.strides[k][axis] * (wraps ? 1 - w.extents[axis] : 1);
      if (!wraps) break;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

/// dst[i] = function(a[i], b[i]) under numpy broadcasting. dst may be a itself.
template <class A, class B, class R, class Function>
void zip(const ir::Tensor& a, const ir::Tensor& b, ir::Tensor& dst, Function function) {
  const Walk walk{dst.shape(),
                  {ir::row_major_strides(dst.shape()), broadcast_strides(a.shape(), dst.shape()),
                   broadcast_strides(b.shape(), dst.shape())}};
  const A* a_elems = elements<A>(a);
  const B* b_elems = elements<B>(b);
  R* dst_elems = elements<R>(dst);
  for_each_row<3>(walk, [&](const WalkRow<3>& row) {
    for (int64_t i = 0; i < row.length; ++i)
      dst_elems[row.offsets[0] + i] =
          function(a_elems[row.offsets[1] + i * row.steps[1]], b_elems[row.offsets[2] + i * row.steps[2]]);
  });
}

}  // namespace onepass::ops
