// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/plan.h"

namespace onepass::plan {

/// Says for every buffer which launch touches it first and which last; a count lives to the end of a run.
void set_lifetimes(Plan& plan);

/// Gives every arena buffer its offset (64-byte aligned) by lifetime: largest first, at the lowest offset
/// that no buffer alive at the same time covers. A launch's destination takes over an operand of the same
/// layout when the operand dies there.
void plan_memory(Plan& plan);

/// Walks the launches and recomputes from scratch what is alive, sharing no code with plan_memory: no two
/// live buffers overlap, nothing reads what was not written or was overwritten, no input or constant is
/// written, every buffer lies inside the arena. Throws InternalError naming launch and buffers.
void check_memory(const Plan& plan);

}  // namespace onepass::plan
