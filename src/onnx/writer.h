// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ir/graph.h"

namespace onepass::onnx {

/// Writes `graph` as plain ONNX: standard operators alone, at the lowest opset (13 or later) that has them
/// all. Weights of 1 GiB and more go to an external data file beside it. The file appears by rename. Throws
/// Error("cannot_write") with the path.
void write_model(const ir::Graph& graph, const std::string& path);

}  // namespace onepass::onnx
