// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "kernels/epilogue.h"
#include "kernels/feature_map.h"
#include "loops/builder.h"

// What the kernels that go over a map row by row share.
namespace onepass::kernels {

/// Rows of a map, shared out to slices of about equal work.
struct RowGrid {
  int64_t n = 1, blocks = 1, rows = 1;
  int64_t row_work_elems = 1;  ///< elements that one row reads or writes, whichever is more
};
RowGrid row_grid(const FeatureMap& map);
/// Rows of one plane that a slice of for_each_row goes over; 0: slices are whole planes.
int64_t rows_of_slice(const RowGrid& grid);

/// Where one row stands.
struct RowPosition {
  loops::Affine n, channel_block, y;
};

/// Declares the slices and calls `body` once inside the loops over rows.
void for_each_row(loops::Builder& builder, const RowGrid& grid,
                  const std::function<void(const RowPosition&)>& body);

/// Rows lie one after another without halo: a plane is one run of pixels.
bool plane_is_contiguous(const FeatureMap& map);
/// No halo, nothing between planes or batches either.
bool map_is_contiguous(const FeatureMap& map);

/// A width for the rows of a plane of `pixels` pixels that are contiguous anyway: a divisor, large but at
/// most about 16K elements a row, a multiple of `preferred` where that costs little.
int64_t contiguous_row_pixels(int64_t pixels, int64_t block, int64_t preferred);
/// The same memory with rows of `width` pixels; the planes are contiguous.
FeatureMap with_row_pixels(FeatureMap map, int64_t width);

/// Lanes of the last channel block that hold channels.
int64_t channels_in_last_block(const FeatureMap& map);
/// Calls body(true) for the last channel block and body(false) for the others, under a run-time condition
/// where both exist; body(false) alone when `wanted` is false.
void split_last_block(loops::Builder& builder, const FeatureMap& map, const loops::Affine& channel_block,
                      bool wanted, const std::function<void(bool last)>& body);
/// `value` with zero in the lanes from `active` on.
loops::Value keep_lanes(const loops::Value& value, int64_t active);

/// Bytes of the values of a map with the lanes behind the last channel, without and with the halo.
int64_t value_bytes(const FeatureMap& map);
int64_t value_and_halo_bytes(const FeatureMap& map);
/// Bytes that the epilogue's operands add.
int64_t operand_bytes(const Epilogue& epilogue, const FeatureMap& dst);

}  // namespace onepass::kernels
