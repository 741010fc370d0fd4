// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan/plan.h"

namespace onepass::test {

/// The target of these tests wherever they run: nothing here is executed.
const targets::Target& plan_target();

/// A graph from its statements, typed; each node bears the name of its first output.
ir::Graph typed_graph(const std::string& statements);
plan::Plan plan_of(const std::string& statements, const plan::PlanOptions& options = {});

ir::NodeId node_named(const ir::Graph& graph, const std::string& name);
ir::ValueId value_named(const ir::Graph& graph, const std::string& name);

/// The only buffer of that name.
const plan::Buffer& buffer_named(const plan::Plan& plan, const std::string& name);
/// The launch whose name is `name`, and its number.
int32_t launch_named(const plan::Plan& plan, const std::string& name);
/// Launches of a kernel family.
int64_t launches_of(const plan::Plan& plan, const std::string& family);
/// The first buffer that the launch of that name writes.
const plan::Buffer& destination(const plan::Plan& plan, const std::string& launch);

/// The decisions about `producer` followed by `reader`.
std::vector<plan::Decision> decisions_between(const plan::Plan& plan, const std::string& producer,
                                              const std::string& reader);

}  // namespace onepass::test
