// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "ir/types.h"
#include "onnx/proto.h"
#include "onnx/reader.h"

namespace onepass::onnx {

struct BoundInput {
  std::string name;
  ir::TensorType type;
  bool widened_half = false;
};

/// Static types for the inputs that a caller feeds. A dimension comes from the file, from --shape, or from
/// another input's dimension of the same name; a leading one that is left becomes 1. Throws Error:
/// "unbound_dimension", "shape_mismatch", "unknown_input", "missing_type", "unsupported_type".
std::vector<BoundInput> bind_inputs(std::span<const pb::ValueInfoProto* const> inputs,
                                    const ReadOptions& options);

}  // namespace onepass::onnx
