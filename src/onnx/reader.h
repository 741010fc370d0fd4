// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "ir/graph.h"

namespace onepass::onnx {

enum class BatchNormMode {
  as_exported,  ///< training-mode BatchNormalization is refused
  assume_eval,  ///< it is read as inference mode, with a warning that the report keeps
};

struct ReadOptions {
  std::map<std::string, ir::Shape> input_shapes;  ///< --shape name=1x3x320x320, binds symbolic dimensions
  bool overridable = false;                       ///< initializers that are also graph inputs stay inputs
  BatchNormMode batch_norm = BatchNormMode::as_exported;
};

struct Model {
  ir::Graph graph;  ///< operators in their newest form; types of inputs and constants only
  int opset = 0;
  std::vector<Diagnostic> warnings;
};

/// Reads an ONNX file (opset 7 to 28). Unbound symbolic dimensions: a leading batch axis becomes 1, any other
/// is refused with the --shape that would bind it. External data is read only from inside the model's folder.
/// Throws Error; all unsupported nodes are reported in one Error.
Model read_model(const std::string& path, const ReadOptions& options = {});

/// The same from memory; `folder` is where external data may be read ("" refuses it).
Model read_model(std::span<const std::byte> bytes, const std::string& folder,
                 const ReadOptions& options = {});

}  // namespace onepass::onnx
