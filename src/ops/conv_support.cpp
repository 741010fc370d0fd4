// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_support.h"

#include <fmt/format.h>

#include <algorithm>

namespace onepass::ops {

int64_t conv_groups(const ir::Node& node) {
  const int64_t groups = node.attributes.get_int("group", 1);
  if (groups < 1 || groups > k_max_elements)
    refuse(node, "bad_attribute", fmt::format("group = {}", groups), "group >= 1");
  return groups;
}

void check_conv_operands(const ShapeContext& context) {
  require_static_extents(context);
  require_float(context, 0);
  require_same_dtype(context, 0, 1);
  require_rank(context, 0, 3, 5);
  const auto rank = static_cast<int64_t>(context.type(0).dims.size());
  require_rank(context, 1, rank, rank);
  const ir::Shape& weight = context.type(1).dims;
  if (std::any_of(weight.begin(), weight.end(),
                  [](int64_t extent) { return extent < 1 || extent > k_max_elements; }))
    refuse(context.node, "bad_weight", fmt::format("weight {}", ir::to_string(context.type(1))),
           "extents >= 1");
  const ir::Shape kernel(weight.begin() + 2, weight.end());
  const ir::Shape declared = context.node.attributes.get_ints("kernel_shape", kernel);
  if (declared != kernel)
    refuse(context.node, "bad_attribute",
           fmt::format("kernel_shape = {} with a weight {}", ir::to_string(declared),
                       ir::to_string(context.type(1))),
           fmt::format("kernel_shape = {}", ir::to_string(kernel)));
}

void check_conv_bias(const ShapeContext& context, int64_t dst_channels) {
  if (!context.has(2)) return;
  require_same_dtype(context, 0, 2);
  if (context.type(2).dims != ir::Shape{dst_channels})
    refuse(context.node, "bad_bias", fmt::format("bias {}", ir::to_string(context.type(2))),
           fmt::format("bias [{}]", dst_channels));
}

}  // namespace onepass::ops
