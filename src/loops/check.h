// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loops/nest.h"

namespace onepass::loops {

/// Throws InternalError when a nest breaks a rule of the language: ids in range, types agree, unrolled bounds
/// constant, variables defined before use, positive divisors, inputs not written.
void check(const LoopNest& nest);

}  // namespace onepass::loops
