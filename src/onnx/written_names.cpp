// SPDX-License-Identifier: Apache-2.0
#include "onnx/written_names.h"

#include <fmt/format.h>

namespace onepass::onnx {

WrittenNames::WrittenNames(const ir::Graph& graph) : graph_(graph) {
  for (ir::ValueId input : graph.inputs()) {
    names_[input.index] = graph.value(input).name;
    taken_.insert(graph.value(input).name);
  }
  for (const ir::GraphOutput& output : graph.outputs()) {
    const ir::Value& value = graph.value(output.value);
    const auto named = names_.find(output.value.index);
    if (named != names_.end() && named->second == output.name) continue;
    const bool renamed = named == names_.end() && (value.producer.valid() || value.name == output.name);
    if (!taken_.insert(output.name).second)
      throw Error({.code = "cannot_write",
                   .message = fmt::format("graph output '{}' has the name of another value", output.name)});
    if (renamed)
      names_[output.value.index] = output.name;
    else
      copies_.push_back(output);
  }
}

const std::string& WrittenNames::of(ir::ValueId id) {
  const auto [entry, added] = names_.try_emplace(id.index);
  if (!added) return entry->second;
  const std::string& stem = graph_.value(id).name.empty() ? "value" : graph_.value(id).name;
  entry->second = stem;
  for (int number = 1; !taken_.insert(entry->second).second; ++number)
    entry->second = fmt::format("{}_{}", stem, number);
  return entry->second;
}

}  // namespace onepass::onnx
