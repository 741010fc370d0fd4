// SPDX-License-Identifier: Apache-2.0
#include "kernels/feature_map.h"

#include <algorithm>

#include "base/diagnostic.h"

namespace onepass::kernels {

namespace {

constexpr int64_t k_page_elems = 4096 / 4;
constexpr int64_t k_cache_line_elems = 64 / 4;

FeatureMap contiguous(FeatureMap map) {
  map.row_stride = (map.w + map.halo.left + map.halo.right) * map.block;
  map.plane_stride = (map.h + map.halo.top + map.halo.bottom) * map.row_stride;
  map.batch_stride = map.blocks() * map.plane_stride;
  return map;
}

/// Planes at multiples of the page size compete for the same cache sets.
void keep_off_pages(FeatureMap& map) {
  if (map.blocks() > 1 && map.plane_stride % k_page_elems == 0) map.plane_stride += k_cache_line_elems;
}

}  // namespace

Halo widest(const Halo& a, const Halo& b) {
  return {std::max(a.top, b.top), std::max(a.left, b.left), std::max(a.bottom, b.bottom),
          std::max(a.right, b.right)};
}

FeatureMap plain_map(int64_t n, int64_t c, int64_t h, int64_t w, const Halo& halo) {
  return contiguous({.n = n, .c = c, .h = h, .w = w, .block = 1, .halo = halo});
}

FeatureMap blocked_map(int64_t n, int64_t c, int64_t h, int64_t w, int64_t block, const Halo& halo) {
  FeatureMap map = contiguous({.n = n, .c = c, .h = h, .w = w, .block = block, .halo = halo});
  keep_off_pages(map);
  map.batch_stride = map.blocks() * map.plane_stride;
  return map;
}

FeatureMap held_map(FeatureMap map, int64_t rows) {
  require(map.n == 1 && map.offset == 0 && rows > 0, "a held map is one picture with a place of its own");
  map.plane_stride = rows * map.row_stride;
  keep_off_pages(map);
  map.batch_stride = map.blocks() * map.plane_stride;
  map.held = true;
  return map;
}

FeatureMap in_bf16(FeatureMap map) {
  map.scalar = loops::Scalar::bf16;
  return map;
}

FeatureMap matrix_map(int64_t rows, int64_t columns) {
  return contiguous({.n = 1, .c = columns, .h = 1, .w = rows, .block = columns});
}

FeatureMap channel_slice(const FeatureMap& map, int64_t first, int64_t count) {
  require(first % map.block == 0, "a channel slice starts at a block");
  FeatureMap slice = map;
  slice.c = count;
  slice.offset += first / map.block * map.plane_stride;
  return slice;
}

loops::BufferId input_map(loops::Builder& builder, std::string name, const FeatureMap& map) {
  return builder.input(std::move(name), map.elems(), 4, map.scalar);
}

loops::BufferId output_map(loops::Builder& builder, std::string name, const FeatureMap& map) {
  return builder.output(std::move(name), map.elems(), 4, map.scalar);
}

loops::Affine pixel_index(const FeatureMap& map, const loops::Affine& n, const loops::Affine& channel_block,
                          const loops::Affine& y, const loops::Affine& x) {
  return n * map.batch_stride + channel_block * map.plane_stride + y * map.row_stride + x * map.block +
         (map.offset + map.halo.top * map.row_stride + map.halo.left * map.block);
}

}  // namespace onepass::kernels
