// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace onepass::zoo {

/// Every standard topology, small and large.
std::vector<std::string> topology_names();

/// A topology with seeded random weights, the same bytes on every machine; values are not typed yet. Throws
/// Error("unknown_topology") listing the names.
ir::Graph make_topology(const std::string& name, uint64_t seed = 1);

}  // namespace onepass::zoo
