// SPDX-License-Identifier: Apache-2.0
#include "ops/resize_geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "ops/operands.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

template <class Enum>
struct Choice {
  const char* name;
  Enum value;
};

template <class Enum>
Enum choose(const ir::Node& node, const char* attribute, const char* default_name,
            std::span<const Choice<Enum>> choices) {
  const std::string given = node.attributes.get_string(attribute, default_name);
  std::string names;
  for (const Choice<Enum>& choice : choices) {
    if (given == choice.name) return choice.value;
    names += (names.empty() ? "" : ", ") + std::string(choice.name);
  }
  refuse(node, "unsupported_attribute", fmt::format("{} is '{}'", attribute, given), names);
}

constexpr Choice<Interpolation> k_interpolations[] = {
    {"nearest", Interpolation::nearest}, {"linear", Interpolation::linear}, {"cubic", Interpolation::cubic}};
constexpr Choice<Coordinates> k_coordinates[] = {{"half_pixel", Coordinates::half_pixel},
                                                 {"half_pixel_symmetric", Coordinates::half_pixel_symmetric},
                                                 {"pytorch_half_pixel", Coordinates::pytorch_half_pixel},
                                                 {"align_corners", Coordinates::align_corners},
                                                 {"asymmetric", Coordinates::asymmetric},
                                                 {"tf_crop_and_resize", Coordinates::tf_crop_and_resize}};
constexpr Choice<NearestRounding> k_roundings[] = {
    {"round_prefer_floor", NearestRounding::round_prefer_floor},
    {"round_prefer_ceil", NearestRounding::round_prefer_ceil},
    {"floor", NearestRounding::floor},
    {"ceil", NearestRounding::ceil}};

enum class AspectPolicy : uint8_t { stretch, not_larger, not_smaller };
constexpr Choice<AspectPolicy> k_policies[] = {{"stretch", AspectPolicy::stretch},
                                               {"not_larger", AspectPolicy::not_larger},
                                               {"not_smaller", AspectPolicy::not_smaller}};

std::vector<int64_t> axes_of(const ir::Node& node, int64_t rank) {
  const std::vector<int64_t> asked = node.attributes.get_ints("axes", all_axes(rank));
  normalized_axes(node, asked, rank);
  std::vector<int64_t> axes;
  for (const int64_t axis : asked) axes.push_back(normalized_axis(node, axis, rank));
  return axes;
}

void check_count(const ir::Node& node, const char* what, int64_t given, size_t expected) {
  if (given != static_cast<int64_t>(expected))
    refuse(node, "bad_operand", fmt::format("{} has {} elements", what, given),
           fmt::format("{} elements", expected));
}

/// The rounded extent of src * scale; in float, as the standard's scales are.
int64_t scaled_extent(const ir::Node& node, int64_t src, double scale) {
  const double extent = std::floor(static_cast<float>(src) * static_cast<float>(scale));
  if (!(scale > 0) || !std::isfinite(scale))
    refuse(node, "bad_operand", fmt::format("a scale is {}", scale), "finite scales above 0");
  if (extent > static_cast<double>(k_max_elements))
    refuse(node, "too_large", fmt::format("an axis of {} is scaled by {}", src, scale),
           "at most 2^31 elements");
  return static_cast<int64_t>(extent);
}

void apply_scales(const ir::Node& node, const ir::Tensor& scales, const std::vector<int64_t>& axes,
                  std::vector<ResizeAxis>& result) {
  check_count(node, "scales", scales.size(), axes.size());
  const std::vector<double> values = scales.to_doubles();
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = result[axes[i]];
    axis.dst_extent = scaled_extent(node, axis.src_extent, values[i]);
    axis.scale = values[i];
    axis.ratio_of_extents = false;
  }
}

/// One scale for all axes, so that the image keeps its proportions.
void keep_proportions(const std::vector<int64_t>& axes, AspectPolicy policy,
                      std::vector<ResizeAxis>& result) {
  double scale = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const ResizeAxis& axis = result[axes[i]];
    const double own = axis.src_extent == 0
                           ? 1
                           : static_cast<double>(axis.dst_extent) / static_cast<double>(axis.src_extent);
    const bool better = policy == AspectPolicy::not_larger ? own < scale : own > scale;
    if (i == 0 || better) scale = own;
  }
  for (const int64_t at : axes) {
    ResizeAxis& axis = result[at];
    const double extent = std::floor(static_cast<double>(axis.src_extent) * scale + 0.5);
    axis.dst_extent = static_cast<int64_t>(std::min(extent, 2.0 * k_max_elements));
    axis.scale = scale;
    axis.ratio_of_extents = false;
  }
}

