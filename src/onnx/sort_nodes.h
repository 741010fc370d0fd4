// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "onnx/proto.h"

namespace onepass::onnx {

/// Indices of the graph's nodes, producers before consumers, otherwise in file order. `sources` are the names
/// of inputs and initializers. Throws Error: "duplicate_value", "undefined_value", "cyclic_graph".
std::vector<int> sort_nodes(const pb::GraphProto& graph, const std::unordered_set<std::string>& sources);

}  // namespace onepass::onnx
