// SPDX-License-Identifier: Apache-2.0
#include "bench_start.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/files.h"
#include "bench.h"

namespace onepass::tool {

namespace {

using Clock = std::chrono::steady_clock;

int64_t minor_faults() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt;
}

/// Bytes of the pages of [memory, memory + bytes) in which `run` writes something: no buffer of an arena
/// keeps what lay there before.
template <class Run>
int64_t written_bytes(unsigned char* memory, int64_t bytes, const Run& run) {
  constexpr unsigned char k_pattern = 0xa5;
  std::memset(memory, k_pattern, static_cast<size_t>(bytes));
  run();
  const int64_t page_bytes = ::sysconf(_SC_PAGESIZE);
  int64_t written = 0;
  for (int64_t at = 0; at < bytes; at += page_bytes) {
    const int64_t end = std::min(bytes, at + page_bytes);
    const bool untouched =
        std::all_of(memory + at, memory + end, [](unsigned char byte) { return byte == k_pattern; });
    if (!untouched) written += end - at;
  }
  return written;
}

}  // namespace

std::unique_ptr<runtime::LoadedModel> load_timed(const driver::Network& network,
                                                 const driver::Program& program,
                                                 const driver::CompileOptions& options, Start& start) {
  const TemporaryFolder folder;
  driver::write_artefact(network, program, options, folder.file("model.so"));
  const Clock::time_point begin = Clock::now();
  auto model = std::make_unique<runtime::LoadedModel>(folder.file("model.so"));
  start.load_ms = std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  return model;
}

void time_start(const runtime::LoadedModel& model, runtime::Session& session, int threads, Start& start) {
  constexpr int k_pauses = 5, k_frames = 5;
  int64_t faults = minor_faults();
  start.first_ms = time_runs(session, 1).front();
  start.first_faults = minor_faults() - faults;
  time_runs(session, k_frames);
  std::vector<double> paused_ms;
  for (int i = 0; i < k_pauses; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(k_pause_ms));
    paused_ms.push_back(time_runs(session, 1).front());
  }
  start.paused_ms = median(std::move(paused_ms));
  faults = minor_faults();
  for (int i = 0; i < k_frames; ++i) session.run();
  start.steady_faults = static_cast<double>(minor_faults() - faults) / k_frames;
  start.arena_bytes = static_cast<int64_t>(model.arena_bytes(threads));
  start.touched_bytes =
      written_bytes(static_cast<unsigned char*>(session.arena()), start.arena_bytes, [&] { session.run(); });
}

}  // namespace onepass::tool
