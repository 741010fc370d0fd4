// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "patterns/pattern.h"

namespace onepass::plan {

/// A value that is a range of another one's bytes, as ONNX lays both out.
struct BytePart {
  ir::ValueId value;
  int64_t first_bytes = 0, size_bytes = 0;
};

/// A node that puts values side by side (Concat) or takes one apart (Split, Slice) along one axis.
struct PlainParts {
  ir::NodeId node;
  ir::ValueId whole;
  std::vector<BytePart> parts;  ///< their places where `rows` is 1
  int64_t rows = 1;             ///< stretches of each part: the product of the extents before the axis
  bool cuts = false;            ///< the whole is computed first
};

/// Nothing when `node` does not do that, or an extent is 0 or depends on data.
std::optional<PlainParts> plain_parts(const ir::Graph& graph, ir::NodeId node);

/// Bytes of a value as ONNX lays it out.
int64_t plain_bytes(const ir::Graph& graph, ir::ValueId value);

/// concat_over (docs/patterns.md): a Concat that gives a Split's source with some of its parts replaced.
struct ReplacedParts {
  ir::NodeId split, concat;
  ir::ValueId source;
  std::vector<bool> kept;  ///< by part
};

/// What the conditions say of a Concat of which an operand is a part of a Split at its own place; nothing for
/// other nodes.
std::optional<std::variant<ReplacedParts, patterns::Failure>> replaced_parts(const ir::Graph& graph,
                                                                             ir::NodeId concat);

}  // namespace onepass::plan
