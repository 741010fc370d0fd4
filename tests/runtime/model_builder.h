// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "artefact/description.h"
#include "ir/graph.h"

namespace onepass::test {

/// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// Several graphs side by side in one model of plain routines: inputs and outputs in the order of the graphs.
struct RoutineModel {
  artefact::Description description;
  std::vector<std::byte> weights;

  /// Adds a typed graph; every node has to have a routine.
  void add(const ir::Graph& graph);
};

/// Assembles and links the model; returns the path of the shared object inside `folder`.
std::string link_model(const artefact::Description& description, const std::vector<std::byte>& weights,
                       const TemporaryFolder& folder);

/// A graph from its body in text form, typed.
ir::Graph typed_graph(const std::string& body);

}  // namespace onepass::test
