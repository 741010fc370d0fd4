// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/fold.h"

namespace onepass::patterns {

/// The ids that a pattern gives to the conditions of a BatchNormalization.
struct BatchNormConditions {
  const char* inference;  ///< training_mode 0 and one output
  const char* spatial;    ///< one statistic for each channel
  const char* constant;   ///< scale, bias, mean and variance are constants of type f32
};

std::optional<Failure> batchnorm_failure(const ir::Graph& graph, ir::NodeId bn,
                                         const BatchNormConditions& ids);

/// Why the four parameters are not of shape [channels].
std::optional<Failure> batchnorm_length_failure(const ir::Graph& graph, ir::NodeId bn, int64_t channels,
                                                const char* condition);

/// scale * (x - mean) / sqrt(var + epsilon) + bias as one multiplication and one addition, in double.
/// A negative var + epsilon gives a NaN channel, as the operator does.
ChannelAffine batchnorm_affine(const ir::Graph& graph, ir::NodeId bn);

/// Warnings about statistics that make a correct fold look wrong: large_gain, negative_variance,
/// placeholder_statistics, cancellation.
void warn_about_statistics(const ir::Graph& graph, ir::NodeId bn, Journal& journal);

}  // namespace onepass::patterns
