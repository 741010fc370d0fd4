// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ir/tensor.h"

namespace onepass::ir {

/// Seeded values, uniform in [low, high), the same on every machine. The generator is
/// state <- state * 6364136223846793005 + 1442695040888963407 (mod 2^64), starting from the seed; each step
/// yields u = (state >> 40) / 2^24 and the element low + (high - low) * u, in double, rounded once. Integer
/// types take the floor.
Tensor random_tensor(DType dtype, Shape shape, uint64_t seed, double low = -1, double high = 1);

}  // namespace onepass::ir
