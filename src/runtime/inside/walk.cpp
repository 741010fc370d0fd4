// SPDX-License-Identifier: Apache-2.0
#include <sched.h>

#include <new>

#include "base/kernel_abi.h"
#include "runtime/inside/walker.h"

namespace onepass::inside {

namespace {

/// About 50 us of waiting before a thread yields its core and looks for parts of late threads.
constexpr int k_spins_before_yield = 1500;
/// From then on the core is shared: short waits only.
constexpr int k_spins_between_yields = 100;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

const void* weights(const onepass_run& run) {
  return run.weights != nullptr ? run.weights : model().weights;
}

void* address(const onepass_run& run, const artefact::OperandRecord& operand) {
  switch (operand.space) {
    case artefact::Space::arena:
      return static_cast<char*>(run.arena) + operand.offset_bytes;
    case artefact::Space::weights:
      return static_cast<char*>(const_cast<void*>(weights(run))) + operand.offset_bytes;
    case artefact::Space::input:
      return static_cast<char*>(const_cast<void*>(run.inputs[operand.index])) + operand.offset_bytes;
    case artefact::Space::output:
      return static_cast<char*>(run.outputs[operand.index]) + operand.offset_bytes;
  }
  return nullptr;
}

int64_t part_count(const Walk& walk, const artefact::LaunchRecord& launch) {
  return launch.slices < walk.run->threads ? launch.slices : walk.run->threads;
}

/// Takes part `part` of launch number `number` unless somebody has it.
bool take(std::atomic<int64_t>& taken, int64_t number) {
  int64_t seen = taken.load(std::memory_order_relaxed);
  while (seen <= number)
    if (taken.compare_exchange_weak(seen, number + 1, std::memory_order_acq_rel)) return true;
  return false;
}

struct Position {
  int64_t number;  ///< of the launch in the table
  int64_t parts;
  int64_t done_after;  ///< value of Walk::done once the launch is complete
};

void run_part(Walk& walk, const Worker& mine, const Position& at, int64_t part) {
  const artefact::LaunchRecord& launch = model().launches[at.number];
  const int64_t begin = launch.slices * part / at.parts;
  const int64_t end = launch.slices * (part + 1) / at.parts;
  run_slices(walk, mine, launch, begin, end);
  walk.done.fetch_add(1, std::memory_order_acq_rel);
}

bool complete(const Walk& walk, const Position& at) {
  return walk.done.load(std::memory_order_acquire) >= at.done_after;
}

void help(Walk& walk, const Worker& mine, const Position& at) {
  for (int part = 0; part < at.parts && !complete(walk, at); ++part)
    if (take(*worker(walk, part).taken, at.number)) run_part(walk, mine, at, part);
}

void wait(Walk& walk, const Worker& mine, const Position& at) {
  for (int spins = 0; !complete(walk, at); ++spins) {
    if (spins < k_spins_before_yield) {
      pause();
      continue;
    }
    help(walk, mine, at);
    sched_yield();
    spins = k_spins_before_yield - k_spins_between_yields;
  }
}

void walk_as(void* context, int thread) {
  Walk& walk = *static_cast<Walk*>(context);
  const Worker mine = worker(walk, thread);
  Position at{.number = walk.first_launch, .parts = 0, .done_after = 0};
  for (; at.number < walk.end_launch; ++at.number) {
    at.parts = part_count(walk, model().launches[at.number]);
    at.done_after += at.parts;
    if (thread < at.parts && take(*mine.taken, at.number)) run_part(walk, mine, at, thread);
    wait(walk, mine, at);
  }
}

}  // namespace

Worker worker(const Walk& walk, int thread) {
  char* block = static_cast<char*>(walk.run->arena) + artefact::aligned_bytes(model().arena_bytes) +
                thread * walk.block.size_bytes;
  return {.taken = reinterpret_cast<std::atomic<int64_t>*>(block),
          .operands = reinterpret_cast<void**>(block + walk.block.operands_offset_bytes),
          .scratch = block + walk.block.scratch_offset_bytes};
}

void run_slices(Walk& walk, const Worker& mine, const artefact::LaunchRecord& launch, int64_t begin,
                int64_t end) {
  for (int32_t i = 0; i < launch.operand_count; ++i)
    mine.operands[i] = address(*walk.run, launch.operands[i]);
  int32_t status = ONEPASS_OK;
  const Call call{
      .operands = mine.operands, .scratch = mine.scratch, .params = launch.params, .status = &status};
  launch.function(&call, begin, end);
  if (status != ONEPASS_OK) walk.status.store(status, std::memory_order_relaxed);
}

void walk_alone(Walk& walk) {
  const Worker mine = worker(walk, 0);
  for (int number = walk.first_launch; number < walk.end_launch; ++number) {
    const artefact::LaunchRecord& launch = model().launches[number];
    run_slices(walk, mine, launch, 0, launch.slices);
  }
}

void walk_together(Walk& walk) {
  for (int thread = 0; thread < walk.run->threads; ++thread)
    new (worker(walk, thread).taken) std::atomic<int64_t>(walk.first_launch);
  walk.run->parallel_for(walk.run->pool, walk.run->threads, walk_as, &walk);
}

}  // namespace onepass::inside
