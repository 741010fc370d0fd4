// SPDX-License-Identifier: Apache-2.0
#include "ops/operands.h"

#include <fmt/format.h>

#include <numeric>

#include "ops/shape_support.h"

namespace onepass::ops {

std::vector<int64_t> int_operand(const ShapeContext& context, size_t input) {
  require_dtype(context, input, {ir::DType::i64, ir::DType::i32});
  require_rank(context, input, 0, 1);
  return context.constant(input).to_ints();
}

int64_t int_scalar_operand(const ShapeContext& context, size_t input) {
  const std::vector<int64_t> values = int_operand(context, input);
  if (values.size() != 1)
    refuse(context.node, "bad_operand", fmt::format("input {} has {} elements", input, values.size()), "one");
  return values[0];
}

int64_t required_int(const ir::Node& node, const char* name) {
  if (!node.attributes.has(name))
    refuse(node, "missing_attribute", fmt::format("attribute '{}' is missing", name), "an integer");
  return node.attributes.get_int(name, 0);
}

std::vector<int64_t> all_axes(int64_t rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

void refuse_counted(const ShapeContext& context, size_t input, const char* accepted) {
  refuse(context.node, "counted_extent",
         fmt::format("input {} is {}: its extent depends on data", input, ir::to_string(context.type(input))),
         accepted);
}

}  // namespace onepass::ops
