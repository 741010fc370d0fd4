// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ir/graph.h"

namespace onepass::ir {

struct PrintOptions {
  bool types = true;       ///< types of the values that nodes compute, where known
  bool provenance = true;  ///< @opset(...) and @from(...) of nodes that have them
};

/// The graph in its text form (grammar: ir/parser.h): inputs, constants that are read, nodes in topological
/// order, outputs. parse() reads it back; print(parse(print(g))) == print(g). Two values of one name are told
/// apart by a number.
std::string print(const Graph& graph, const PrintOptions& options = {});

}  // namespace onepass::ir
