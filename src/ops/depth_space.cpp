// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/data_movement.h"
#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

int64_t block_of(const ir::Node& node) {
  constexpr int64_t k_max_block = 1 << 15;
  const int64_t block = required_int(node, "blocksize");
  if (block < 1 || block > k_max_block)
    refuse(node, "unsupported_attribute", fmt::format("blocksize is {}", block),
           fmt::format("1 to {}", k_max_block));
  return block;
}

bool column_row_depth(const ir::Node& node) {
  const std::string mode = node.attributes.get_string("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    refuse(node, "unsupported_attribute", fmt::format("mode is '{}'", mode), "DCR or CRD");
  return mode == "CRD";
}

const ir::TensorType& image_type(const ShapeContext& context) {
  require_rank(context, 0, 4, 4);
  if (context.type(0).counted_axis > 0) refuse_counted(context, 0, "the batch axis");
  return context.type(0);
}

[[noreturn]] void refuse_block(const ShapeContext& context, int64_t block, const char* accepted) {
  refuse(context.node, "bad_extent",
         fmt::format("{} with blocksize {}", ir::to_string(context.type(0)), block), accepted);
}

std::vector<ir::TensorType> depth_to_space_shape(const ShapeContext& context) {
  ir::TensorType type = image_type(context);
  const int64_t block = block_of(context.node);
  column_row_depth(context.node);
  if (type.dims[1] % (block * block) != 0) refuse_block(context, block, "channels divisible by blocksize^2");
  type.dims = {type.dims[0], type.dims[1] / (block * block), type.dims[2] * block, type.dims[3] * block};
  return one_output(context, type);
}

void depth_to_space_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const int64_t b = block_of(node);
  const ir::Shape& s = inputs[0]->shape();
  const int64_t c = s[1] / (b * b);
  if (column_row_depth(node))
    transpose_into(inputs[0]->reshaped({s[0], c, b, b, s[2], s[3]}), {0, 1, 4, 2, 5, 3}, outputs[0]);
  else
    transpose_into(inputs[0]->reshaped({s[0], b, b, c, s[2], s[3]}), {0, 3, 4, 1, 5, 2}, outputs[0]);
}

std::vector<ir::TensorType> space_to_depth_shape(const ShapeContext& context) {
  ir::TensorType type = image_type(context);
  const int64_t block = block_of(context.node);
  if (type.dims[2] % block != 0 || type.dims[3] % block != 0)
    refuse_block(context, block, "height and width divisible by blocksize");
  checked(context.node, {type.dtype, {type.dims[1], block, block}});
  type.dims = {type.dims[0], type.dims[1] * block * block, type.dims[2] / block, type.dims[3] / block};
  return one_output(context, type);
}

void space_to_depth_reference(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const int64_t b = block_of(node);
  const ir::Shape& s = inputs[0]->shape();
  const ir::Tensor blocks = inputs[0]->reshaped({s[0], s[1], s[2] / b, b, s[3] / b, b});
  transpose_into(blocks, {0, 3, 5, 1, 2, 4}, outputs[0]);
}

}  // namespace

const Meaning k_meaning_DepthToSpace{depth_to_space_shape, depth_to_space_reference,
                                     depth_to_space_reference};
const Meaning k_meaning_SpaceToDepth{space_to_depth_shape, space_to_depth_reference,
                                     space_to_depth_reference};

}  // namespace onepass::ops
