// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "plan/support.h"

namespace onepass::test {

/// x = f32[1,32,9,9]; w1, w3: 1x1 and 3x3 filters from 32 to 32 channels; v, v3: from 64 to 16.
extern const char* const k_placement_weights;
inline constexpr const char* k_placement_targets[] = {"x86-64-v3", "x86-64-v4"};

/// The plan of `statements` behind k_placement_weights.
plan::Plan placed_plan(const std::string& statements, const char* target = "x86-64-v3",
                       const plan::PlanOptions& options = {});

/// Seeded values in [-1, 1) for every graph input.
std::vector<ir::Tensor> noise_for(const ir::Graph& graph);
/// Within `tolerance` of the largest value, at least 1.
void expect_near(const ir::Tensor& actual, const ir::Tensor& expected, double tolerance,
                 const std::string& where);
/// In place and with copies, for 8 and 16 lanes: near the reference, and the same bits where both can be run.
void expect_same_results(const std::string& statements);

/// Bytes from the start of `outer` to that of `inner`, which share a buffer.
int64_t distance(const plan::Plan& plan, const std::string& inner, const std::string& outer);
int64_t block_bytes(const plan::Plan& plan, const std::string& buffer);
/// The refusals of concat_slices under `condition`.
int64_t refused(const plan::Plan& plan, const std::string& condition);
/// Launches that copy a slice.
int64_t copies(const plan::Plan& plan);

}  // namespace onepass::test
