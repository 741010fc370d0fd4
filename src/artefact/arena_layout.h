// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// How a run divides the caller's arena: the planned arena, then one block per thread. A block holds a cache
// line of control data, the addresses of one launch's operands, and the thread's scratch.
namespace onepass::artefact {

constexpr int64_t k_arena_alignment_bytes = 64;

constexpr int64_t aligned_bytes(int64_t bytes) {
  return (bytes + k_arena_alignment_bytes - 1) / k_arena_alignment_bytes * k_arena_alignment_bytes;
}

struct ThreadBlock {
  int64_t operands_offset_bytes = k_arena_alignment_bytes;
  int64_t scratch_offset_bytes = 0;
  int64_t size_bytes = 0;
};

constexpr ThreadBlock thread_block(int64_t max_operand_count, int64_t scratch_bytes) {
  ThreadBlock block;
  block.scratch_offset_bytes = block.operands_offset_bytes + aligned_bytes(max_operand_count * 8);
  block.size_bytes = block.scratch_offset_bytes + aligned_bytes(scratch_bytes);
  return block;
}

constexpr int64_t total_arena_bytes(int64_t arena_bytes, const ThreadBlock& block, int64_t threads) {
  return aligned_bytes(arena_bytes) + threads * block.size_bytes;
}

}  // namespace onepass::artefact
