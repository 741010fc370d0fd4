// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "loops/nest.h"

namespace onepass::loops {

/// Runs slices [slice_begin, slice_end) of `nest`. `operands` are the memory of its non-scratch buffers, in
/// order, each of at least Buffer::elems elements (4 bytes each). Scratch is filled with NaN before each
/// slice. Every access is checked: throws InternalError naming the nest, the buffer and the index when one is
/// out of bounds, when an undefined register is read, or when a read-only buffer would be written.
void interpret(const LoopNest& nest, std::span<const std::span<std::byte>> operands, int64_t slice_begin,
               int64_t slice_end);

}  // namespace onepass::loops
