// SPDX-License-Identifier: Apache-2.0
#include "plan/memory.h"

#include <algorithm>
#include <numeric>

namespace onepass::plan {

namespace {

constexpr int64_t k_alignment_bytes = 64;

int64_t rounded(int64_t bytes) {
  return (bytes + k_alignment_bytes - 1) / k_alignment_bytes * k_alignment_bytes;
}

/// Memory that one or more buffers use one after another.
struct Block {
  int64_t size_bytes = 0;
  int32_t first_launch = 0, last_launch = 0;
  int64_t offset_bytes = -1;
};

int32_t root_of(const Plan& plan, int32_t buffer) {
  while (plan.buffers[buffer].shares >= 0) buffer = plan.buffers[buffer].shares;
  return buffer;
}

/// In place: the destination lies where an operand dies, unless the launch reads that operand in another
/// role, or either lies inside a buffer that others share.
void share(Plan& plan) {
  for (int32_t l = 0; l < static_cast<int32_t>(plan.launches.size()); ++l) {
    const Launch& launch = plan.launches[l];
    if (launch.may_take_over.empty()) continue;
    Buffer& dst = plan.buffers[launch.writes.front()];
    for (int32_t operand : launch.may_take_over) {
      const Buffer& old = plan.buffers[operand];
      const auto roles = std::count(launch.reads.begin(), launch.reads.end(), operand);
      const bool dies = old.space == BufferSpace::arena && old.last_launch == l && roles == 1;
      if (!dies || dst.space != BufferSpace::arena || dst.first_launch != l ||
          old.size_bytes != dst.size_bytes || old.inside >= 0 || dst.inside >= 0)
        continue;
      dst.shares = operand;
      break;
    }
  }
}

bool alive_together(const Block& a, const Block& b) {
  return a.first_launch <= b.last_launch && b.first_launch <= a.last_launch;
}

void place(Block& block, const std::vector<const Block*>& placed) {
  std::vector<const Block*> neighbours;
  for (const Block* other : placed)
    if (alive_together(block, *other)) neighbours.push_back(other);
  std::sort(neighbours.begin(), neighbours.end(),
            [](const Block* a, const Block* b) { return a->offset_bytes < b->offset_bytes; });
  block.offset_bytes = 0;
  for (const Block* other : neighbours) {
    if (block.offset_bytes + block.size_bytes <= other->offset_bytes) break;
    block.offset_bytes = std::max(block.offset_bytes, other->offset_bytes + rounded(other->size_bytes));
  }
}

}  // namespace

void set_lifetimes(Plan& plan) {
  const auto touch = [&](int32_t buffer, int32_t launch) {
    Buffer& b = plan.buffers[buffer];
    if (b.first_launch < 0) b.first_launch = launch;
    b.last_launch = launch;
  };
  for (int32_t l = 0; l < static_cast<int32_t>(plan.launches.size()); ++l) {
    for (int32_t buffer : plan.launches[l].reads) touch(buffer, l);
    for (int32_t buffer : plan.launches[l].writes) touch(buffer, l);
  }
  for (const Buffer& inner : plan.buffers) {
    if (inner.inside < 0 || inner.first_launch < 0) continue;
    Buffer& outer = plan.buffers[inner.inside];
    if (outer.first_launch < 0 || outer.first_launch > inner.first_launch)
      outer.first_launch = inner.first_launch;
    outer.last_launch = std::max(outer.last_launch, inner.last_launch);
  }
  for (const Count& count : plan.counts)
    plan.buffers[count.buffer].last_launch = static_cast<int32_t>(plan.launches.size());
}

void plan_memory(Plan& plan) {
  share(plan);
  std::vector<Block> blocks(plan.buffers.size());
  std::vector<int32_t> roots;
  for (int32_t b = 0; b < static_cast<int32_t>(plan.buffers.size()); ++b) {
    const Buffer& buffer = plan.buffers[b];
    if (buffer.space != BufferSpace::arena || buffer.first_launch < 0 || buffer.inside >= 0) continue;
    const int32_t root = root_of(plan, b);
    if (root == b) {
      roots.push_back(b);
      blocks[b] = {buffer.size_bytes, buffer.first_launch, buffer.last_launch};
    }
    blocks[root].last_launch = std::max(blocks[root].last_launch, buffer.last_launch);
  }
  std::stable_sort(roots.begin(), roots.end(),
                   [&](int32_t a, int32_t b) { return blocks[a].size_bytes > blocks[b].size_bytes; });
  std::vector<const Block*> placed;
  for (int32_t root : roots) {
    place(blocks[root], placed);
    placed.push_back(&blocks[root]);
    plan.arena_bytes =
        std::max(plan.arena_bytes, blocks[root].offset_bytes + rounded(blocks[root].size_bytes));
  }
  for (int32_t b = 0; b < static_cast<int32_t>(plan.buffers.size()); ++b) {
    Buffer& buffer = plan.buffers[b];
    if (buffer.space == BufferSpace::arena && buffer.first_launch >= 0 && buffer.inside < 0)
      buffer.offset_bytes = blocks[root_of(plan, b)].offset_bytes;
  }
  for (Buffer& inner : plan.buffers) {
    if (inner.inside < 0) continue;
    const Buffer& outer = plan.buffers[inner.inside];
    if (outer.space == BufferSpace::output) inner.offset_bytes = inner.inside_bytes;
    if (outer.offset_bytes >= 0) inner.offset_bytes = outer.offset_bytes + inner.inside_bytes;
  }
}

}  // namespace onepass::plan
