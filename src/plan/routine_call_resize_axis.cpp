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

/// Every axis of the node, crop and scale included; nothing when they are not known.
std::optional<std::vector<Axis>> axes_of(const NodeView& view, const Mode& mode) {
  const ir::Shape& src = view.dims(0);
  Ints named(src.size());
  std::iota(named.begin(), named.end(), int64_t{0});
  named = view.node().attributes.get_ints("axes", named);
  for (int64_t& axis : named) axis = from_front(axis, src.size());
  const auto scales = scales_of(view, named);
  const auto roi = roi_of(view, mode);
  if (!scales || !roi) return std::nullopt;
  std::vector<Axis> axes;
  for (size_t axis = 0; axis < src.size(); ++axis)
    axes.push_back({static_cast<double>(src[axis]), static_cast<double>(view.result().dims[axis])});
  for (size_t i = 0; i < named.size(); ++i) {
    Axis& axis = axes[static_cast<size_t>(named[i])];
    axis.scale = (*scales)[i];
    if (roi->empty()) continue;
    axis.roi_start = (*roi)[i];
    axis.roi_end = (*roi)[named.size() + i];
  }
  return axes;
}

/// numerator / denominator = 1 / scale, exactly.
struct Ratio {
  int64_t numerator, denominator;
};

/// Of a scale that is a float of the file, or the ratio of the extents.
std::optional<Ratio> unscaling(const Axis& axis) {
  if (axis.scale == 0) return Ratio{static_cast<int64_t>(axis.src), static_cast<int64_t>(axis.dst)};
  constexpr int k_float_bits = 24;
  if (static_cast<double>(static_cast<float>(axis.scale)) != axis.scale) return std::nullopt;
  if (axis.scale < 0x1p-10 || axis.scale > 0x1p10) return std::nullopt;
  int64_t denominator = static_cast<int64_t>(std::ldexp(axis.scale, k_float_bits + 10));
  int64_t numerator = int64_t{1} << (k_float_bits + 10);
  const int64_t common = std::gcd(numerator, denominator);
  return Ratio{numerator / common, denominator / common};
}

/// Nothing where the coordinates have no such form.
std::optional<kernels::LinearAxis> linear_form(const Axis& axis, const Mode& mode) {
  const auto src = static_cast<int64_t>(axis.src), dst = static_cast<int64_t>(axis.dst);
  const bool first_alone =
      dst <= 1 && (mode.coordinates == "align_corners" || mode.coordinates == "pytorch_half_pixel");
  if (first_alone) return kernels::LinearAxis{.scale = 0};
  if (mode.coordinates == "align_corners") return kernels::LinearAxis{src - 1, 0, dst - 1};
  const auto ratio = unscaling(axis);
  if (!ratio) return std::nullopt;
  const auto [numerator, denominator] = *ratio;
  if (mode.coordinates == "asymmetric") return kernels::LinearAxis{numerator, 0, denominator};
  if (mode.coordinates != "half_pixel" && mode.coordinates != "pytorch_half_pixel") return std::nullopt;
  return kernels::LinearAxis{2 * numerator, numerator - denominator, 2 * denominator};
}

/// Checked against the coordinates, and small enough for integers of 64 bits.
std::optional<kernels::LinearAxis> linear_axis(const Axis& axis, const Mode& mode) {
  constexpr double k_most = 0x1p60;
  constexpr double k_distance = 1e-7;
  const auto form = linear_form(axis, mode);
  if (!form || axis.src < 1 || axis.dst < 1) return std::nullopt;
  const auto scale = static_cast<double>(form->scale), divisor = static_cast<double>(form->divisor);
  if (scale * axis.dst > k_most || axis.src * divisor > k_most) return std::nullopt;
  for (double x = 0; x < axis.dst; ++x) {
    const double position =
        kernels::linear_position(*form, static_cast<int64_t>(axis.src), static_cast<int64_t>(x));
    const double wanted = std::clamp(coordinate(axis, mode, x), 0.0, axis.src - 1);
    if (std::fabs(position - wanted) > k_distance) return std::nullopt;
  }
  return form;
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
  const auto axes = axes_of(view, mode);
  if (!axes || view.attribute("antialias", 0) != 0) return std::nullopt;
  std::vector<AxisTaps> result;
  for (const Axis& axis : *axes) result.push_back(taps_of(axis, mode));
  return result;
}

std::optional<LinearAxes> linear_axes(const NodeView& view) {
  const Mode mode(view.node().attributes);
  const bool linear =
      mode.interpolation == "linear" && !mode.exclude_outside && view.attribute("antialias", 0) == 0;
  if (!linear || view.dims(0).size() != 4) return std::nullopt;
  const auto axes = axes_of(view, mode);
  if (!axes) return std::nullopt;
  for (size_t axis = 0; axis < 2; ++axis)
    if (!taps_of((*axes)[axis], mode).is_identity(view.dims(0)[axis])) return std::nullopt;
  const auto rows = linear_axis((*axes)[2], mode), columns = linear_axis((*axes)[3], mode);
  if (!rows || !columns) return std::nullopt;
  return LinearAxes{*rows, *columns};
}

}  // namespace onepass::plan::routines
