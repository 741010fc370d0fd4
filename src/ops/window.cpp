// SPDX-License-Identifier: Apache-2.0
#include "ops/window.h"

#include <fmt/format.h>

#include <algorithm>

namespace onepass::ops {

namespace {

/// Strides, dilations, kernels and pads beyond this belong to no network; the limit keeps sums of products
/// of them far from overflow.
constexpr int64_t k_max_parameter = 65535;

/// Attribute `name` with one entry per spatial axis (`count` entries), each in [min, k_max_parameter].
ir::Shape parameters(const ir::Node& node, const char* name, size_t count, int64_t default_value,
                     int64_t min) {
  const ir::Shape values = node.attributes.get_ints(name, ir::Shape(count, default_value));
  const bool in_range =
      std::all_of(values.begin(), values.end(), [&](int64_t v) { return v >= min && v <= k_max_parameter; });
  if (values.size() != count || !in_range)
    refuse(node, "bad_attribute", fmt::format("{} = {}", name, ir::to_string(values)),
           fmt::format("{} values from {} to {}", count, min, k_max_parameter));
  return values;
}

Triple as_3d(const ir::Shape& spatial, int64_t fill) {
  Triple result{fill, fill, fill};
  std::copy_backward(spatial.begin(), spatial.end(), result.end());
  return result;
}

Window unpadded_window(const ir::Node& node, const ir::Shape& src, ir::Shape kernel) {
  Window window;
  window.src.assign(src.begin() + 2, src.end());
  window.kernel = std::move(kernel);
  window.strides = parameters(node, "strides", window.rank(), 1, 1);
  window.dilations = parameters(node, "dilations", window.rank(), 1, 1);
  window.pads_begin.assign(window.rank(), 0);
  window.pads_end.assign(window.rank(), 0);
  window.dst.assign(window.rank(), 0);
  for (size_t axis = 0; axis < window.rank(); ++axis)
    if (window.src[axis] < 1)
      refuse(node, "bad_extent", fmt::format("input 0 is {}", ir::to_string(src)), "spatial extents >= 1");
  return window;
}

std::string auto_pad(const ir::Node& node) {
  const std::string mode = node.attributes.get_string("auto_pad", "NOTSET");
  if (mode != "NOTSET" && mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    refuse(node, "bad_attribute", fmt::format("auto_pad = '{}'", mode),
           "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  return mode;
}

void set_explicit_pads(const ir::Node& node, Window& window) {
  const ir::Shape pads = parameters(node, "pads", 2 * window.rank(), 0, 0);
  window.pads_begin.assign(pads.begin(), pads.begin() + window.rank());
  window.pads_end.assign(pads.begin() + window.rank(), pads.end());
}

/// Splits `total` so that the odd element goes to the end, or to the begin.
void split_pads(Window& window, size_t axis, int64_t total, bool odd_at_end) {
  const int64_t small = total / 2;
  window.pads_begin[axis] = odd_at_end ? small : total - small;
  window.pads_end[axis] = total - window.pads_begin[axis];
}

/// SAME: dst = ceil(src / stride), with as much padding as the dilated kernel needs for it.
void set_same_pads(Window& window, bool odd_at_end) {
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    const int64_t stride = window.strides[axis];
    window.dst[axis] = (window.src[axis] + stride - 1) / stride;
    const int64_t needed = (window.dst[axis] - 1) * stride + window.span(axis) - window.src[axis];
    split_pads(window, axis, std::max<int64_t>(needed, 0), odd_at_end);
  }
}

int64_t padded_extent(const Window& window, size_t axis) {
  return window.src[axis] + window.pads_begin[axis] + window.pads_end[axis];
}

int64_t windows_along(const Window& window, size_t axis, bool ceil_mode) {
  const int64_t stride = window.strides[axis];
  const int64_t room = padded_extent(window, axis) - window.span(axis);
  const int64_t count = (ceil_mode ? (room + stride - 1) / stride : room / stride) + 1;
  const bool starts_in_end_pads = (count - 1) * stride >= window.src[axis] + window.pads_begin[axis];
  return ceil_mode && starts_in_end_pads ? count - 1 : count;
}

void set_pads_and_dst(const ir::Node& node, Window& window, bool ceil_mode) {
  const std::string mode = auto_pad(node);
  if (mode.starts_with("SAME")) return set_same_pads(window, mode == "SAME_UPPER");
  if (mode == "NOTSET") set_explicit_pads(node, window);
  for (size_t axis = 0; axis < window.rank(); ++axis) {
    if (padded_extent(window, axis) < window.span(axis))
      refuse(node, "window_too_large",
             fmt::format("a window of {} elements over {} (padded {}) on spatial axis {}", window.span(axis),
                         window.src[axis], padded_extent(window, axis), axis),
             "a window that fits into the padded input");
    window.dst[axis] = windows_along(window, axis, ceil_mode);
  }
}

/// The padded map is materialised by the reference: it has to stay below the limit too.
void check_padded_size(const ir::Node& node, const ir::Shape& src, const Window& window) {
  ir::TensorType padded{ir::DType::f32, {src[1]}};
  for (size_t axis = 0; axis < window.rank(); ++axis)
    padded.dims.push_back(std::max(padded_extent(window, axis),
                                   (window.dst[axis] - 1) * window.strides[axis] + window.span(axis)));
  checked(node, padded);
}

}  // namespace

Window3d::Window3d(const Window& window)
    : src(as_3d(window.src, 1)),
      kernel(as_3d(window.kernel, 1)),
      strides(as_3d(window.strides, 1)),
      dilations(as_3d(window.dilations, 1)),
      pads(as_3d(window.pads_begin, 0)),
      dst(as_3d(window.dst, 1)) {}

Window conv_window(const ir::Node& node, const ir::Shape& src, ir::Shape kernel) {
  Window window = unpadded_window(node, src, std::move(kernel));
  set_pads_and_dst(node, window, false);
  check_padded_size(node, src, window);
  return window;
}

Window pool_window(const ir::Node& node, const ir::Shape& src) {
  if (!node.attributes.has("kernel_shape"))
    refuse(node, "missing_attribute", "kernel_shape is missing",
           "kernel_shape with one extent per spatial axis");
  Window window = unpadded_window(node, src, parameters(node, "kernel_shape", src.size() - 2, 1, 1));
  set_pads_and_dst(node, window, node.attributes.get_int("ceil_mode", 0) != 0);
  for (size_t axis = 0; axis < window.rank(); ++axis)
    if (std::max(window.pads_begin[axis], window.pads_end[axis]) >= window.span(axis))
      refuse(node, "bad_attribute",
             fmt::format("pads {} and {} around a window of {}", window.pads_begin[axis],
                         window.pads_end[axis], window.span(axis)),
             "pads smaller than the window");
  return window;
}

Window conv_transpose_window(const ir::Node& node, const ir::Shape& src, ir::Shape kernel) {
  Window window = unpadded_window(node, src, std::move(kernel));
  const size_t rank = window.rank();
  const std::string mode = auto_pad(node);
  const ir::Shape extra = parameters(node, "output_padding", rank, 0, 0);
  ir::Shape wanted = node.attributes.get_ints("output_shape");
  if (wanted.size() == rank + 2) wanted.erase(wanted.begin(), wanted.begin() + 2);
  if (!wanted.empty() && wanted.size() != rank)
    refuse(node, "bad_attribute", fmt::format("output_shape = {}", ir::to_string(wanted)),
           fmt::format("{} extents", rank));
  if (wanted.empty() && mode.starts_with("SAME"))
    for (size_t axis = 0; axis < rank; ++axis) wanted.push_back(window.src[axis] * window.strides[axis]);
  if (wanted.empty() && mode == "NOTSET") set_explicit_pads(node, window);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t full = (window.src[axis] - 1) * window.strides[axis] + extra[axis] + window.span(axis);
    if (!wanted.empty())
      split_pads(window, axis, std::max<int64_t>(full - wanted[axis], 0), mode == "SAME_UPPER");
    window.dst[axis] = wanted.empty() ? full - window.pads_begin[axis] - window.pads_end[axis] : wanted[axis];
    if (window.dst[axis] < 1)
      refuse(node, "bad_extent",
             fmt::format("the result has extent {} on spatial axis {}", window.dst[axis], axis),
             "extents >= 1");
  }
  return window;
}

}  // namespace onepass::ops
