// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv_direct_geometry.h"
#include "kernels/winograd_transform.h"

namespace onepass::kernels {

/// Sums of products are restarted after so many channels: the error stays that of a short sum.
constexpr int64_t k_winograd_chunk_channels = 64;

/// The counts that conv_winograd's generator, packing and estimate share.
struct WinogradGeometry {
  int64_t lanes, alpha, m, points, tile_rows, tile_columns, image_tiles, block_tiles, blocks, channel_blocks,
      vectors, panel_vectors, panels, last_vectors;
  /// Elements between the planes of V: one vector more than a plane, so that planes do not meet in one cache
  /// set.
  int64_t source_point_stride, product_point_stride;

  WinogradGeometry(const ConvSpec& spec, const WinogradTile& tile, const targets::Target& target);
  const WinogradTransform& transform() const { return m == 4 ? winograd_f4() : winograd_f2(); }
  int64_t padded_channels() const { return channel_blocks * lanes; }
  int64_t panel_elems() const { return points * padded_channels() * panel_vectors * lanes; }
  int64_t weight_elems() const { return points * padded_channels() * vectors * lanes; }
};

}  // namespace onepass::kernels
