// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/inside/routine.h"

namespace onepass::inside {

/// Elements of a row-major index space, read from N operands with strides of their own (in elements).
template <int N>
struct RowWalk {
  int64_t rank;
  const int64_t* dims;
  const int64_t* strides[N];

  int64_t inner() const { return dims[rank - 1]; }
  int64_t step(int operand) const { return strides[operand][rank - 1]; }
};

/// Reads rank, dims[rank] and N times strides[rank].
template <int N>
RowWalk<N> take_row_walk(Params& params) {
  RowWalk<N> walk{};
  walk.rank = params.take();
  walk.dims = params.take(walk.rank);
  for (int operand = 0; operand < N; ++operand) walk.strides[operand] = params.take(walk.rank);
  return walk;
}

/// A place in the index space: the index of a row (all axes but the last) and where each operand's row
/// starts.
template <int N>
struct RowCursor {
  const RowWalk<N>& walk;
  int64_t index[k_max_axes] = {};
  int64_t offsets[N] = {};

  RowCursor(const RowWalk<N>& over, int64_t row) : walk(over) {
    for (int64_t axis = walk.rank - 2; axis >= 0; --axis) {
      index[axis] = row % walk.dims[axis];
      row /= walk.dims[axis];
      for (int operand = 0; operand < N; ++operand)
        offsets[operand] += index[axis] * walk.strides[operand][axis];
    }
  }

  void next() {
    for (int64_t axis = walk.rank - 2; axis >= 0; --axis) {
      const bool wraps = ++index[axis] == walk.dims[axis];
      const int64_t move = wraps ? 1 - walk.dims[axis] : 1;
      for (int operand = 0; operand < N; ++operand) offsets[operand] += move * walk.strides[operand][axis];
      if (!wraps) return;
      index[axis] = 0;
    }
  }
};

/// Calls body(offsets[N], position, length) for each stretch of a row within `elems`, where `position` counts
/// elements of the index space and offsets are the operands' at the start of the stretch.
template <int N, class Body>
void for_each_stretch(const RowWalk<N>& walk, Range elems, Body body) {
  if (elems.begin >= elems.end) return;
  const int64_t inner = walk.inner();
  RowCursor<N> cursor(walk, elems.begin / inner);
  int64_t column = elems.begin % inner;
  for (int64_t at = elems.begin; at < elems.end;) {
    const int64_t length = min_of(inner - column, elems.end - at);
    int64_t offsets[N];
    for (int operand = 0; operand < N; ++operand)
      offsets[operand] = cursor.offsets[operand] + column * walk.step(operand);
    body(offsets, at, length);
    at += length;
    column = 0;
    cursor.next();
  }
}

}  // namespace onepass::inside
