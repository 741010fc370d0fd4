// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace onepass::targets {

/// One CPU class. Kernels take vector width, registers, tiles and layout block from here, never from
/// constants.
struct Target {
  const char* name;      ///< "x86-64-v4"
  const char* triple;    ///< "x86_64-unknown-linux-gnu"
  const char* cpu;       ///< LLVM -mcpu
  const char* features;  ///< LLVM -mattr
  int vector_lanes;      ///< f32 lanes of a vector register; also the channel block of a feature map
  int vector_registers;
  bool broadcast_operand;                ///< a scalar in memory is an FMA operand for free (AVX-512 {1toN})
  double tile_products_per_ns;           ///< 16x16x32 bf16 tile products of one core; 0 without AMX
  int64_t l1_bytes, l2_bytes, l3_bytes;  ///< per core, per core, shared
  double flops_per_cycle;                ///< peak f32 FMA, one core
  double clock_ghz;                      ///< for the cost model; nominal
  double l2_bytes_per_ns, l3_bytes_per_ns, memory_bytes_per_ns;  ///< read bandwidth, one core
  double launch_ns;                                              ///< cost of one launch
};

/// Every known target, most capable last.
std::span<const Target> all();

/// "native" is the most capable class that this host executes. Throws Error("unknown_target") listing the
/// names.
const Target& find(std::string_view name);

/// Whether this host can execute code for `target` (CPUID and operating-system state).
bool host_executes(const Target& target);

}  // namespace onepass::targets
