// SPDX-License-Identifier: Apache-2.0
//
// Pad and Resize to the nearest: every axis of the result repeats elements of the source's axis.
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

/// The axes of the result. For each index along an axis, `sources` gives the stride-scaled offset of the
/// element it repeats, or -1 where the fill value stands.
struct IndexedShape {
  int64_t rank;
  const int64_t* dims;
  const int64_t* sources;  ///< dims[0] entries, then dims[1] entries, ...
};

/// Offset of a row (all axes but the last) in the source, or -1 when it is all fill.
int64_t row_offset(const IndexedShape& shape, int64_t row) {
  int64_t entries = 0;
  for (int64_t axis = 0; axis + 1 < shape.rank; ++axis) entries += shape.dims[axis];
  int64_t offset = 0;
  for (int64_t axis = shape.rank - 2; axis >= 0; --axis) {
    entries -= shape.dims[axis];
    const int64_t source = shape.sources[entries + row % shape.dims[axis]];
    if (source < 0) return -1;
    offset += source;
    row /= shape.dims[axis];
  }
  return offset;
}

template <class E>
void copy_row(const E* src, const int64_t* sources, E value, E* dst, int64_t length) {
  for (int64_t i = 0; i < length; ++i) dst[i] = src != nullptr && sources[i] >= 0 ? src[sources[i]] : value;
}

template <class E>
struct Filled {
  const E* src;
  E value;
  E* dst;
};

/// `params` stands at the rank.
template <class E>
void index_copy(const Filled<E>& operands, Params params, Range rows) {
  IndexedShape shape{};
  shape.rank = params.take();
  shape.dims = params.take(shape.rank);
  int64_t entries = 0;
  for (int64_t axis = 0; axis < shape.rank; ++axis) entries += shape.dims[axis];
  shape.sources = params.take(entries);
  const int64_t inner = shape.dims[shape.rank - 1];
  const int64_t* inner_sources = shape.sources + entries - inner;
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    const int64_t offset = row_offset(shape, row);
    const E* src = offset < 0 ? nullptr : operands.src + offset;
    copy_row(src, inner_sources, operands.value, operands.dst + row * inner, inner);
  }
}

template <class E>
void with_known_fill(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const auto value = static_cast<E>(params.take());
  index_copy<E>({src_of<E>(call, 0), value, dst_of<E>(call, 1)}, params, units(call, slice_begin, slice_end));
}

template <class E>
void with_fill_operand(const Call* call, int64_t slice_begin, int64_t slice_end) {
  const E value = *src_of<E>(call, 1);
  index_copy<E>({src_of<E>(call, 0), value, dst_of<E>(call, 2)}, Params(call),
                units(call, slice_begin, slice_end));
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_index_copy_1(const Call* call, int64_t begin, int64_t end) {
  inside::with_known_fill<uint8_t>(call, begin, end);
}
void onepass_index_copy_4(const Call* call, int64_t begin, int64_t end) {
  inside::with_known_fill<uint32_t>(call, begin, end);
}
void onepass_index_copy_8(const Call* call, int64_t begin, int64_t end) {
  inside::with_known_fill<uint64_t>(call, begin, end);
}
void onepass_index_copy_filled_1(const Call* call, int64_t begin, int64_t end) {
  inside::with_fill_operand<uint8_t>(call, begin, end);
}
void onepass_index_copy_filled_4(const Call* call, int64_t begin, int64_t end) {
  inside::with_fill_operand<uint32_t>(call, begin, end);
}
void onepass_index_copy_filled_8(const Call* call, int64_t begin, int64_t end) {
  inside::with_fill_operand<uint64_t>(call, begin, end);
}
