// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/batchnorm.h"

namespace onepass::patterns {

/// What the folds of a BatchNormalization into the node before it have in common.
inline constexpr Condition k_linear_batchnorm_conditions[] = {
    {"C1", "the BatchNormalization is in inference form: training_mode 0 and one output"},
    {"C2", "it has one statistic for each channel (spatial is not 0)"},
    {"C3", "its scale, bias, mean and variance are constants of type f32; a graph input is none"},
    {"C4", "weights and bias of the node before it are constants of type f32; a graph input is none"},
    {"C5", "weights and bias have the shapes of the standard (for Gemm: bias scalar or one for each column)"},
    {"C6", "the four parameters have one entry for each output channel"},
    {"C7", "no gain is infinite and no finite weight leaves the range of f32"}};

inline constexpr const char* k_linear_batchnorm_formula =
    "w'[o] = w[o] * s[o], b'[o] = (b[o] - mean[o]) * s[o] + bias[o], s = scale / sqrt(variance + epsilon)";

/// The pair (`linear` node, BatchNormalization) with root `bn`.
std::optional<Match> match_linear_batchnorm(const ir::Graph& graph, ir::NodeId bn, ir::Op linear);
std::optional<Failure> check_linear_batchnorm(const ir::Graph& graph, const Match& match);
std::vector<ir::ValueId> replace_linear_batchnorm(ir::Graph& graph, const Match& match, Journal& journal);

}  // namespace onepass::patterns
