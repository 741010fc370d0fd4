// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include "loops/nest.h"

namespace onepass::emit {

/// The name of a value type in the C text: "f32x8"; one lane is a scalar of that name too.
std::string c_type(loops::Type type);

/// What every C text begins with: includes, the call record, integer division.
std::string c_prologue();

/// Tiles and their operations, for texts whose nests have some.
std::string c_tile_support();

/// The types of values with this many lanes, and those of their functions, such as "op_fma_f32x8", in `used`.
std::string c_lane_support(int lanes, const std::set<std::string>& used);

}  // namespace onepass::emit
