// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/epilogue.h"
#include "kernels/estimate.h"
#include "kernels/feature_map.h"
#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::kernels {

/// dst[n] = epilogue(left[n] right[n]), row-major matrices without gaps, both operands known at run time only
/// (a matrix of weights is a convolution's). left has n matrices; right has as many, or one for all. Epilogue
/// operands lie as dst does. Exactness: rounding (one fma chain per element in the order of the inner
/// extent). Operands: left, right, the epilogue's, dst.
struct MatrixProductSpec {
  FeatureMap src, right, dst;  ///< src is left; rows are pixels, columns are channels
  Epilogue epilogue;
};

struct MatrixProductExtents {
  int64_t matrices = 1, rows = 1, inner = 1, columns = 1;
  bool one_right = false;
};
MatrixProductSpec matrix_product_spec(const MatrixProductExtents& extents);
loops::LoopNest matrix_product(const std::string& name, const MatrixProductSpec& spec,
                               const targets::Target& target);
Estimate estimate_matrix_product(const MatrixProductSpec& spec, const targets::Target& target);

}  // namespace onepass::kernels
