// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zoo/builder.h"

namespace onepass::zoo {

ir::Attributes conv_attributes(const Window& window, int64_t groups);
ir::Attributes gemm_attributes();
ir::Attributes batchnorm_attributes(float epsilon);
ir::Attributes pool_attributes(const Window& window);  ///< kernel_shape, pads, strides
ir::Attributes axis_attribute(int64_t axis);

}  // namespace onepass::zoo
