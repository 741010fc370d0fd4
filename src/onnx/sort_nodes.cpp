// SPDX-License-Identifier: Apache-2.0
#include "onnx/sort_nodes.h"

#include <fmt/format.h>

#include <functional>
#include <queue>
#include <unordered_map>

#include "base/diagnostic.h"

namespace onepass::onnx {

namespace {

using Producers = std::unordered_map<std::string, int>;

Error refuse(const pb::NodeProto& node, std::string code, std::string message) {
  return Error({.code = std::move(code),
                .message = std::move(message),
                .node = node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name(),
                .op = node.op_type()});
}

Producers find_producers(const pb::GraphProto& graph, const std::unordered_set<std::string>& sources) {
  Producers producers;
  for (int i = 0; i < graph.node_size(); ++i)
    for (const std::string& output : graph.node(i).output())
      if (!output.empty() && (sources.contains(output) || !producers.emplace(output, i).second))
        throw refuse(graph.node(i), "duplicate_value", fmt::format("value '{}' is computed twice", output));
  return producers;
}

}  // namespace

std::vector<int> sort_nodes(const pb::GraphProto& graph, const std::unordered_set<std::string>& sources) {
  const Producers producers = find_producers(graph, sources);
  std::vector<int> waiting(graph.node_size(), 0);
  std::vector<std::vector<int>> readers(graph.node_size());
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (int i = 0; i < graph.node_size(); ++i) {
    for (const std::string& input : graph.node(i).input()) {
      if (input.empty() || sources.contains(input)) continue;
      const auto producer = producers.find(input);
      if (producer == producers.end())
        throw refuse(graph.node(i), "undefined_value", fmt::format("input '{}' is defined nowhere", input));
      readers[producer->second].push_back(i);
      ++waiting[i];
    }
    if (waiting[i] == 0) ready.push(i);
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (int reader : readers[order.back()])
      if (--waiting[reader] == 0) ready.push(reader);
  }
  for (int i = 0; i < graph.node_size(); ++i)
    if (waiting[i] > 0)
      throw refuse(graph.node(i), "cyclic_graph", "the node takes part in, or follows, a cycle");
  return order;
}

}  // namespace onepass::onnx
