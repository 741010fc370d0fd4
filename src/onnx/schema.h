// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "ir/attributes.h"
#include "onnx/proto.h"
#include "onnx/tensor_reader.h"

namespace onepass::onnx {

inline constexpr int k_oldest_opset = 7;
inline constexpr int k_newest_opset = 28;

/// The opsets in which the standard has an operator that we read; {0, 0} for one that we do not know.
struct OpsetRange {
  int first = 0;
  int last = 0;
};
OpsetRange operator_opsets(std::string_view op);

/// The first opset in which `op` has `attribute`; 0 when it never had.
int attribute_since(std::string_view op, std::string_view attribute);

/// The attributes of a file's node, each checked by name, opset and type against attributes.def. Throws Error
/// with the node's fields filled in.
ir::Attributes read_attributes(const pb::NodeProto& node, int opset, TensorReader& tensors);

}  // namespace onepass::onnx
