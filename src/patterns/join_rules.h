// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/pattern.h"

namespace onepass::patterns {

/// What legal_join checks for every join.
inline constexpr Condition k_join_rules[] = {
    {"U1", "the group's result has no other reader and is no graph output"},
    {"U2", "the group stays convex: no other operand of the node is computed from the group"},
    {"U3", "the node keeps the type and shape of the group's result"},
    {"U4", "the group has fewer steps than the size cap"}};

}  // namespace onepass::patterns
