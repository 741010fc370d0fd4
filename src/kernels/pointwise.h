// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/epilogue.h"
#include "kernels/estimate.h"
#include "kernels/feature_map.h"
#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::kernels {

// Kernels that move or transform values pixel by pixel. Exactness: bitwise as the steps say.

// ---- elementwise: dst = epilogue(src), maps of the same extents, both blocked or both plain ---------------
// Halos of src and dst may differ; dst's halo is written as zero. Operands: src, the epilogue's, dst.
struct ElementwiseSpec {
  FeatureMap src, dst;
  Epilogue epilogue;
};
loops::LoopNest elementwise(const std::string& name, const ElementwiseSpec& spec,
                            const targets::Target& target);
Estimate estimate_elementwise(const ElementwiseSpec& spec);

// ---- layout: dst = src under another block, halo or offset ------------------------------------------------
// plain <-> blocked, plain -> plain with halo, blocked -> blocked with another halo or channel slice. The
// halo of dst and, when `zero_tail`, the lanes behind its last channel are written as zero. Operands: src,
// dst.
struct LayoutSpec {
  FeatureMap src, dst;
};
loops::LoopNest layout(const std::string& name, const LayoutSpec& spec, const targets::Target& target);
Estimate estimate_layout(const LayoutSpec& spec);

// ---- pool -------------------------------------------------------------------------------------------------
// Blocked maps. Windows are clipped to the map (MaxPool: padding is -inf; AveragePool: padding counts only
// with count_include_pad, as the standard counts it with ceil_mode). Never reads the halo. Operands: src, the
// epilogue's, dst.
struct PoolSpec {
  enum class Kind { max, average };
  Kind kind = Kind::max;
  FeatureMap src, dst;
  int64_t kernel_h = 1, kernel_w = 1;  ///< the whole map for a global pool
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0, pad_bottom = 0, pad_right = 0;
  bool count_include_pad = false;
  Epilogue epilogue;
};
loops::LoopNest pool(const std::string& name, const PoolSpec& spec, const targets::Target& target);
Estimate estimate_pool(const PoolSpec& spec);

// ---- resize, nearest by whole factors ---------------------------------------------------------------------
// dst[y, x] = src[y / factor_h, x / factor_w], blocked maps. Operands: src, dst.
struct UpsampleSpec {
  FeatureMap src, dst;
  int64_t factor_h = 2, factor_w = 2;
};
loops::LoopNest upsample(const std::string& name, const UpsampleSpec& spec, const targets::Target& target);
Estimate estimate_upsample(const UpsampleSpec& spec);

// ---- resize, linear ---------------------------------------------------------------------------------------
// Each row and column of dst lies between two of src. Blocked maps. Exactness: rounding. Operands: src,
// linear_weights of the rows, of the columns, dst.

/// Entry i lies at clamp((scale * i + shift) / divisor, 0, extent - 1) of the source.
struct LinearAxis {
  int64_t scale = 1, shift = 0, divisor = 1;
};
struct LinearResizeSpec {
  FeatureMap src, dst;
  LinearAxis rows, columns;
};
loops::LoopNest resize_linear(const std::string& name, const LinearResizeSpec& spec,
                              const targets::Target& target);
Estimate estimate_resize_linear(const LinearResizeSpec& spec);
/// Of the neighbours of every entry: the one before it, the one behind it.
std::vector<float> linear_weights(const LinearAxis& axis, int64_t src_extent, int64_t dst_extent);
double linear_position(const LinearAxis& axis, int64_t src_extent, int64_t entry);

// ---- softmax ----------------------------------------------------------------------------------------------
// dst = exp(src - greatest) / sum over the channels of each pixel, or its logarithm. Plain maps without gaps,
// h = 1: n = outer, c = extent of the axis, w = inner. Exactness: rounding; exp below 2^-125 is zero. src and
// dst may be the same memory. Operands: src, dst.
struct SoftmaxSpec {
  FeatureMap src, dst;
  bool log = false;
};
loops::LoopNest softmax(const std::string& name, const SoftmaxSpec& spec, const targets::Target& target);
Estimate estimate_softmax(const SoftmaxSpec& spec);

// ---- transpose --------------------------------------------------------------------------------------------
// Rows and columns of n matrices change places: dst[n, column, row] = src[n, row, column], each a run of w
// elements. Plain maps without gaps: src n x rows x columns x w, dst n x columns x rows x w. Operands: src,
// dst.
struct TransposeSpec {
  FeatureMap src, dst;
};
TransposeSpec transpose_spec(int64_t matrices, int64_t rows, int64_t columns, int64_t run);
loops::LoopNest transpose(const std::string& name, const TransposeSpec& spec, const targets::Target& target);
Estimate estimate_transpose(const TransposeSpec& spec);

}  // namespace onepass::kernels
