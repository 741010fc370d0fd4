// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace onepass::kernels {

/// What a kernel costs, by counting: the planner's only source of facts about it.
struct Estimate {
  double flops = 0;           ///< useful floating-point operations, an fma counts two
  double executed_flops = 0;  ///< with the waste of tiles and channel blocks
  /// Those of executed_flops in steps and other code without fma chains: far from peak, whatever the tile.
  double pointwise_flops = 0;
  int64_t bytes_read = 0;     ///< feature maps and operands, each counted once
  int64_t bytes_written = 0;  ///< halo included
  int64_t weight_bytes = 0;
  int64_t l2_bytes = 0;  ///< bytes that inner loops stream from L2 or beyond (weights and maps reread)
  int registers = 0;     ///< vector registers live in the inner loop
  int64_t scratch_bytes = 0;
  double efficiency = 1;  ///< share of peak that the register tile can reach
};

}  // namespace onepass::kernels
