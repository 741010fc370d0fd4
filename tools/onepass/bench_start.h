// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "driver/pipeline.h"

namespace onepass::tool {

/// What a model costs before its stream is steady, and what it really touches.
struct Start {
  double load_ms = 0;
  double first_ms = 0;   ///< first frame after load
  double paused_ms = 0;  ///< a frame after k_pause_ms asleep, median
  int64_t first_faults = 0;
  double steady_faults = 0;   ///< per frame
  int64_t arena_bytes = 0;    ///< planned, with the threads' own blocks
  int64_t touched_bytes = 0;  ///< of the arena's pages, those that a frame writes
};

constexpr int k_pause_ms = 50;

/// Writes the artefact and loads it, timing the loading alone.
std::unique_ptr<runtime::LoadedModel> load_timed(const driver::Network& network,
                                                 const driver::Program& program,
                                                 const driver::CompileOptions& options, Start& start);
/// The session's first frames. Its inputs are filled, and it has not run yet.
void time_start(const runtime::LoadedModel& model, runtime::Session& session, int threads, Start& start);

}  // namespace onepass::tool
