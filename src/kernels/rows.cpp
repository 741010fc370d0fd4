// SPDX-License-Identifier: Apache-2.0
#include "kernels/rows.h"

#include <algorithm>

namespace onepass::kernels {

namespace {

using loops::Affine;

constexpr int64_t k_slice_elems = 16 << 10;  ///< less work is not worth the hand-over to a thread
constexpr int64_t k_scalar_bytes = 4;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

RowPosition position(loops::Builder& b, const RowGrid& grid, const Affine& plane, const Affine& y) {
  if (grid.n == 1) return {0, plane, y};
  const Affine n = b.floor_div(plane, grid.blocks);
  return {n, b.mod(plane, grid.blocks), y};
}

/// [begin, begin + step) cut at `end`; steps that divide `end` need no cut.
Affine cut(loops::Builder& b, const Affine& begin, int64_t step, int64_t end) {
  return end % step == 0 ? begin + step : b.min(begin + step, end);
}

}  // namespace

RowGrid row_grid(const FeatureMap& map) {
  return {.n = map.n, .blocks = map.blocks(), .rows = map.h, .row_work_elems = map.w * map.block};
}

int64_t rows_of_slice(const RowGrid& grid) {
  if (grid.rows * grid.row_work_elems < 2 * k_slice_elems) return 0;
  return std::min(grid.rows, ceil_div(k_slice_elems, grid.row_work_elems));
}

void for_each_row(loops::Builder& b, const RowGrid& grid,
                  const std::function<void(const RowPosition&)>& body) {
  const int64_t planes = grid.n * grid.blocks;
  const int64_t rows = rows_of_slice(grid);
  if (rows == 0) {
    const int64_t plane_elems = grid.rows * grid.row_work_elems;
    const int64_t step = std::min(planes, ceil_div(k_slice_elems, plane_elems));
    const Affine begin = b.slices(ceil_div(planes, step)) * step;
    b.loop("plane", begin, cut(b, begin, step, planes), 1, [&](Affine plane) {
      b.loop("y", 0, grid.rows, 1, [&](Affine y) { body(position(b, grid, plane, y)); });
    });
    return;
  }
  const int64_t groups = ceil_div(grid.rows, rows);
  const Affine slice = b.slices(planes * groups);
  const Affine plane = b.floor_div(slice, groups);
  const Affine begin = b.mod(slice, groups) * rows;
  b.loop("y", begin, cut(b, begin, rows, grid.rows), 1, [&](Affine y) { body(position(b, grid, plane, y)); });
}

bool plane_is_contiguous(const FeatureMap& map) {
  return map.halo.empty() && map.row_stride == map.w * map.block;
}

bool map_is_contiguous(const FeatureMap& map) {
  return plane_is_contiguous(map) && map.plane_stride == map.h * map.row_stride &&
         (map.n == 1 || map.batch_stride == map.blocks() * map.plane_stride);
}

int64_t contiguous_row_pixels(int64_t pixels, int64_t block, int64_t preferred) {
  const int64_t most = std::max<int64_t>(1, k_slice_elems / block);
  int64_t largest = 1;
  int64_t largest_preferred = 0;
  for (int64_t width = 1; width <= std::min(most, pixels); ++width) {
    if (pixels % width != 0) continue;
    largest = width;
    if (width % preferred == 0) largest_preferred = width;
  }
  return largest_preferred * 2 >= largest ? largest_preferred : largest;
}

FeatureMap with_row_pixels(FeatureMap map, int64_t width) {
  map.h = map.h * map.w / width;
  map.w = width;
  map.row_stride = width * map.block;
  return map;
}

int64_t channels_in_last_block(const FeatureMap& map) {
  return map.c - (map.blocks() - 1) * map.block;
}

void split_last_block(loops::Builder& b, const FeatureMap& map, const Affine& channel_block, bool wanted,
                      const std::function<void(bool)>& body) {
  if (!wanted) return body(false);
  if (map.blocks() == 1) return body(true);
  b.when(loops::Compare::eq, channel_block, map.blocks() - 1, [&] { body(true); }, [&] { body(false); });
}

loops::Value keep_lanes(const loops::Value& value, int64_t active) {
  const int lanes = value->type.lanes;
  return loops::select(loops::Compare::lt, loops::lane_index(lanes), loops::constant_i32(active, lanes),
                       value, loops::constant(0, lanes));
}

int64_t value_bytes(const FeatureMap& map) {
  return map.n * map.blocks() * map.block * map.h * map.w * loops::element_bytes(map.scalar);
}

int64_t value_and_halo_bytes(const FeatureMap& map) {
  const int64_t pixels = (map.h + map.halo.top + map.halo.bottom) * (map.w + map.halo.left + map.halo.right);
  return map.n * map.blocks() * map.block * pixels * loops::element_bytes(map.scalar);
}

int64_t operand_bytes(const Epilogue& epilogue, const FeatureMap& dst) {
  const int64_t channel_bytes = dst.blocks() * dst.block * k_scalar_bytes;
  int64_t bytes = 0;
  for (const EpilogueStep& step : epilogue.steps) {
    if (step.kind == EpilogueStep::Kind::affine) bytes += 2 * channel_bytes;
    if (step.kind != EpilogueStep::Kind::binary) continue;
    const StepOperand::Kind kind = step.operand.kind;
    if (kind == StepOperand::Kind::per_channel) bytes += channel_bytes;
    if (kind == StepOperand::Kind::gate || kind == StepOperand::Kind::map)
      bytes += value_bytes(step.operand.map);
  }
  return bytes;
}

}  // namespace onepass::kernels
