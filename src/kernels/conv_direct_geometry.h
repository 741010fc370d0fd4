// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/conv.h"

namespace onepass::kernels {

/// The counts that conv_direct's generator, packing and estimate share. Output channels of a group are cut
/// into vectors of `lanes`, vectors into panels of `panel_vectors`; the last panel of a group may be
/// narrower.
struct DirectGeometry {
  int64_t lanes, group_channels, group_outputs, vectors, panel_vectors, panels, last_vectors, taps;

  DirectGeometry(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target)
      : lanes(target.vector_lanes),
        group_channels(spec.src.c / spec.groups),
        group_outputs(spec.dst.c / spec.groups),
        vectors((group_outputs + lanes - 1) / lanes),
        panel_vectors(std::min<int64_t>(tile.vectors, vectors)),
        panels((vectors + panel_vectors - 1) / panel_vectors),
        last_vectors(vectors - (panels - 1) * panel_vectors),
        taps(spec.kernel_h * spec.kernel_w) {}

  int64_t reduction() const { return group_channels * taps; }
  int64_t panel_elems() const { return reduction() * panel_vectors * lanes; }
  int64_t group_elems() const { return reduction() * vectors * lanes; }
  /// Channels behind the last one in the last vector of a group: 0 when it is full.
  int64_t tail() const { return group_outputs % lanes; }
};

/// Columns cut into `count` tiles, the first `wide` of them `pixels` wide, the others one less.
struct ColumnTiles {
  int64_t pixels, count, wide;

  ColumnTiles(int64_t columns, int64_t most)
      : pixels((columns + (columns + most - 1) / most - 1) / ((columns + most - 1) / most)),
        count((columns + most - 1) / most),
        wide(columns - count * (pixels - 1)) {}
};

/// Pixels of a tile of `vectors` that the register file holds.
int64_t most_pixels(int64_t vectors, const targets::Target& target);

/// A plain source, one group, that lacks halo: its rows are copied with their padding before they are read.
bool stages_source(const ConvSpec& spec);

/// `spec` with merged_rows rows of every map counted as one.
ConvSpec merge_rows(const ConvSpec& spec, int64_t merged_rows);

}  // namespace onepass::kernels
