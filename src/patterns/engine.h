// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "patterns/pattern.h"

namespace onepass::patterns {

/// What the engine checks for every rewrite.
inline constexpr Condition k_rewrite_rules[] = {
    {"U1", "no interior value has a reader outside the match"},
    {"U2", "no interior value is a graph output"},
    {"U3", "the match is convex: no path leaves it and comes back"},
    {"U4", "the replacement keeps the type and shape of every output of the root"}};

/// The first of U1 to U3 that the match breaks.
std::optional<Failure> universal_failure(const ir::Graph& graph, const Match& match);

/// Builds the replacement aside; if it keeps U4, redirects the readers, hands on the origins, removes the
/// match and records it. Otherwise the graph stays as it was.
std::optional<Failure> apply(ir::Graph& graph, const RewritePattern& pattern, const Match& match,
                             Journal& journal);

/// The users' names of the nodes, in order.
std::vector<std::string> node_names(const ir::Graph& graph, std::span<const ir::NodeId> nodes);

/// Whether `value` is computed from one of `nodes`.
bool depends_on(const ir::Graph& graph, ir::ValueId value, std::span<const ir::NodeId> nodes);

}  // namespace onepass::patterns
