// SPDX-License-Identifier: Apache-2.0
#include "kernels/row_slices.h"

#include <algorithm>

#include "kernels/conv_amx_geometry.h"
#include "kernels/conv_direct_geometry.h"
#include "kernels/conv_ragged.h"
#include "kernels/conv_winograd_geometry.h"
#include "kernels/pool_global.h"
#include "kernels/pool_step.h"
#include "kernels/rows.h"

namespace onepass::kernels {

namespace {

/// Outputs of one channel that keep tiles busy; more rows at a time make those behind wait longer.
constexpr int64_t k_few_positions = 192;

/// Groups of `step` rows of `rows`.
std::vector<RowGroup> even_groups(int64_t rows, int64_t step) {
  std::vector<RowGroup> groups;
  for (int64_t begin = 0; begin < rows; begin += step) {
    const int64_t end = std::min(begin + step, rows);
    groups.push_back({begin, end, end});
  }
  return groups;
}

/// Slices of one convolution; the window follows.
RowSlices with_window(RowSlices slices, const ConvSpec& spec) {
  slices.stride = spec.stride_h;
  slices.before = spec.pad_top;
  slices.extent = (spec.kernel_h - 1) * spec.dilation_h + 1;
  return slices;
}

RowSlices rows_of(const ConvDirectChoice& c, const targets::Target& target) {
  const int64_t rows = c.spec.dst.h;
  if (is_ragged(c.spec, target)) {
    const int64_t count = RaggedGeometry(c.spec, c.tile.vectors, target).count();
    return {.outer = c.tile.rows_outer ? 1 : count,
            .repeat = c.tile.rows_outer ? count : 1,
            .groups = even_groups(rows, 1)};
  }
  if (stages_source(c.spec)) return {.groups = even_groups(rows, 1)};
  const int64_t panels = DirectGeometry(c.spec, c.tile, target).panels;
  return {.outer = c.spec.groups * (c.tile.rows_outer ? 1 : panels),
          .repeat = c.tile.rows_outer ? panels : 1,
          .groups = even_groups(rows, c.tile.merged_rows)};
}

RowSlices rows_of(const ConvDepthwiseChoice& c, const targets::Target&) {
  return {.outer = c.spec.src.blocks(), .groups = even_groups(c.spec.dst.h, 1)};
}

/// Blocks of tiles may start and end inside a row of tiles.
RowSlices rows_of(const ConvWinogradChoice& c, const targets::Target& target) {
  const WinogradGeometry g(c.spec, c.tile, target);
  const int64_t rows = c.spec.dst.h;
  RowSlices result;
  for (int64_t tile = 0; tile < g.image_tiles; tile += g.block_tiles) {
    const int64_t end = std::min(tile + g.block_tiles, g.image_tiles);
    result.groups.push_back({.begin = tile / g.tile_columns * g.m,
                             .end = std::min(((end - 1) / g.tile_columns + 1) * g.m, rows),
                             .done = std::min(end / g.tile_columns * g.m, rows)});
  }
  return result;
}

RowSlices rows_of(const ConvAmxChoice& c, const targets::Target&) {
  return {.repeat = c.tile.panel_slices, .groups = even_groups(c.spec.dst.h, c.tile.rows)};
}

/// Of for_each_row over the grid.
std::optional<RowSlices> rows_of(const RowGrid& grid) {
  const int64_t step = rows_of_slice(grid);
  if (step == 0) return std::nullopt;
  return RowSlices{.outer = grid.n * grid.blocks, .groups = even_groups(grid.rows, step)};
}

std::optional<RowSlices> rows_of(const PoolSpec& spec) {
  if (is_global_pool(spec)) return std::nullopt;
  std::optional<RowSlices> slices = rows_of(pool_grid(spec));
  if (!slices) return slices;
  slices->stride = spec.stride_h;
  slices->before = spec.pad_top;
  slices->extent = (spec.kernel_h - 1) * spec.dilation_h + 1;
  return slices;
}

std::optional<RowSlices> rows_of(const UpsampleSpec& spec) {
  std::optional<RowSlices> slices = rows_of(row_grid(spec.dst));
  if (slices) slices->divisor = spec.factor_h;
  return slices;
}

}  // namespace

int64_t RowSlices::first_source_row(const RowGroup& group, int64_t src_rows) const {
  return std::clamp<int64_t>(group.begin * stride - before, 0, src_rows * divisor) / divisor;
}

int64_t RowSlices::end_source_row(const RowGroup& group, int64_t src_rows) const {
  const int64_t last = (group.end - 1) * stride - before + extent;
  return (std::clamp<int64_t>(last, 0, src_rows * divisor) + divisor - 1) / divisor;
}

std::optional<RowSlices> row_slices(const KernelChoice& choice, const targets::Target& target) {
  if (dst_of(choice).n != 1) return std::nullopt;
  return std::visit(
      [&](const auto& c) -> std::optional<RowSlices> {
        using Choice = std::decay_t<decltype(c)>;
        if constexpr (std::is_same_v<Choice, PoolSpec> || std::is_same_v<Choice, UpsampleSpec>) {
          return rows_of(c);
        } else if constexpr (requires { c.tile; }) {
          const bool sets = std::is_same_v<Choice, ConvAmxChoice> && c.spec.groups > 1;
          if (c.spec.phases || sets) return std::nullopt;
          return with_window(rows_of(c, target), c.spec);
        } else {
          return std::nullopt;
        }
      },
      choice);
}

KernelChoice with_rows(const KernelChoice& choice, int64_t rows, const targets::Target& target) {
  KernelChoice result = choice;
  if (auto* amx = std::get_if<ConvAmxChoice>(&result)) {
    amx->tile.panel_slices = 1;
    const int64_t few = (k_few_positions + amx->spec.dst.w - 1) / amx->spec.dst.w;
    amx->tile.rows = std::min({amx->tile.rows, rows, few});
  }
  if (auto* direct = std::get_if<ConvDirectChoice>(&result)) {
    ConvTile& tile = direct->tile;
    while (tile.merged_rows > rows || direct->spec.dst.h % tile.merged_rows != 0) --tile.merged_rows;
    const int64_t most = most_pixels(tile.vectors, target);
    if (!is_ragged(direct->spec, target))
      tile.pixels = static_cast<int>(ColumnTiles(direct->spec.dst.w * tile.merged_rows, most).pixels);
    tile.rows_outer = true;
  }
  return result;
}

}  // namespace onepass::kernels
