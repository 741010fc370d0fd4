// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/plan.h"

namespace onepass::plan {

struct Grouping {
  std::vector<Group> groups;  ///< producers before consumers
  std::vector<Decision> decisions;
};

/// Grows groups from anchors, last anchor first, so that of two convolutions that meet in an Add the later
/// one takes it. Every join that a rule or the cost model refuses becomes a Decision with its reason.
Grouping group_nodes(const ir::Graph& graph, const targets::Target& target, const PlanOptions& options);

/// A node whose result is its input under another shape: it moves nothing on a plain buffer.
bool is_view(const ir::Graph& graph, ir::NodeId node);

}  // namespace onepass::plan
