// SPDX-License-Identifier: Apache-2.0
//
// The geometry of Resize, from the ONNX text. It shares nothing with the reference interpreter: each checks
// the other.
#include "plan/routine_call_resize_axis.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace onepass::plan::routines {

namespace {

struct Mode {
  std::string interpolation, coordinates, rounding;
  double cubic_coefficient;
  bool exclude_outside;

  explicit Mode(const ir::Attributes& attributes)
      : interpolation(attributes.get_string("mode", "nearest")),
        coordinates(attributes.get_string("coordinate_transformation_mode", "half_pixel")),
        rounding(attributes.get_string("nearest_mode", "round_prefer_floor")),
        cubic_coefficient(attributes.get_float("cubic_coeff_a", -0.75)),
        exclude_outside(attributes.get_int("exclude_outside", 0) != 0) {}
};

struct Axis {
  double src, dst;   ///< extents
  double scale = 0;  ///< of the file; 0: dst / src exactly
  double roi_start = 0, roi_end = 1;

  /// x / scale. `nearest` divides a scale of the file in float: exporters rely on a whole quotient there.
  double unscaled(double x, bool nearest) const {
    if (scale == 0) return x * src / dst;
    return nearest ? static_cast<double>(static_cast<float>(x) / static_cast<float>(scale)) : x / scale;
  }
};

double symmetric_shift(const Axis& axis) {
  return axis.scale == 0 ? 0 : axis.src / 2 * (1 - axis.dst / (axis.scale * axis.src));
}

double cropped(const Axis& axis, double x) {
  const double last = axis.src - 1;
  if (axis.dst <= 1) return 0.5 * (axis.roi_start + axis.roi_end) * last;
  return axis.roi_start * last + x * (axis.roi_end - axis.roi_start) * last / (axis.dst - 1);
}

/// The source coordinate of entry x.
double coordinate(const Axis& axis, const Mode& mode, double x) {
  const bool nearest = mode.interpolation == "nearest";
  if (mode.coordinates == "align_corners") return axis.dst > 1 ? x * (axis.src - 1) / (axis.dst - 1) : 0;
  if (mode.coordinates == "asymmetric") return axis.unscaled(x, nearest);
  if (mode.coordinates == "tf_crop_and_resize") return cropped(axis, x);
  if (mode.coordinates == "pytorch_half_pixel" && axis.dst <= 1) return 0;
  const double shift = mode.coordinates == "half_pixel_symmetric" ? symmetric_shift(axis) : 0;
  return shift + axis.unscaled(x + 0.5, nearest) - 0.5;
}

double rounded(const std::string& rounding, double x) {
  if (rounding == "floor") return std::floor(x);
  if (rounding == "ceil") return std::ceil(x);
  return rounding == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

double cubic_near(double a, double t) {
  return ((a + 2) * t - (a + 3)) * t * t + 1;
}
double cubic_far(double a, double t) {
  return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
}

std::vector<double> weights_at(const Mode& mode, double fraction) {
  if (mode.interpolation == "linear") return {1 - fraction, fraction};
  const double a = mode.cubic_coefficient;
  return {cubic_far(a, fraction + 1), cubic_near(a, fraction), cubic_near(a, 1 - fraction),
          cubic_far(a, 2 - fraction)};
}

void add_nearest(const Axis& axis, const Mode& mode, double at, AxisTaps& taps) {
  taps.indices.push_back(static_cast<int64_t>(std::clamp(rounded(mode.rounding, at), 0.0, axis.src - 1)));
  taps.weights.push_back(1);
}

void add_blend(const Axis& axis, const Mode& mode, double at, AxisTaps& taps) {
  const double base = std::floor(at);
  std::vector<double> weights = weights_at(mode, at - base);
  const double first = base - (mode.interpolation == "cubic" ? 1 : 0);
  double inside = 0;
  for (size_t t = 0; t < weights.size(); ++t) {
    const double index = first + static_cast<double>(t);
    const bool in_range = index >= 0 && index < axis.src;
    if (in_range) inside += weights[t];
    if (mode.exclude_outside && !in_range) weights[t] = 0;
    taps.indices.push_back(static_cast<int64_t>(std::clamp(index, 0.0, axis.src - 1)));
  }
  const double scale = mode.exclude_outside && inside != 0 ? 1 / inside : 1;
  for (const double weight : weights) taps.weights.push_back(weight * scale);
}

AxisTaps taps_of(const Axis& axis, const Mode& mode) {
  AxisTaps taps;
  if (mode.interpolation != "nearest") taps.taps = mode.interpolation == "cubic" ? 4 : 2;
  for (double x = 0; x < axis.dst; ++x) {
    const double at = coordinate(axis, mode, x);
    if (mode.interpolation == "nearest")
      add_nearest(axis, mode, at, taps);
    else
      add_blend(axis, mode, at, taps);
    if (mode.coordinates == "tf_crop_and_resize" && (at < 0 || at > axis.src - 1))
      std::fill(taps.indices.end() - taps.taps, taps.indices.end(), -1);
  }
  return taps;
}

bool is_given(const NodeView& view, size_t input) {
  return view.has(input) && ir::element_count(view.dims(input)) > 0;
}

/// The one scale behind sizes with a keep_aspect_ratio_policy.
double common_scale(const NodeView& view, const Ints& axes, const Ints& sizes, const std::string& policy) {
  double scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto src = static_cast<double>(view.dims(0)[static_cast<size_t>(axes[i])]);
    const double own = src == 0 ? 1 : static_cast<double>(sizes[i]) / src;
    if (i == 0 || (policy == "not_larger" ? own < scale : own > scale)) scale = own;
  }
  return scale;
}

/// Scales of the named axes, 0 where dst / src is meant; nothing when they are not known.
std::optional<std::vector<double>> scales_of(const NodeView& view, const Ints& axes) {
  if (is_given(view, 2)) {
    const ir::Tensor* scales = view.constant(2);
    return scales == nullptr ? std::nullopt : std::optional(scales->to_doubles());
  }
  const auto sizes = view.constant_ints(3);
  if (!sizes) return std::nullopt;
  const std::string policy = view.node().attributes.get_string("keep_aspect_ratio_policy", "stretch");
  return std::vector<double>(axes.size(), policy == "stretch" ? 0 : common_scale(view, axes, *sizes, policy));
}

/// Starts and ends of the crop; an empty list when the mode has none.
std::optional<std::vector<double>> roi_of(const NodeView& view, const Mode& mode) {
  if (mode.coordinates != "tf_crop_and_resize") return std::vector<double>{};
  const ir::Tensor* roi = view.constant(1);
  return roi == nullptr ? std::nullopt : std::optional(roi->to_doubles());
}

}  // namespace

