// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "loops/nest.h"

namespace onepass::test {

/// dst[slice, pixels x channels] = sum over k of src * weights, `vectors` registers of `lanes` per pixel.
struct TileShape {
  int pixels, vectors, lanes;
  int64_t depth;
  int unroll;
  int64_t slices;
};
loops::LoopNest gemm_tile(const std::string& name, const TileShape& shape);

/// A 3x3 window over rows of 16 channels, taps unrolled and overlapping.
loops::LoopNest window(const std::string& name, int lanes, bool overlapping);

/// Small nests that together use every construct of the language at `lanes` lanes.
std::vector<loops::LoopNest> construct_nests(int lanes);

/// bf16 packing and tile products, for targets with tiles, for the C text and the interpreter.
std::vector<loops::LoopNest> tile_nests();

}  // namespace onepass::test
