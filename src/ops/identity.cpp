// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

std::vector<ir::TensorType> identity_shape(const ShapeContext& context) {
  return one_output(context, context.type(0));
}

void identity_reference(const ir::Node&, Inputs inputs, Outputs outputs) {
  outputs[0] = *inputs[0];
}

std::vector<ir::TensorType> dropout_shape(const ShapeContext& context) {
  if (context.has(2)) {
    require_dtype(context, 2, {ir::DType::boolean});
    const std::vector<int64_t> training = context.constant(2).to_ints();
    if (training.size() != 1 || training[0] != 0)
      refuse(context.node, "training_mode", "the node drops elements at random",
             "training_mode false: export the model in inference mode");
  }
  if (context.node.outputs.size() > 2)
    refuse(context.node, "too_many_outputs", "more than two outputs are asked for", "output and mask");
  ir::TensorType mask = context.type(0);
  mask.dtype = ir::DType::boolean;
  std::vector<ir::TensorType> types{checked(context.node, context.type(0)), mask};
  types.resize(context.node.outputs.size());
  return types;
}

void dropout_reference(const ir::Node&, Inputs inputs, Outputs outputs) {
  outputs[0] = *inputs[0];
  if (outputs.size() > 1) std::ranges::fill(outputs[1].data<bool>(), true);
}

}  // namespace

const Meaning k_meaning_Identity{identity_shape, identity_reference, identity_reference};
const Meaning k_meaning_Dropout{dropout_shape, dropout_reference, dropout_reference};

}  // namespace onepass::ops