bool AxisTaps::is_identity(int64_t src_extent) const {
  if (static_cast<int64_t>(indices.size()) != src_extent * taps) return false;
  for (int64_t i = 0; i < src_extent; ++i) {
    double own = 0;
    for (int64_t entry = i * taps; entry < (i + 1) * taps; ++entry)
      if (indices[static_cast<size_t>(entry)] == i) own += weights[static_cast<size_t>(entry)];
    if (own != 1) return false;
  }
  return true;
}

std::optional<std::vector<AxisTaps>> resize_taps(const NodeView& view) {
  const Mode mode(view.node().attributes);
  const ir::Shape& src = view.dims(0);
  Ints axes(src.size());
  std::iota(axes.begin(), axes.end(), int64_t{0});
  axes = view.node().attributes.get_ints("axes", axes);
  for (int64_t& axis : axes) axis = from_front(axis, src.size());
  const auto scales = scales_of(view, axes);
  const auto roi = roi_of(view, mode);
  if (!scales || !roi || view.attribute("antialias", 0) != 0) return std::nullopt;
  std::vector<Axis> plan;
  for (size_t axis = 0; axis < src.size(); ++axis)
    plan.push_back({static_cast<double>(src[axis]), static_cast<double>(view.result().dims[axis])});
  for (size_t i = 0; i < axes.size(); ++i) {
    Axis& axis = plan[static_cast<size_t>(axes[i])];
    axis.scale = (*scales)[i];
    if (roi->empty()) continue;
    axis.roi_start = (*roi)[i];
    axis.roi_end = (*roi)[axes.size() + i];
  }
  std::vector<AxisTaps> result;
  for (const Axis& axis : plan) result.push_back(taps_of(axis, mode));
  return result;
}

}  // namespace onepass::plan::routines
