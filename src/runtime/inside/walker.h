// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "onepass/model.h"
#include "runtime/inside/record.h"

namespace onepass::inside {

/// One run, shared by its threads. Every launch is cut into min(threads, slices) parts; part p belongs to
/// thread p, which takes it first. `done` counts finished parts of all launches so far: a launch is complete
/// when `done` reaches the sum of the part counts up to it, which every thread can compute.
struct Walk {
  const onepass_run* run;
  artefact::ThreadBlock block;
  int first_launch, end_launch;
  alignas(64) std::atomic<int64_t> done{0};
  alignas(64) std::atomic<int32_t> status{ONEPASS_OK};
};

/// One thread's memory behind the planned arena.
struct Worker {
  /// One past the last launch whose part of this thread's number is taken, by this thread or another.
  std::atomic<int64_t>* taken;
  void** operands;
  void* scratch;
};

Worker worker(const Walk& walk, int thread);

/// Computes slices [begin, end) of a launch with this worker's memory.
void run_slices(Walk& walk, const Worker& worker, const artefact::LaunchRecord& launch, int64_t begin,
                int64_t end);

/// All launches on the calling thread.
void walk_alone(Walk& walk);
/// All launches on run->threads threads of the caller's pool. Does not need them to run at the same time: a
/// thread that waits takes the parts of threads that are late.
void walk_together(Walk& walk);

}  // namespace onepass::inside
