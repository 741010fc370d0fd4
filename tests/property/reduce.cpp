// SPDX-License-Identifier: Apache-2.0
#include "property/reduce.h"

#include "base/diagnostic.h"
#include "property/network_text.h"

namespace onepass::test {

namespace {

using Fails = std::function<bool(const std::string&)>;

bool is_valid(const Statements& statements) {
  try {
    types_of(statements);
    return true;
  } catch (const Error&) {
    return false;
  }
}

bool accept(Statements& current, const Statements& candidate, const Fails& fails) {
  const Statements smaller = without_unread(candidate);
  if (smaller == current || !is_valid(smaller) || !fails(graph_text(smaller))) return false;
  current = smaller;
  return true;
}

Statements without(const Statements& statements, size_t index) {
  Statements result = statements;
  result.erase(result.begin() + static_cast<std::ptrdiff_t>(index));
  return result;
}

/// The statements with `name` gone: whoever read it reads `other`.
Statements bypassed(const Statements& statements, size_t index, const std::string& name,
                    const std::string& other) {
  Statements result = without(statements, index);
  for (size_t i = index; i < result.size(); ++i) result[i] = with_operand(result[i], name, other);
  return result;
}

bool drop_outputs(Statements& current, const Fails& fails) {
  bool changed = false;
  for (size_t i = current.size(); i-- > 0;)
    if (i < current.size() && current[i].starts_with("output "))
      changed |= accept(current, without(current, i), fails);
  return changed;
}

/// One node less: its readers read its operand, it is an input, or an output stands earlier.
bool drop_node(Statements& current, size_t index, const Fails& fails) {
  const std::string statement = current[index];
  const std::vector<std::string> names = defined_names(statement), operands = read_names(statement);
  if (names.size() != 1 || operands.empty()) return false;
  for (const std::string& operand : operands)
    if (accept(current, bypassed(current, index, names[0], operand), fails)) return true;
  const std::string type = ir::to_string(types_of(current).at(names[0]));
  Statements cut = current;
  cut[index] = names[0] + " = input " + type;
  return accept(current, cut, fails);
}

bool drop_nodes(Statements& current, const Fails& fails) {
  bool changed = false;
  for (size_t i = current.size(); i-- > 0;)
    if (i < current.size()) changed |= drop_node(current, i, fails);
  return changed;
}

}  // namespace

std::string reduce(const std::string& text, const Fails& fails) {
  Statements current = statements_of(text);
  while (drop_outputs(current, fails) || drop_nodes(current, fails)) {
  }
  return graph_text(current);
}

}  // namespace onepass::test
