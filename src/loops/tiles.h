// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "loops/nest.h"

namespace onepass::loops {

/// Binary::pack_bf16 of one lane.
uint32_t pack_bf16(uint32_t low, uint32_t high);

/// TileProduct: sum += a * b, each k_tile_rows * k_tile_words words.
void tile_product(uint32_t* sum, const uint32_t* a, const uint32_t* b);

}  // namespace onepass::loops
