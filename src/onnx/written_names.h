// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"

namespace onepass::onnx {

/// The names that values have in the file: graph inputs keep theirs, a value that is a graph output takes the
/// output's, and whatever would clash gets a number.
class WrittenNames {
 public:
  explicit WrittenNames(const ir::Graph& graph);

  const std::string& of(ir::ValueId value);
  /// Graph outputs that need an Identity: a second name of one value, or an input or constant under another
  /// name.
  const std::vector<ir::GraphOutput>& copies() const { return copies_; }

 private:
  const ir::Graph& graph_;
  std::unordered_map<int32_t, std::string> names_;
  std::unordered_set<std::string> taken_;
  std::vector<ir::GraphOutput> copies_;
};

}  // namespace onepass::onnx
