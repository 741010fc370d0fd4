// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "artefact/format.h"
#include "onepass/model.h"
#include "runtime/weights_memory.h"

namespace onepass::runtime {

/// A model.so mapped into this process. Throws Error("cannot_load" | "not_an_artefact" | "wrong_version").
/// Const members are thread-safe.
class LoadedModel {
 public:
  explicit LoadedModel(const std::string& path);
  ~LoadedModel();
  LoadedModel(LoadedModel&&) noexcept;
  LoadedModel& operator=(LoadedModel&&) noexcept;

  const artefact::ModelRecord& record() const { return *record_; }
  std::span<const artefact::LaunchRecord> launches() const;
  std::span<const artefact::TensorRecord> inputs() const;
  std::span<const artefact::TensorRecord> outputs() const;
  size_t arena_bytes(int threads) const;
  /// What a run names as its weights; null: those in the file.
  const void* weights() const { return weights_.data(); }
  onepass_status run(const onepass_run& run) const;

 private:
  void* library_ = nullptr;
  const artefact::ModelRecord* record_ = nullptr;
  onepass_status (*run_)(const onepass_run*) = nullptr;
  size_t (*arena_bytes_)(int) = nullptr;
  WeightsMemory weights_;
};

/// Memory for runs of one model: arena and one buffer per input and output. With `guarded`, arena and buffers
/// end at an inaccessible page and begin behind one, and the arena is filled with NaN before each run.
class Session {
 public:
  Session(const LoadedModel& model, int threads = 1, bool guarded = false);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  void* input(int i);  ///< size_bytes of the input; the caller fills it
  const void* output(int i) const;
  std::vector<int64_t> output_dims(int i) const;  ///< actual extents after run()
  void* arena();
  /// Throws Error with the status in words when the model refuses its input.
  void run();
  /// The same on the caller's buffers, one for each input and output of the model.
  void run_with(const void* const* inputs, void* const* outputs);
  /// Launches [first, end) alone, on what the arena holds.
  void run_launches(int first, int end);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace onepass::runtime
