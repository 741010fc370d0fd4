// SPDX-License-Identifier: Apache-2.0
//
// Linear and cubic Resize, separable: the last axis is blended first, and every axis rounds to float.
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

/// Entry i of an axis blends `taps` elements; offsets[i * taps] < 0: it lies outside the crop.
struct Axis {
  int64_t extent;
  int64_t taps;
  const int64_t* offsets;  ///< stride-scaled
  const int64_t* weights;  ///< doubles by bit pattern

  float weight(int64_t entry) const { return static_cast<float>(__builtin_bit_cast(double, weights[entry])); }
};

struct Resize {
  float extrapolation;
  int64_t rank;
  Axis axes[k_max_axes];
  const float* src;
  float* scratch;  ///< one row for each axis

  explicit Resize(const Call* call);
  int64_t inner() const { return axes[rank - 1].extent; }
  void blend_last(int64_t offset, float* dst) const;
  void blend(int64_t axis, const int64_t* index, int64_t offset, float* dst) const;
};

Resize::Resize(const Call* call) : src(src_of<float>(call, 0)), scratch(static_cast<float*>(call->scratch)) {
  Params params(call);
  extrapolation = params.take_float();
  rank = params.take();
  for (int64_t axis = 0; axis < rank; ++axis) {
    axes[axis].extent = params.take();
    axes[axis].taps = params.take();
    axes[axis].offsets = params.take(axes[axis].extent * axes[axis].taps);
    axes[axis].weights = params.take(axes[axis].extent * axes[axis].taps);
  }
}

void Resize::blend_last(int64_t offset, float* dst) const {
  const Axis& last = axes[rank - 1];
  for (int64_t i = 0; i < last.extent; ++i) {
    const int64_t first = i * last.taps;
    if (last.offsets[first] < 0) {
      dst[i] = extrapolation;
      continue;
    }
    float sum = 0;
    for (int64_t entry = first; entry < first + last.taps; ++entry) {
      const float weight = last.weight(entry);
      if (weight != 0) sum += weight * src[offset + last.offsets[entry]];
    }
    dst[i] = sum;
  }
}

/// One row of the result: index[a] is its place on axis a, for all axes from `axis` to the last but one.
void Resize::blend(int64_t axis, const int64_t* index, int64_t offset, float* dst) const {
  if (axis == rank - 1) return blend_last(offset, dst);
  const Axis& own = axes[axis];
  const int64_t first = index[axis] * own.taps;
  const bool outside = own.offsets[first] < 0;
  if (!outside && own.taps == 1) return blend(axis + 1, index, offset + own.offsets[first], dst);
  for (int64_t i = 0; i < inner(); ++i) dst[i] = outside ? extrapolation : 0.0f;
  float* row = scratch + axis * inner();
  for (int64_t entry = first; entry < first + own.taps && !outside; ++entry) {
    const float weight = own.weight(entry);
    if (weight == 0) continue;
    blend(axis + 1, index, offset + own.offsets[entry], row);
    for (int64_t i = 0; i < inner(); ++i) dst[i] += weight * row[i];
  }
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_resize_f32(const Call* call, int64_t begin, int64_t end) {
  const inside::Resize resize(call);
  const inside::Range rows = inside::units(call, begin, end);
  int64_t index[inside::k_max_axes] = {};
  for (int64_t row = rows.begin; row < rows.end; ++row) {
    int64_t rest = row;
    for (int64_t axis = resize.rank - 2; axis >= 0; --axis) {
      index[axis] = rest % resize.axes[axis].extent;
      rest /= resize.axes[axis].extent;
    }
    resize.blend(0, index, 0, inside::dst_of<float>(call, 1) + row * resize.inner());
  }
}
