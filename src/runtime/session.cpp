// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>

#include "base/diagnostic.h"
#include "runtime/guarded_memory.h"
#include "runtime/loaded_model.h"
#include "runtime/thread_pool.h"

namespace onepass::runtime {

namespace {

constexpr size_t k_arena_alignment_bytes = 64;
/// Four of these bytes are a NaN; eight are -1 as an integer.
constexpr unsigned char k_poison = 0xff;

/// Guarded buffers are aligned to the element alone, which is all that the ABI asks of a caller.
size_t alignment_bytes(const artefact::TensorRecord& tensor, bool guarded) {
  int64_t elements = 1;
  for (int32_t axis = 0; axis < tensor.rank; ++axis) elements *= tensor.dims[axis];
  return guarded && elements > 0 ? static_cast<size_t>(tensor.size_bytes / elements)
                                 : k_arena_alignment_bytes;
}

std::vector<GuardedMemory> buffers(std::span<const artefact::TensorRecord> tensors, bool guarded) {
  std::vector<GuardedMemory> result;
  for (const artefact::TensorRecord& tensor : tensors)
    result.emplace_back(static_cast<size_t>(tensor.size_bytes), alignment_bytes(tensor, guarded), guarded);
  return result;
}

std::vector<void*> addresses(const std::vector<GuardedMemory>& memories) {
  std::vector<void*> result;
  for (const GuardedMemory& memory : memories) result.push_back(memory.data());
  return result;
}

const char* words(onepass_status status) {
  switch (status) {
    case ONEPASS_OK:
      return "ok";
    case ONEPASS_BAD_ARGUMENT:
      return "an argument is missing or out of range";
    case ONEPASS_BAD_ALIGNMENT:
      return "the arena or a buffer is not aligned";
    case ONEPASS_ARENA_TOO_SMALL:
      return "the arena is too small";
    case ONEPASS_UNSUPPORTED:
      return "it uses AMX tiles, and this operating system does not give leave to";
    case ONEPASS_BAD_INPUT:
      return "an index in the input is out of range";
  }
  return "unknown status";
}

void check(onepass_status status) {
  if (status == ONEPASS_OK) return;
  throw Error(Diagnostic{.code = status == ONEPASS_BAD_INPUT ? "bad_input" : "bad_run",
                         .message = std::string("the model refuses to run: ") + words(status)});
}

}  // namespace

struct Session::State {
  State(const LoadedModel& loaded, int thread_count, bool with_guards)
      : model(loaded),
        threads(thread_count),
        guarded(with_guards),
        inputs(buffers(loaded.inputs(), guarded)),
        outputs(buffers(loaded.outputs(), guarded)),
        arena(loaded.arena_bytes(threads), k_arena_alignment_bytes, guarded),
        input_addresses(addresses(inputs)),
        output_addresses(addresses(outputs)),
        output_dims(outputs.size()) {
    arena.populate();
    for (GuardedMemory& output : outputs) output.populate();
    if (threads > 1) pool.emplace(threads);
  }

  void poison() {
    arena.fill(k_poison);
    for (GuardedMemory& output : outputs) output.fill(k_poison);
  }

  void run(int first, int end) { run(input_addresses.data(), output_addresses.data(), first, end); }

  void run(const void* const* sources, void* const* results, int first, int end) {
    const onepass_run run{.inputs = sources,
                          .outputs = results,
                          .arena = arena.data(),
                          .arena_bytes = arena.size_bytes(),
                          .threads = threads,
                          .parallel_for = threads > 1 ? ThreadPool::parallel_for : nullptr,
                          .pool = pool ? &*pool : nullptr,
                          .output_dims = reinterpret_cast<int64_t(*)[ONEPASS_MAX_RANK]>(output_dims.data()),
                          .first_launch = first,
                          .end_launch = end,
                          .weights = model.weights()};
    check(model.run(run));
  }

  const LoadedModel& model;
  int threads;
  bool guarded;
  std::vector<GuardedMemory> inputs, outputs;
  GuardedMemory arena;
  std::vector<void*> input_addresses, output_addresses;
  std::vector<std::array<int64_t, ONEPASS_MAX_RANK>> output_dims;
  std::optional<ThreadPool> pool;
};

Session::Session(const LoadedModel& model, int threads, bool guarded) {
  require(threads >= 1, "a session has at least one thread");
  state_ = std::make_unique<State>(model, threads, guarded);
}

Session::~Session() = default;

void* Session::input(int i) {
  return state_->inputs.at(static_cast<size_t>(i)).data();
}

const void* Session::output(int i) const {
  return state_->outputs.at(static_cast<size_t>(i)).data();
}

std::vector<int64_t> Session::output_dims(int i) const {
  const auto& dims = state_->output_dims.at(static_cast<size_t>(i));
  return {dims.begin(), dims.begin() + state_->model.outputs()[static_cast<size_t>(i)].rank};
}

void* Session::arena() {
  return state_->arena.data();
}

void Session::run() {
  if (state_->guarded) state_->poison();
  state_->run(0, 0);
}

void Session::run_with(const void* const* inputs, void* const* outputs) {
  if (state_->guarded) state_->poison();
  state_->run(inputs, outputs, 0, 0);
}

void Session::run_launches(int first, int end) {
  if (first == end) return;  // the ABI reads 0, 0 as all launches
  state_->run(first, end);
}

}  // namespace onepass::runtime
