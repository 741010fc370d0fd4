// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder_attributes.h"

namespace onepass::zoo {

using Ints = std::vector<int64_t>;

ir::Attributes pool_attributes(const Window& window) {
  ir::Attributes attributes;
  attributes.set("kernel_shape", Ints{window.height, window.width});
  attributes.set("pads", Ints{window.pad_height, window.pad_width, window.pad_height, window.pad_width});
  attributes.set("strides", Ints{window.stride, window.stride});
  return attributes;
}

ir::Attributes conv_attributes(const Window& window, int64_t groups) {
  ir::Attributes attributes = pool_attributes(window);
  attributes.set("dilations", Ints{1, 1});
  attributes.set("group", groups);
  return attributes;
}

ir::Attributes gemm_attributes() {
  ir::Attributes attributes;
  attributes.set("transB", int64_t{1});
  return attributes;
}

ir::Attributes batchnorm_attributes(float epsilon) {
  // As a file would hold them: floats.
  ir::Attributes attributes;
  attributes.set("epsilon", static_cast<double>(epsilon));
  attributes.set("momentum", static_cast<double>(0.9F));
  attributes.set("training_mode", int64_t{0});
  return attributes;
}

ir::Attributes axis_attribute(int64_t axis) {
  ir::Attributes attributes;
  attributes.set("axis", axis);
  return attributes;
}

}  // namespace onepass::zoo
