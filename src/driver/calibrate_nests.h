// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::driver {

/// Bytes of a slice of read_nest: less than any L1.
constexpr int64_t k_read_slice_bytes = 16 << 10;

/// Reads a buffer of `bytes` once, slice by slice, in whole vectors. Operands: src, a vector block to write.
loops::LoopNest read_nest(const targets::Target& target, int64_t bytes);

/// Reads the same slice `repeats` times.
loops::LoopNest read_again_nest(const targets::Target& target, int64_t repeats);

/// `steps` times four independent tile products. Operands: four tiles of words, one tile of sums to write.
loops::LoopNest tile_nest(int64_t steps);

}  // namespace onepass::driver
