// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace onepass::test {

/// The statements of a graph in text form, one a line: "v1 = Relu(v0)", "output v1".
using Statements = std::vector<std::string>;

std::string graph_text(const Statements& statements);
Statements statements_of(const std::string& text);

/// The names that a statement defines, and those that it reads.
std::vector<std::string> defined_names(const std::string& statement);
std::vector<std::string> read_names(const std::string& statement);
/// The statement reading `to` wherever it reads `from`.
std::string with_operand(const std::string& statement, const std::string& from, const std::string& to);

/// Without the inputs, constants and nodes that no output depends on.
Statements without_unread(Statements statements);

/// The type of every value by name. Throws Error when the text is no valid network.
std::map<std::string, ir::TensorType> types_of(const Statements& statements);

}  // namespace onepass::test
