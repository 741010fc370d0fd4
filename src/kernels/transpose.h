// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loops/builder.h"

namespace onepass::kernels {

/// Two sets of as many vector registers as a vector has lanes: 4, 8, 16, ...
struct SquareRegisters {
  loops::RegisterId rows, spare;
  int lanes;
};
SquareRegisters square_registers(loops::Builder& builder, int lanes);

/// Transposes `rows` (slot i lane j becomes slot j lane i) and returns the set that holds the result; the
/// other one is overwritten. The shuffles are those that a unit with 128-bit lanes does in one instruction
/// each.
loops::RegisterId transpose(loops::Builder& builder, const SquareRegisters& square);

}  // namespace onepass::kernels
