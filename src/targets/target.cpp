// SPDX-License-Identifier: Apache-2.0
#include "targets/target.h"

#if defined(__x86_64__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "base/diagnostic.h"

namespace onepass::targets {

namespace {

constexpr Target k_targets[] = {
    {.name = "x86-64-v3",
     .triple = "x86_64-unknown-linux-gnu",
     .cpu = "x86-64-v3",
     .features = "+avx2,+fma,+prefer-256-bit",
     .vector_lanes = 8,
     .vector_registers = 16,
     .broadcast_operand = false,
     .tile_products_per_ns = 0,
     .l1_bytes = 32 << 10,
     .l2_bytes = 512 << 10,
     .l3_bytes = 16 << 20,
     .flops_per_cycle = 32,
     .clock_ghz = 3.0,
     .l2_bytes_per_ns = 90,
     .l3_bytes_per_ns = 60,
     .memory_bytes_per_ns = 15,
     .launch_ns = 100},
    {.name = "x86-64-v4",
     .triple = "x86_64-unknown-linux-gnu",
     .cpu = "x86-64-v4",
     .features = "+avx512f,+avx512vl,+avx512bw,+avx512dq,-prefer-256-bit",
     .vector_lanes = 16,
     .vector_registers = 32,
     .broadcast_operand = true,
     .tile_products_per_ns = 0,
     .l1_bytes = 48 << 10,
     .l2_bytes = 2 << 20,
     .l3_bytes = 32 << 20,
     .flops_per_cycle = 64,
     .clock_ghz = 2.6,
     .l2_bytes_per_ns = 100,
     .l3_bytes_per_ns = 25,
     .memory_bytes_per_ns = 12,
     .launch_ns = 100},
    {.name = "x86-64-v4+amx",
     .triple = "x86_64-unknown-linux-gnu",
     .cpu = "x86-64-v4",
     .features = "+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512bf16,+amx-tile,+amx-bf16,-prefer-256-bit",
     .vector_lanes = 16,
     .vector_registers = 32,
     .broadcast_operand = true,
     .tile_products_per_ns = 0.17,
     .l1_bytes = 48 << 10,
     .l2_bytes = 2 << 20,
     .l3_bytes = 32 << 20,
     .flops_per_cycle = 64,
     .clock_ghz = 3.3,
     .l2_bytes_per_ns = 100,
     .l3_bytes_per_ns = 25,
     .memory_bytes_per_ns = 16,
     .launch_ns = 100},
};

#if defined(__x86_64__)
/// AMX with bf16, AVX512_BF16, and the kernel's leave to use tile data, which Linux gives once a process asks
/// (arch_prctl(2), ARCH_REQ_XCOMP_PERM).
bool host_multiplies_tiles() {
  constexpr long k_request_permission = 0x1023, k_tile_data = 18;
  const bool instructions = __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("amx-tile") &&
                            __builtin_cpu_supports("amx-bf16");
  return instructions && syscall(SYS_arch_prctl, k_request_permission, k_tile_data) == 0;
}
#endif

}  // namespace

std::span<const Target> all() {
  return k_targets;
}

const Target& find(std::string_view name) {
  const Target* best = nullptr;
  std::string names = "native";
  for (const Target& target : k_targets) {
    if (name == target.name) return target;
    if (name == "native" && host_executes(target)) best = &target;
    names += std::string(", ") + target.name;
  }
  if (best != nullptr) return *best;
  throw Error({.code = "unknown_target",
               .message = "no target is named '" + std::string(name) + "'",
               .accepted = names});
}

bool host_executes(const Target& target) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (target.vector_lanes == 8) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  return avx512 && (target.tile_products_per_ns == 0 || host_multiplies_tiles());
#else
  (void)target;
  return false;
#endif
}

}  // namespace onepass::targets
