// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "loops/nest.h"

namespace onepass::loops {

/// The nest as readable text (`--emit=loops`).
std::string print(const LoopNest& nest);

}  // namespace onepass::loops
