// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "ops/shape_support.h"

namespace onepass::ops {

/// A window that slides over the spatial axes (those behind n and c), with every default and auto_pad
/// resolved. One entry per spatial axis; pads are not negative.
struct Window {
  ir::Shape src, kernel, strides, dilations, pads_begin, pads_end, dst;

  size_t rank() const { return src.size(); }
  /// Elements that the window spans along an axis: (kernel - 1) * dilation + 1.
  int64_t span(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
  /// The first element, in coordinates of src, under the window at `dst_index`; may lie in the padding.
  int64_t start(size_t axis, int64_t dst_index) const { return dst_index * strides[axis] - pads_begin[axis]; }
};

/// Of a Conv: `src` is the whole shape n c spatial..., `kernel` the spatial extents of the weight.
Window conv_window(const ir::Node& node, const ir::Shape& src, ir::Shape kernel);

/// Of a MaxPool or AveragePool, from kernel_shape and ceil_mode. A window that would start in the end padding
/// is left out.
Window pool_window(const ir::Node& node, const ir::Shape& src);

/// Of a ConvTranspose: `dst` is the larger map; pads are cut from it.
Window conv_transpose_window(const ir::Node& node, const ir::Shape& src, ir::Shape kernel);

/// One number per axis d h w.
using Triple = std::array<int64_t, 3>;

/// A window over d h w, whatever the number of spatial axes: missing leading axes have extent 1.
struct Window3d {
  Triple src, kernel, strides, dilations, pads, dst;

  explicit Window3d(const Window& window);
  int64_t src_plane() const { return src[0] * src[1] * src[2]; }
  int64_t dst_plane() const { return dst[0] * dst[1] * dst[2]; }
};

}  // namespace onepass::ops
