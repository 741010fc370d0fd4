// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "patterns/pattern.h"

namespace onepass::patterns {

/// y = x * scale[c] + shift[c], one entry for each channel, in double.
struct ChannelAffine {
  std::vector<double> scale, shift;
};

/// New weights and bias of a linear node, f32.
struct FoldedWeights {
  ir::Tensor weights;
  ir::Tensor bias;
};

/// The ids that a pattern gives to the conditions of a linear node (Conv, ConvTranspose, Gemm).
struct LinearConditions {
  const char* constant;  ///< weights and bias are constants of type f32
  const char* shape;     ///< weights and bias have the shapes of the standard
};

/// The constant behind a value, through Identity nodes; null when there is none.
const ir::Tensor* known_constant(const ir::Graph& graph, ir::ValueId value);

/// Why input `input` of `node` is no f32 constant; `what` names it ("weights").
std::optional<Failure> constant_failure(const ir::Graph& graph, ir::NodeId node, size_t input,
                                        const char* what, const char* condition);

std::optional<Failure> linear_failure(const ir::Graph& graph, ir::NodeId linear, const LinearConditions& ids);

/// Channels that a checked linear node computes or reads.
int64_t output_channels(const ir::Graph& graph, ir::NodeId linear);
int64_t input_channels(const ir::Graph& graph, ir::NodeId conv);

/// Weights and bias of affine(linear(x)), computed in double and rounded once.
FoldedWeights fold_behind(const ir::Graph& graph, ir::NodeId linear, const ChannelAffine& affine);

/// Weights and bias of conv(affine(x)), computed in double and rounded once. The shift is exact where no
/// padding is.
FoldedWeights fold_in_front(const ir::Graph& graph, ir::NodeId conv, const ChannelAffine& affine);

/// An infinite weight or bias that was finite before, or an infinite gain: folded, sums that cancel become
/// NaN.
std::optional<Failure> overflow_failure(const ir::Graph& graph, ir::NodeId linear,
                                        const ChannelAffine& affine, const FoldedWeights& folded,
                                        const char* condition);

/// A node like `linear` on input `x` with other weights; returns its output. Other readers keep the old
/// weights.
ir::ValueId rebuild_linear(ir::Graph& graph, ir::NodeId linear, ir::ValueId x, const FoldedWeights& folded,
                           ir::TensorType type);

}  // namespace onepass::patterns
