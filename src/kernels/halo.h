// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/feature_map.h"
#include "loops/builder.h"

namespace onepass::kernels {

/// One row of one plane of a map.
struct PlaneRow {
  loops::Affine n, channel_block, y;
};

/// Writes zeros into the part of dst's halo that belongs to one row of one plane: its left and right columns,
/// with the first row the rows above, with the last row the rows below. Every row of a plane is visited once
/// by a kernel, so the whole halo is written in every run.
void zero_halo_of_row(loops::Builder& builder, loops::BufferId dst, const FeatureMap& map, const PlaneRow& at,
                      int vector_lanes);

}  // namespace onepass::kernels
