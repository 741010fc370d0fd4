// SPDX-License-Identifier: Apache-2.0
#include "runtime/loaded_model.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

#include "base/diagnostic.h"

namespace onepass::runtime {

namespace {

[[noreturn]] void refuse(std::string code, std::string message, std::string hint = "") {
  throw Error(Diagnostic{.code = std::move(code), .message = std::move(message), .hint = std::move(hint)});
}

/// dlopen looks a name without '/' up in the system's folders; a path is meant here.
std::string as_path(const std::string& path) {
  return path.find('/') == std::string::npos ? "./" + path : path;
}

void* open_library(const std::string& path) {
  void* library = dlopen(as_path(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = dlerror();
  refuse("cannot_load",
         "the shared object '" + path + "' cannot be loaded: " + (reason ? reason : "no reason given"));
}

template <class Function>
Function find_function(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

void check_version(const artefact::ModelRecord& record, const std::string& path) {
  if (record.magic != artefact::k_magic)
    refuse("not_an_artefact", "'" + path + "' does not begin its record with the mark of a compiled model");
  if (record.version != artefact::k_format_version)
    refuse("wrong_version",
           "'" + path + "' has format " + std::to_string(record.version) + ", this program reads format " +
               std::to_string(artefact::k_format_version),
           "compile the model again with this version of onepass");
}

/// Maps the pages of the weights now, in one call, so that the first frame does not stop at each of them.
/// Needs no privileges; where the system cannot do it, pages come as they are read.
void populate(const artefact::ModelRecord& record) {
  if (record.weights == nullptr || record.weights_bytes <= 0) return;
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(record.weights);
  const uintptr_t first = address / page_bytes * page_bytes;
  const size_t bytes = address + static_cast<uintptr_t>(record.weights_bytes) - first;
#ifdef MADV_POPULATE_READ
  if (madvise(reinterpret_cast<void*>(first), bytes, MADV_POPULATE_READ) == 0) return;
#endif
  madvise(reinterpret_cast<void*>(first), bytes, MADV_WILLNEED);
}

}  // namespace

LoadedModel::LoadedModel(const std::string& path) : library_(open_library(path)) {
  const auto record = find_function<const void* (*)()>(library_, "onepass_model_record_address");
  run_ = find_function<onepass_status (*)(const onepass_run*)>(library_, "onepass_model_run");
  arena_bytes_ = find_function<size_t (*)(int)>(library_, "onepass_model_arena_bytes");
  try {
    if (record == nullptr || run_ == nullptr || arena_bytes_ == nullptr)
      refuse("not_an_artefact", "'" + path + "' is a shared object, but none that onepass has compiled");
    record_ = static_cast<const artefact::ModelRecord*>(record());
    check_version(*record_, path);
    weights_ = WeightsMemory(record_->weights, static_cast<size_t>(record_->weights_bytes));
    if (weights_.data() == nullptr) populate(*record_);
  } catch (...) {
    dlclose(library_);
    throw;
  }
}

LoadedModel::~LoadedModel() {
  if (library_ != nullptr) dlclose(library_);
}

LoadedModel::LoadedModel(LoadedModel&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)),
      record_(std::exchange(other.record_, nullptr)),
      run_(other.run_),
      arena_bytes_(other.arena_bytes_),
      weights_(std::move(other.weights_)) {}

LoadedModel& LoadedModel::operator=(LoadedModel&& other) noexcept {
  std::swap(library_, other.library_);
  std::swap(record_, other.record_);
  std::swap(run_, other.run_);
  std::swap(arena_bytes_, other.arena_bytes_);
  std::swap(weights_, other.weights_);
  return *this;
}

std::span<const artefact::LaunchRecord> LoadedModel::launches() const {
  return {record_->launches, static_cast<size_t>(record_->launch_count)};
}

std::span<const artefact::TensorRecord> LoadedModel::inputs() const {
  return {record_->inputs, static_cast<size_t>(record_->input_count)};
}

std::span<const artefact::TensorRecord> LoadedModel::outputs() const {
  return {record_->outputs, static_cast<size_t>(record_->output_count)};
}

size_t LoadedModel::arena_bytes(int threads) const {
  return arena_bytes_(threads);
}

onepass_status LoadedModel::run(const onepass_run& run) const {
  return run_(&run);
}

}  // namespace onepass::runtime
