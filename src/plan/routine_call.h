// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace onepass::plan {

/// A node as one launch of a plain routine of the runtime library. All operands are plain row-major.
struct RoutineCall {
  std::string symbol;                ///< "onepass_softmax_f32"
  std::vector<int64_t> params;       ///< the routine's own layout; doubles by bit pattern
  std::vector<ir::ValueId> inputs;   ///< read, in operand order
  std::vector<ir::ValueId> outputs;  ///< written, operands behind the inputs
  bool writes_count = false;         ///< one more operand at the end: the int64 count slot of output 0
  int64_t slices = 1;
  int64_t scratch_bytes = 0;  ///< per thread
};

/// The routine for `node`; nothing when no routine does it (the caller refuses the node by name).
std::optional<RoutineCall> routine_call(const ir::Graph& graph, ir::NodeId node);

}  // namespace onepass::plan
