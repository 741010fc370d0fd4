// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include "kernels/conv.h"
#include "kernels/pointwise.h"

namespace onepass::kernels {

struct ConvDirectChoice {
  ConvSpec spec;
  ConvTile tile;
};

struct ConvDepthwiseChoice {
  ConvSpec spec;
  DepthwiseTile tile;
};

/// Everything that a kernel is made from: its family, shapes, algorithm and tile.
using KernelChoice =
    std::variant<ConvDirectChoice, ConvDepthwiseChoice, PoolSpec, ElementwiseSpec, LayoutSpec, UpsampleSpec>;

const char* family_name(const KernelChoice& choice);
loops::LoopNest build(const std::string& name, const KernelChoice& choice, const targets::Target& target);
Estimate estimate(const KernelChoice& choice, const targets::Target& target);

const FeatureMap& src_of(const KernelChoice& choice);
const FeatureMap& dst_of(const KernelChoice& choice);
/// Null for families without steps.
Epilogue* epilogue_of(KernelChoice& choice);

/// The best convolution kernel for `spec` by estimate. Throws InternalError when none supports it.
KernelChoice choose_conv(const ConvSpec& spec, const targets::Target& target);
/// The weights as the chosen convolution reads them.
std::vector<float> pack_weights(const KernelChoice& choice, const targets::Target& target, std::span<const float> weights);

}  // namespace onepass::kernels
