// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"
#include "ops/interpreter.h"

namespace onepass::test {

/// One seeded tensor for every graph input.
std::vector<ir::Tensor> random_inputs(const ir::Graph& graph, uint64_t seed);

/// Why `actual` differs from `expected` by more than `tolerance` times the largest finite magnitude (NaN and
/// infinities must stand in the same places); "" when it does not. Tolerance 0: equal elements.
std::string difference(const ir::Tensor& expected, const ir::Tensor& actual, double tolerance);

}  // namespace onepass::test