void apply_sizes(const ir::Node& node, const ir::Tensor& sizes, const std::vector<int64_t>& axes,
                 std::vector<ResizeAxis>& result) {
  check_count(node, "sizes", sizes.size(), axes.size());
  const std::vector<int64_t> values = sizes.to_ints();
  for (size_t i = 0; i < axes.size(); ++i) {
    ResizeAxis& axis = result[axes[i]];
    if (values[i] < 0 || values[i] > k_max_elements)
      refuse(node, values[i] < 0 ? "bad_operand" : "too_large", "sizes are " + ir::to_string(values),
             "0 to 2^31");
    axis.dst_extent = values[i];
    if (axis.src_extent > 0)
      axis.scale = static_cast<double>(values[i]) / static_cast<double>(axis.src_extent);
  }
  const auto policy = choose<AspectPolicy>(node, "keep_aspect_ratio_policy", "stretch", k_policies);
  if (policy != AspectPolicy::stretch) keep_proportions(axes, policy, result);
}

void apply_roi(const ir::Node& node, const ir::Tensor* roi, const std::vector<int64_t>& axes,
               std::vector<ResizeAxis>& result) {
  if (roi == nullptr) refuse(node, "missing_input", "tf_crop_and_resize without roi", "input 1 present");
  check_count(node, "roi", roi->size(), 2 * axes.size());
  const std::vector<double> values = roi->to_doubles();
  for (size_t i = 0; i < axes.size(); ++i) {
    result[axes[i]].roi_start = values[i];
    result[axes[i]].roi_end = values[axes.size() + i];
    if (!std::isfinite(values[i]) || !std::isfinite(values[axes.size() + i]) ||
        std::max(std::abs(values[i]), std::abs(values[axes.size() + i])) > 1e6)
      refuse(node, "bad_operand", "roi is not finite or far outside the image", "roi within 1e6 image sizes");
  }
}

/// value / scale. A rounded float scale is divided by in float for `nearest`: there the quotient decides
/// which element is taken, and exporters rely on the float quotient being whole.
double unscale(const ResizeAxis& axis, double value, bool nearest) {
  if (axis.ratio_of_extents)
    return value * static_cast<double>(axis.src_extent) / static_cast<double>(axis.dst_extent);
  return nearest ? static_cast<float>(value) / static_cast<float>(axis.scale) : value / axis.scale;
}

double crop_coordinate(const ResizeAxis& axis, double x) {
  const auto last = static_cast<double>(axis.src_extent - 1);
  if (axis.dst_extent <= 1) return 0.5 * (axis.roi_start + axis.roi_end) * last;
  return axis.roi_start * last +
         x * (axis.roi_end - axis.roi_start) * last / static_cast<double>(axis.dst_extent - 1);
}

/// Half pixels around the middle of the image. F as in unscale: float where the scale is a rounded float and
/// the coordinate only picks an element.
template <class F>
double symmetric_coordinate(const ResizeAxis& axis, F x) {
  const F scale = static_cast<F>(axis.scale);
  const F src = static_cast<F>(axis.src_extent);
  const F offset = src / 2 * (1 - static_cast<F>(axis.dst_extent) / (scale * src));
  return offset + (x + F{0.5}) / scale - F{0.5};
}

/// The source coordinate of element x.
double source_coordinate(const ResizeAxis& axis, const ResizeMode& mode, double x) {
  const bool nearest = mode.interpolation == Interpolation::nearest;
  switch (mode.coordinates) {
    case Coordinates::half_pixel:
      return unscale(axis, x + 0.5, nearest) - 0.5;
    case Coordinates::half_pixel_symmetric:
      if (axis.ratio_of_extents) return unscale(axis, x + 0.5, nearest) - 0.5;
      return nearest ? symmetric_coordinate(axis, static_cast<float>(x)) : symmetric_coordinate(axis, x);
    case Coordinates::pytorch_half_pixel:
      return axis.dst_extent > 1 ? unscale(axis, x + 0.5, nearest) - 0.5 : 0;
    case Coordinates::align_corners:
      return axis.dst_extent > 1
                 ? x * static_cast<double>(axis.src_extent - 1) / static_cast<double>(axis.dst_extent - 1)
                 : 0;
    case Coordinates::asymmetric:
      return unscale(axis, x, nearest);
    case Coordinates::tf_crop_and_resize:
      return crop_coordinate(axis, x);
  }
  return 0;
}

double rounded(double x, NearestRounding rounding) {
  switch (rounding) {
    case NearestRounding::round_prefer_floor:
      return std::ceil(x - 0.5);
    case NearestRounding::round_prefer_ceil:
      return std::floor(x + 0.5);
    case NearestRounding::floor:
      return std::floor(x);
    case NearestRounding::ceil:
      return std::ceil(x);
  }
  return x;
}

