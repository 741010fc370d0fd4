// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "kernels/conv.h"
#include "kernels/matrix_product.h"
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

struct ConvWinogradChoice {
  ConvSpec spec;
  WinogradTile tile;
};

struct ConvAmxChoice {
  ConvSpec spec;
  AmxTile tile;
};

/// Which algorithms a convolution may use.
struct ConvPolicy {
  bool winograd = true;  ///< false: no transforms
  int amx_products = 6;  ///< fewest products of parts that stand for an f32 product: 6, 3, 1; 0: none
  bool operator==(const ConvPolicy&) const = default;

  /// Direct sums alone (`--tolerance=exact`).
  static ConvPolicy exact() { return {.winograd = false, .amx_products = 0}; }
};

/// Everything that a kernel is made from: its family, shapes, algorithm and tile.
using KernelChoice = std::variant<ConvDirectChoice, ConvDepthwiseChoice, ConvWinogradChoice, ConvAmxChoice,
                                  PoolSpec, ElementwiseSpec, LayoutSpec, UpsampleSpec, SoftmaxSpec,
                                  LinearResizeSpec, TransposeSpec, MatrixProductSpec>;

const char* family_name(const KernelChoice& choice);
loops::LoopNest build(const std::string& name, const KernelChoice& choice, const targets::Target& target);
Estimate estimate(const KernelChoice& choice, const targets::Target& target);

const FeatureMap& src_of(const KernelChoice& choice);
const FeatureMap& dst_of(const KernelChoice& choice);
/// Another place for the same values.
void set_src(KernelChoice& choice, const FeatureMap& map);
void set_dst(KernelChoice& choice, const FeatureMap& map);
/// Null for families without steps.
Epilogue* epilogue_of(KernelChoice& choice);

/// The kernels that may compute `spec` under `policy`, each with its best tile, fastest first by estimate:
/// those for which src has the halo.
std::vector<KernelChoice> conv_candidates(const ConvSpec& spec, const targets::Target& target,
                                          const ConvPolicy& policy = {});
/// The first of them. Throws InternalError when no kernel supports the convolution.
KernelChoice choose_conv(const ConvSpec& spec, const targets::Target& target, const ConvPolicy& policy = {});
/// The halo that the best kernel reads; spec's maps have their block but no halo yet.
Halo preferred_halo(const ConvSpec& spec, const targets::Target& target, const ConvPolicy& policy = {});
/// The weights as the chosen convolution reads them.
std::vector<float> pack_weights(const KernelChoice& choice, const targets::Target& target,
                                std::span<const float> weights);

}  // namespace onepass::kernels
