// SPDX-License-Identifier: Apache-2.0
#include "kernels/halo.h"

#include <algorithm>

namespace onepass::kernels {

namespace {

/// Zeros in [begin, begin + elems), whole vectors first.
void zero_run(loops::Builder& b, loops::BufferId dst, const loops::Affine& begin, int64_t elems, int lanes) {
  const int64_t whole = elems / lanes * lanes;
  if (whole > 0)
    b.loop("i", 0, whole, lanes,
           [&](loops::Affine i) { b.store(dst, begin + i, loops::constant(0, lanes)); });
  if (whole < elems) b.store(dst, begin + whole, loops::constant(0, lanes), static_cast<int>(elems - whole));
}

void zero_rows(loops::Builder& b, loops::BufferId dst, const FeatureMap& map, const loops::Affine& begin,
               int64_t rows, int lanes) {
  const int64_t row_elems = (map.w + map.halo.left + map.halo.right) * map.block;
  b.loop("row", 0, rows, 1,
         [&](loops::Affine row) { zero_run(b, dst, begin + row * map.row_stride, row_elems, lanes); });
}

}  // namespace

void zero_halo_of_row(loops::Builder& b, loops::BufferId dst, const FeatureMap& map, const PlaneRow& at,
                      int vector_lanes) {
  const auto& [n, channel_block, y] = at;
  const loops::Affine plane = pixel_index(map, n, channel_block, -map.halo.top, -map.halo.left);
  const loops::Affine row = pixel_index(map, n, channel_block, y, -map.halo.left);
  if (map.halo.left > 0) zero_run(b, dst, row, map.halo.left * map.block, vector_lanes);
  if (map.halo.right > 0)
    zero_run(b, dst, row + (map.halo.left + map.w) * map.block, map.halo.right * map.block, vector_lanes);
  if (map.halo.top > 0)
    b.when(loops::Compare::eq, y, 0, [&] { zero_rows(b, dst, map, plane, map.halo.top, vector_lanes); });
  if (map.halo.bottom > 0)
    b.when(loops::Compare::eq, y, map.h - 1, [&] {
      zero_rows(b, dst, map, plane + (map.halo.top + map.h) * map.row_stride, map.halo.bottom, vector_lanes);
    });
}

}  // namespace onepass::kernels
