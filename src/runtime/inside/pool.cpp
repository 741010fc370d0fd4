// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "runtime/inside/routines.h"
#include "runtime/inside/window.h"

namespace onepass::inside {

namespace {

/// The taps of one window along one axis: positions begin, begin + dilation, ... below end.
struct Taps {
  int64_t begin, end, dilation;
  int64_t count() const { return end > begin ? (end - begin + dilation - 1) / dilation : 0; }
};

/// The taps of window `i` that lie in [low, high).
Taps taps_within(const Window& window, int axis, int64_t i, Range within) {
  const int64_t dilation = window.dilations[axis];
  int64_t begin = i * window.strides[axis] - window.pads[axis];
  const int64_t end = begin + (window.kernel[axis] - 1) * dilation + 1;
  if (begin < within.begin) begin += (within.begin - begin + dilation - 1) / dilation * dilation;
  return {begin, min_of(end, within.end), dilation};
}

/// A row of outputs: its plane and its place on the axes d and h.
struct Row {
  int64_t plane, d, h;
};

Row row_at(const Window& window, int64_t row) {
  const int64_t plane_rows = window.dst[0] * window.dst[1];
  return {row / plane_rows, row % plane_rows / window.dst[1], row % window.dst[1]};
}

struct TapBox {
  Taps d, h, w;
};

TapBox taps_in_source(const Window& window, const Row& row, int64_t w) {
  return {taps_within(window, 0, row.d, {0, window.src[0]}),
          taps_within(window, 1, row.h, {0, window.src[1]}), taps_within(window, 2, w, {0, window.src[2]})};
}

/// Calls body(offset in the plane, d, h, w) for each tap.
template <class Body>
void for_each_tap(const Window& window, const TapBox& box, Body body) {
  for (int64_t d = box.d.begin; d < box.d.end; d += box.d.dilation)
    for (int64_t h = box.h.begin; h < box.h.end; h += box.h.dilation)
      for (int64_t w = box.w.begin; w < box.w.end; w += box.w.dilation)
        body((d * window.src[1] + h) * window.src[2] + w, d, h, w);
}

template <class E>
struct Peak {
  E value = std::numeric_limits<E>::has_infinity ? -std::numeric_limits<E>::infinity()
                                                 : std::numeric_limits<E>::lowest();
  int64_t at = -1;
};

/// Padding never wins, NaN does.
template <class E>
Peak<E> peak_of(const Window& window, const TapBox& box, const E* src, bool column_major) {
  Peak<E> best;
  for_each_tap(window, box, [&](int64_t tap, int64_t d, int64_t h, int64_t w) {
    const E x = src[tap];
    const bool first_nan = x != x && best.value == best.value;
    if (best.at >= 0 && !(x > best.value) && !first_nan) return;
    best = {x, column_major ? d + window.src[0] * (h + window.src[1] * w) : tap};
  });
  return best;
}

template <class E>
void max_pool(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const bool has_indices = params.take() != 0;
  const bool column_major = params.take() != 0;
  const Window window = take_window(params);
  const Range rows = units(call, slice_begin, slice_end);
  for (int64_t number = rows.begin; number < rows.end; ++number) {
    const Row row = row_at(window, number);
    const int64_t src_start = row.plane * window.src_plane();
    const int64_t dst_start = number * window.dst[2];
    for (int64_t w = 0; w < window.dst[2]; ++w) {
      const TapBox box = taps_in_source(window, row, w);
      const Peak<E> best = peak_of(window, box, src_of<E>(call, 0) + src_start, column_major);
      dst_of<E>(call, 1)[dst_start + w] = best.value;
      if (has_indices) dst_of<int64_t>(call, 2)[dst_start + w] = src_start + best.at;
    }
  }
}

/// Taps that count in the divisor: those in the padded map, or those in the map.
int64_t divisor(const Window& window, const int64_t* pads_end, const Row& row, int64_t w) {
  const int64_t index[3] = {row.d, row.h, w};
  int64_t count = 1;
  for (int axis = 0; axis < 3; ++axis)
    count *= taps_within(window, axis, index[axis], {-window.pads[axis], window.src[axis] + pads_end[axis]})
                 .count();
  return count;
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_max_pool_f32(const Call* call, int64_t begin, int64_t end) {
  inside::max_pool<float>(call, begin, end);
}
void onepass_max_pool_i8(const Call* call, int64_t begin, int64_t end) {
  inside::max_pool<int8_t>(call, begin, end);
}
void onepass_max_pool_u8(const Call* call, int64_t begin, int64_t end) {
  inside::max_pool<uint8_t>(call, begin, end);
}

void onepass_average_pool_f32(const Call* call, int64_t begin, int64_t end) {
  inside::Params params(call);
  const bool include_pad = params.take() != 0;
  const int64_t* pads_end = params.take(3);
  const inside::Window window = inside::take_window(params);
  const inside::Range rows = inside::units(call, begin, end);
  for (int64_t number = rows.begin; number < rows.end; ++number) {
    const inside::Row row = inside::row_at(window, number);
    const float* src = inside::src_of<float>(call, 0) + row.plane * window.src_plane();
    float* dst = inside::dst_of<float>(call, 1) + number * window.dst[2];
    for (int64_t w = 0; w < window.dst[2]; ++w) {
      const inside::TapBox box = inside::taps_in_source(window, row, w);
      float sum = 0;
      inside::for_each_tap(window, box, [&](int64_t tap, int64_t, int64_t, int64_t) { sum += src[tap]; });
      const int64_t count = include_pad ? inside::divisor(window, pads_end, row, w)
                                        : box.d.count() * box.h.count() * box.w.count();
      dst[w] = count == 0 ? 0.0f : sum / static_cast<float>(count);
    }
  }
}
