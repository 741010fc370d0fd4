// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "driver/pipeline.h"

namespace onepass::test {

/// Seeded inputs in [-1, 1) for f32 graph inputs, small non-negative integers for others.
std::vector<ir::Tensor> random_inputs(const ir::Graph& graph, uint32_t seed);

/// Runs the loaded model on `inputs` with guard pages around arena and buffers and NaN in the arena. Counted
/// extents come back as they are.
std::vector<ir::Tensor> run_guarded(const driver::Program& program, const runtime::LoadedModel& model,
                                    const std::vector<ir::Tensor>& inputs, int threads = 1);

/// max|a - b| / max(1, max|b|) with NaN and infinities at the same places, infinite otherwise; for integers 0
/// or infinite. Types and extents must agree.
double error(const ir::Tensor& actual, const ir::Tensor& expected);

/// Same type, extents and bytes.
bool same_bits(const ir::Tensor& a, const ir::Tensor& b);

}  // namespace onepass::test
