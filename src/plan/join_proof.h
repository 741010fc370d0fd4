// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan/family.h"
#include "plan/plan.h"

namespace onepass::plan {

struct JoinProof {
  bool holds = false;
  std::string text;  ///< what was checked, or the first element that differs
};

/// Whether the group's kernel with `step` joined gives the same bits as the group's kernel followed by the step in a
/// kernel of its own. Both nests, for the group's own kernel size, strides, epilogue and tile on a map cut to two rows
/// and at most two channel blocks, run in the loop interpreter on seeded data. Nothing is executed natively, so the
/// answer is the same for a foreign target.
JoinProof prove_join(const ir::Graph& graph, const Group& group, Family family, const patterns::Step& step,
                     const targets::Target& target);

}  // namespace onepass::plan
