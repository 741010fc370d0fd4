// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "ir/graph.h"
#include "onnx/proto.h"

namespace onepass::onnx {

struct WriteLimits {
  int64_t external_from_bytes = int64_t{1}
                                << 30;  ///< weights of this size in all go to an external data file
};

/// write_model with the limits in hand.
void write_model(const ir::Graph& graph, const std::string& path, const WriteLimits& limits);

/// The lowest opset, 13 or later, that has all operators and attributes of `graph`.
int lowest_opset(const ir::Graph& graph);

}  // namespace onepass::onnx
