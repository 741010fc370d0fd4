// SPDX-License-Identifier: Apache-2.0
#include "property/network_text.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "ir/parser.h"
#include "passes/infer_shapes.h"

namespace onepass::test {

namespace {

constexpr const char* k_output = "output ";

bool is_output(const std::string& statement) {
  return statement.starts_with(k_output);
}

std::vector<std::string> split_names(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream stream(list);
  for (std::string name; std::getline(stream, name, ',');) {
    const size_t first = name.find_first_not_of(' '), last = name.find_last_not_of(' ');
    if (first != std::string::npos) names.push_back(name.substr(first, last - first + 1));
  }
  return names;
}

/// Where the operands of a node lie in its statement; empty for inputs and constants.
std::pair<size_t, size_t> operand_range(const std::string& statement) {
  const size_t equals = statement.find(" = ");
  if (is_output(statement))
    return {equals == std::string::npos ? std::string(k_output).size() : equals + 3, statement.size()};
  const std::string right = statement.substr(equals + 3);
  if (right.starts_with("input ") || right.starts_with("constant ")) return {0, 0};
  const size_t open = statement.find('(', equals);
  return {open + 1, statement.find(')', open)};
}

}  // namespace

std::string graph_text(const Statements& statements) {
  std::string text = "graph g {\n";
  for (const std::string& statement : statements) text += "  " + statement + "\n";
  return text + "}\n";
}

Statements statements_of(const std::string& text) {
  Statements statements;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with("  ")) statements.push_back(line.substr(2));
  return statements;
}

std::vector<std::string> defined_names(const std::string& statement) {
  return is_output(statement) ? std::vector<std::string>{}
                              : split_names(statement.substr(0, statement.find(" = ")));
}

std::vector<std::string> read_names(const std::string& statement) {
  const auto [first, last] = operand_range(statement);
  return split_names(statement.substr(first, last - first));
}

std::string with_operand(const std::string& statement, const std::string& from, const std::string& to) {
  const auto [first, last] = operand_range(statement);
  std::string operands;
  for (const std::string& name : read_names(statement))
    operands += (operands.empty() ? "" : ", ") + (name == from ? to : name);
  return statement.substr(0, first) + operands + statement.substr(last);
}

Statements without_unread(Statements statements) {
  std::set<std::string> read;
  Statements kept;
  for (auto statement = statements.rbegin(); statement != statements.rend(); ++statement) {
    const std::vector<std::string> names = defined_names(*statement);
    const bool wanted = is_output(*statement) || std::any_of(names.begin(), names.end(),
                                                             [&](const auto& n) { return read.contains(n); });
    if (!wanted) continue;
    for (const std::string& name : read_names(*statement)) read.insert(name);
    kept.push_back(*statement);
  }
  std::reverse(kept.begin(), kept.end());
  return kept;
}

std::map<std::string, ir::TensorType> types_of(const Statements& statements) {
  ir::Graph graph = ir::parse(graph_text(statements));
  passes::infer_shapes(graph);
  std::map<std::string, ir::TensorType> types;
  for (size_t i = 0; i < graph.value_capacity(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    types[value.name] = value.type;
  }
  return types;
}

}  // namespace onepass::test
