// SPDX-License-Identifier: Apache-2.0
//
// Everything that moves elements by a fixed rule: Transpose, Slice, Expand, Tile, DepthToSpace, reshapes.
#include "runtime/inside/routines.h"
#include "runtime/inside/row_walk.h"

namespace onepass::inside {

namespace {

template <class E>
void copy_stretch(const E* src, int64_t step, E* dst, int64_t length) {
  if (step == 1) {
    std::memcpy(dst, src, static_cast<size_t>(length) * sizeof(E));
  } else if (step == 0) {
    const E value = *src;
    for (int64_t i = 0; i < length; ++i) dst[i] = value;
  } else {
    for (int64_t i = 0; i < length; ++i) dst[i] = src[i * step];
  }
}

constexpr int64_t k_block = 8;

/// k_block rows whose sources lie side by side: reads along the source's own rows.
template <class E>
void transpose_block(const E* src, int64_t step, E* dst, int64_t length) {
  for (int64_t i = 0; i < length; ++i)
    for (int64_t row = 0; row < k_block; ++row) dst[row * length + i] = src[i * step + row];
}

/// Whole rows, k_block at a time where they belong to one plane of a transposition.
template <class E>
void copy_rows(const RowWalk<1>& walk, const E* src, E* dst, Range rows) {
  const int64_t inner = walk.inner();
  const int64_t plane_rows = walk.dims[walk.rank - 2];
  RowCursor<1> cursor(walk, rows.begin);
  for (int64_t row = rows.begin; row < rows.end;) {
    const E* from = src + cursor.offsets[0];
    const bool block = row + k_block <= rows.end && cursor.index[walk.rank - 2] + k_block <= plane_rows;
    const int64_t count = block ? k_block : 1;
    if (block)
      transpose_block(from, walk.step(0), dst + row * inner, inner);
    else
      copy_stretch(from, walk.step(0), dst + row * inner, inner);
    for (int64_t i = 0; i < count; ++i) cursor.next();
    row += count;
  }
}

constexpr int64_t k_short_row = 16;

/// Rows of a few neighbouring elements: a call for each takes longer than they do.
template <class E>
void copy_short_rows(const RowWalk<1>& walk, const E* src, E* dst, Range rows) {
  const int64_t inner = walk.inner(), stride = walk.strides[0][0];
  const E* from = src + rows.begin * stride;
  E* to = dst + rows.begin * inner;
  const int64_t count = rows.end - rows.begin;
  if (inner == 2) {
    for (int64_t row = 0; row < count; ++row)
      for (int64_t i = 0; i < 2; ++i) to[row * 2 + i] = from[row * stride + i];
  } else {
    for (int64_t row = 0; row < count; ++row)
      for (int64_t i = 0; i < inner; ++i) to[row * inner + i] = from[row * stride + i];
  }
}

template <class E>
void copy(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const int64_t first = params.take();
  const RowWalk<1> walk = take_row_walk<1>(params);
  const E* src = src_of<E>(call, 0) + first;
  E* dst = dst_of<E>(call, 1);
  const Range elems = units(call, slice_begin, slice_end);
  const int64_t inner = walk.inner();
  const bool transposes = walk.rank >= 2 && walk.step(0) > 1 && walk.strides[0][walk.rank - 2] == 1;
  const bool whole_rows = elems.begin < elems.end && elems.begin % inner == 0 && elems.end % inner == 0;
  if (transposes && whole_rows) return copy_rows(walk, src, dst, {elems.begin / inner, elems.end / inner});
  if (walk.rank == 2 && walk.step(0) == 1 && inner <= k_short_row && whole_rows)
    return copy_short_rows(walk, src, dst, {elems.begin / inner, elems.end / inner});
  for_each_stretch(walk, elems, [&](const int64_t* offsets, int64_t at, int64_t length) {
    copy_stretch(src + offsets[0], walk.step(0), dst + at, length);
  });
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_copy_1(const Call* call, int64_t begin, int64_t end) {
  inside::copy<uint8_t>(call, begin, end);
}
void onepass_copy_4(const Call* call, int64_t begin, int64_t end) {
  inside::copy<uint32_t>(call, begin, end);
}
void onepass_copy_8(const Call* call, int64_t begin, int64_t end) {
  inside::copy<uint64_t>(call, begin, end);
}
