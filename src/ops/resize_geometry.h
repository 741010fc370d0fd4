// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace onepass::ops {

enum class Interpolation : uint8_t { nearest, linear, cubic };
enum class Coordinates : uint8_t {
  half_pixel,
  half_pixel_symmetric,
  pytorch_half_pixel,
  align_corners,
  asymmetric,
  tf_crop_and_resize
};
enum class NearestRounding : uint8_t { round_prefer_floor, round_prefer_ceil, floor, ceil };

/// The attributes of a Resize node.
struct ResizeMode {
  Interpolation interpolation = Interpolation::nearest;
  Coordinates coordinates = Coordinates::half_pixel;
  NearestRounding rounding = NearestRounding::round_prefer_floor;
  double cubic_coefficient = -0.75;
  bool exclude_outside = false;
};

/// Throws Error naming the node for an attribute outside the standard, and for antialias.
ResizeMode resize_mode(const ir::Node& node);

/// One axis of a Resize. `ratio_of_extents`: the scale is dst/src exactly, not a rounded float of the file.
struct ResizeAxis {
  int64_t src_extent = 0;
  int64_t dst_extent = 0;
  double scale = 1;
  bool ratio_of_extents = true;
  double roi_start = 0;
  double roi_end = 1;
};

/// The known operands; null when absent or empty.
struct ResizeOperands {
  const ir::Tensor* roi = nullptr;
  const ir::Tensor* scales = nullptr;
  const ir::Tensor* sizes = nullptr;
};

/// One entry per axis of `dims`. Throws Error naming the node when the operands do not fit.
std::vector<ResizeAxis> resize_axes(const ir::Node& node, const ir::Shape& dims,
                                    const ResizeOperands& operands);

/// Where the elements of a resized axis come from: element i is the sum over t < taps of
/// weights[i * taps + t] * src[indices[i * taps + t]], or the extrapolation value where outside[i].
struct ResizeTaps {
  int64_t taps = 1;
  std::vector<int64_t> indices;
  std::vector<double> weights;
  std::vector<bool> outside;
};

ResizeTaps resize_taps(const ResizeAxis& axis, const ResizeMode& mode);

}  // namespace onepass::ops