/// Weights of the four elements around a point at `fraction` behind the second one.
std::vector<double> cubic_weights(double fraction, double a) {
  const auto near = [&](double t) { return ((a + 2) * t - (a + 3)) * t * t + 1; };
  const auto far = [&](double t) { return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a; };
  return {far(fraction + 1), near(fraction), near(1 - fraction), far(2 - fraction)};
}

void add_taps(double coordinate, const ResizeAxis& axis, const ResizeMode& mode, ResizeTaps& taps) {
  if (mode.interpolation == Interpolation::nearest) {
    const double index = rounded(coordinate, mode.rounding);
    taps.indices.push_back(
        static_cast<int64_t>(std::clamp(index, 0.0, static_cast<double>(axis.src_extent - 1))));
    taps.weights.push_back(1);
    return;
  }
  const double base = std::floor(coordinate);
  const double fraction = coordinate - base;
  const bool cubic = mode.interpolation == Interpolation::cubic;
  std::vector<double> weights =
      cubic ? cubic_weights(fraction, mode.cubic_coefficient) : std::vector<double>{1 - fraction, fraction};
  const int64_t first = static_cast<int64_t>(base) - (cubic ? 1 : 0);
  double inside = 0;
  for (size_t t = 0; t < weights.size(); ++t) {
    const int64_t index = first + static_cast<int64_t>(t);
    const bool in_range = index >= 0 && index < axis.src_extent;
    if (in_range) inside += weights[t];
    if (mode.exclude_outside && !in_range) weights[t] = 0;
    taps.indices.push_back(std::clamp<int64_t>(index, 0, axis.src_extent - 1));
  }
  const double scale = mode.exclude_outside && inside != 0 ? 1 / inside : 1;
  for (const double weight : weights) taps.weights.push_back(weight * scale);
}

}  // namespace

ResizeMode resize_mode(const ir::Node& node) {
  if (node.attributes.get_int("antialias", 0) != 0)
    refuse(node, "unsupported_attribute", "antialias is 1", "antialias 0");
  return {
      .interpolation = choose<Interpolation>(node, "mode", "nearest", k_interpolations),
      .coordinates = choose<Coordinates>(node, "coordinate_transformation_mode", "half_pixel", k_coordinates),
      .rounding = choose<NearestRounding>(node, "nearest_mode", "round_prefer_floor", k_roundings),
      .cubic_coefficient = node.attributes.get_float("cubic_coeff_a", -0.75),
      .exclude_outside = node.attributes.get_int("exclude_outside", 0) != 0};
}

std::vector<ResizeAxis> resize_axes(const ir::Node& node, const ir::Shape& dims,
                                    const ResizeOperands& operands) {
  std::vector<ResizeAxis> result;
  for (const int64_t extent : dims) result.push_back({.src_extent = extent, .dst_extent = extent});
  const std::vector<int64_t> axes = axes_of(node, static_cast<int64_t>(dims.size()));
  if ((operands.scales == nullptr) == (operands.sizes == nullptr))
    refuse(node, "bad_operand",
           operands.scales == nullptr ? "neither scales nor sizes" : "both scales and sizes",
           "one of scales and sizes");
  if (operands.scales != nullptr)
    apply_scales(node, *operands.scales, axes, result);
  else
    apply_sizes(node, *operands.sizes, axes, result);
  if (resize_mode(node).coordinates == Coordinates::tf_crop_and_resize)
    apply_roi(node, operands.roi, axes, result);
  for (const ResizeAxis& axis : result)
    if (axis.src_extent == 0 && axis.dst_extent > 0)
      refuse(node, "bad_extent", "an axis without elements is enlarged", "an axis with elements");
  return result;
}

ResizeTaps resize_taps(const ResizeAxis& axis, const ResizeMode& mode) {
  ResizeTaps taps;
  if (mode.interpolation != Interpolation::nearest)
    taps.taps = mode.interpolation == Interpolation::cubic ? 4 : 2;
  const bool crops = mode.coordinates == Coordinates::tf_crop_and_resize;
  for (int64_t i = 0; i < axis.dst_extent; ++i) {
    const double coordinate = source_coordinate(axis, mode, static_cast<double>(i));
    const bool beyond = coordinate < 0 || coordinate > static_cast<double>(axis.src_extent - 1);
    taps.outside.push_back(crops && beyond);
    add_taps(coordinate, axis, mode, taps);
  }
  return taps;
}

}  // namespace onepass::ops
