// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "kernels/conv_phases.h"
#include "kernels/epilogue.h"
#include "kernels/estimate.h"
#include "kernels/feature_map.h"
#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::kernels {

/// dst[n,k,y,x] = epilogue(bias[k] + sum over c, kh, kw of
///   weights[k,c,kh,kw] * src[n, c, y * stride_h - pad_top + kh * dilation_h, x * stride_w - pad_left + kw *
///   dilation_w])
/// c runs over the channels of k's group. src's halo holds all padding that the window reaches;
/// only conv_direct reads a plain src of one group without it.
struct ConvSpec {
  FeatureMap src, dst;
  int64_t kernel_h = 1, kernel_w = 1;
  int64_t stride_h = 1, stride_w = 1;
  int64_t dilation_h = 1, dilation_w = 1;
  int64_t pad_top = 0, pad_left = 0;
  int64_t groups = 1;
  bool bias = false;
  Epilogue epilogue;
  /// The outputs are phases of a transposed convolution; the epilogue and its operands are about the whole
  /// result.
  std::optional<OutputPhases> phases = {};
};

/// The halo that `src` needs so that no window leaves the buffer.
Halo required_halo(const ConvSpec& spec);

// ---- conv_direct: register tiles of pixels x output channels ----------------------------------------------
// Declared exactness: rounding (one fma chain per output in the order channel block, kh, kw, channel).
// Operands: src, weights, bias if any, the epilogue's, dst.

/// At most pixels x vectors accumulators; maps whose width is no multiple mix tiles of `pixels` and fewer.
struct ConvTile {
  int pixels = 1;
  int vectors = 1;          ///< output channel vectors
  bool rows_outer = true;   ///< slice order: rows before channel panels (weights stay in L2) or after
  int64_t merged_rows = 1;  ///< 1x1 over maps without halo: so many rows of a map count as one
};

/// Whether conv_direct can do it: dense, or groups of which no vector holds more than four; a blocked source
/// where they do not fill whole vectors.
bool conv_direct_supports(const ConvSpec& spec, const targets::Target& target);
/// Register tiles worth considering, best first by estimate.
std::vector<ConvTile> conv_direct_tiles(const ConvSpec& spec, const targets::Target& target);
loops::LoopNest conv_direct(const std::string& name, const ConvSpec& spec, const ConvTile& tile,
                            const targets::Target& target);
Estimate estimate_conv_direct(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target);
/// weights[k, c / groups, kh, kw] as conv_direct streams them, zero-filled to whole vectors.
std::vector<float> pack_conv_direct(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target,
                                    std::span<const float> weights);

// ---- conv_depthwise: lanes are channels -------------------------------------------------------------------
// Groups of equally many input and output channels that divide a vector; 1 per group is depthwise. Exactness
// and operands as above (order kh, channel of the group, kw).

struct DepthwiseTile {
  int pixels = 1;
};

bool conv_depthwise_supports(const ConvSpec& spec, const targets::Target& target);
std::vector<DepthwiseTile> conv_depthwise_tiles(const ConvSpec& spec, const targets::Target& target);
loops::LoopNest conv_depthwise(const std::string& name, const ConvSpec& spec, const DepthwiseTile& tile,
                               const targets::Target& target);
Estimate estimate_conv_depthwise(const ConvSpec& spec, const DepthwiseTile& tile,
                                 const targets::Target& target);
std::vector<float> pack_conv_depthwise(const ConvSpec& spec, const targets::Target& target,
                                       std::span<const float> weights);

// ---- conv_winograd: F(4x4, 3x3) and F(2x2, 3x3), fused by blocks of tiles --------------------------------
// 3x3, stride 1, dilation 1, one group. Declared exactness: approximate, max|error| <= 2e-6 * max(1,
// max|dst|) for sums of order 1 (as accurate as a direct sum; docs/numerics.md). Operands as above.

struct WinogradTile {
  int64_t m = 4;       ///< outputs per tile and axis: 4 or 2
  int64_t tiles = 14;  ///< tiles of a block; V and M of a block stay in L2
  int vectors = 2;     ///< output channel vectors of a register tile
};

bool conv_winograd_supports(const ConvSpec& spec, const targets::Target& target);
std::vector<WinogradTile> conv_winograd_tiles(const ConvSpec& spec, const targets::Target& target);
/// The halo that whole tiles read: padding, and the rows and columns behind the map that the last tiles
/// cover.
Halo winograd_halo(const ConvSpec& spec, const WinogradTile& tile);
loops::LoopNest conv_winograd(const std::string& name, const ConvSpec& spec, const WinogradTile& tile,
                              const targets::Target& target);
Estimate estimate_conv_winograd(const ConvSpec& spec, const WinogradTile& tile,
                                const targets::Target& target);
/// Transformed in double, rounded once: [output panel][point][channel][vectors * lanes].
std::vector<float> pack_conv_winograd(const ConvSpec& spec, const WinogradTile& tile,
                                      const targets::Target& target, std::span<const float> weights);

// ---- conv_amx: tile products of bf16 parts ----------------------------------------------------------------
// One group; targets with tile products. Declared exactness: approximate, for finite values whose parts are
// normal numbers; with 6 products as a direct sum, with 3 max|error| <= 1e-5, with 1 <= 2e-2, each times
// max(1, max|dst|) for sums of order 1 (docs/numerics.md). Operands as above; src needs no halo.

struct AmxTile {
  int products = 6;          ///< of parts, for one f32 product: 6, 3 or 1
  int64_t rows = 1;          ///< output rows of a slice
  int64_t panel_slices = 1;  ///< slices along the output channels
  bool streams_weights =
      false;  ///< weights come from beyond L2: fetch a panel while the one before is in use
};

bool conv_amx_supports(const ConvSpec& spec, const targets::Target& target);
std::vector<AmxTile> conv_amx_tiles(const ConvSpec& spec, int products, const targets::Target& target);
loops::LoopNest conv_amx(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
                         const targets::Target& target);
Estimate estimate_conv_amx(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target);
/// Words of bf16 pairs, by their bits: [output panel][32 channels][tap][part][output vector][channel
/// pair][output lane].
std::vector<float> pack_conv_amx(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target,
                                 std::span<const float> weights);

/// A per-channel vector with zeros up to whole blocks of dst.
std::vector<float> pad_channels(std::span<const float> values, const FeatureMap& dst,
                                const targets::Target& target);

}  // namespace onepass::kernels
