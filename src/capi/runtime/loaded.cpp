// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include "capi/runtime/guard.h"
#include "capi/runtime/handles.h"
#include "targets/target.h"

namespace {

using onepass::artefact::TensorRecord;

static_assert(onepass::artefact::k_max_rank == ONEPASS_MAX_RANK);

onepass_tensor_info info_of(const TensorRecord& record) {
  onepass_tensor_info info{.name = record.name,
                           .dtype = static_cast<onepass_dtype>(record.dtype),
                           .rank = record.rank,
                           .size_bytes = record.size_bytes,
                           .counted_axis = record.counted_axis};
  std::copy_n(record.dims, record.rank, info.dims);
  return info;
}

std::vector<onepass_tensor_info> infos_of(std::span<const TensorRecord> records) {
  std::vector<onepass_tensor_info> infos;
  for (const TensorRecord& record : records) infos.push_back(info_of(record));
  return infos;
}

/// Throws Error("foreign_target") unless this host executes code for the CPU class `name`.
void check_host(std::string_view name) {
  for (const onepass::targets::Target& target : onepass::targets::all())
    if (name == target.name && onepass::targets::host_executes(target)) return;
  throw onepass::Error({.code = "foreign_target",
                        .message = "this host does not execute code for " + std::string(name),
                        .hint = "compile the model for this host"});
}

const onepass_tensor_info* at(const std::vector<onepass_tensor_info>& infos, int i) {
  return i >= 0 && static_cast<size_t>(i) < infos.size() ? &infos[static_cast<size_t>(i)] : nullptr;
}

}  // namespace

onepass_loaded::onepass_loaded(onepass::runtime::LoadedModel loaded)
    : model(std::make_shared<const onepass::runtime::LoadedModel>(std::move(loaded))),
      inputs(infos_of(model->inputs())),
      outputs(infos_of(model->outputs())) {
  check_host(model->record().target);
}

onepass_outcome onepass_load_artefact(const char* path, onepass_loaded** loaded,
                                      onepass_diagnostics** diagnostics) {
  using namespace onepass;
  if (loaded != nullptr) *loaded = nullptr;
  return capi::guard(diagnostics, [&] {
    capi::expect(path != nullptr && loaded != nullptr, "path or loaded is NULL");
    *loaded = new onepass_loaded(runtime::LoadedModel(path));
  });
}

void onepass_loaded_destroy(onepass_loaded* loaded) {
  delete loaded;
}

const char* onepass_loaded_target(const onepass_loaded* loaded) {
  return loaded == nullptr ? nullptr : loaded->model->record().target;
}

int onepass_loaded_input_count(const onepass_loaded* loaded) {
  return loaded == nullptr ? 0 : static_cast<int>(loaded->inputs.size());
}

int onepass_loaded_output_count(const onepass_loaded* loaded) {
  return loaded == nullptr ? 0 : static_cast<int>(loaded->outputs.size());
}

const onepass_tensor_info* onepass_loaded_input(const onepass_loaded* loaded, int i) {
  return loaded == nullptr ? nullptr : at(loaded->inputs, i);
}

const onepass_tensor_info* onepass_loaded_output(const onepass_loaded* loaded, int i) {
  return loaded == nullptr ? nullptr : at(loaded->outputs, i);
}

size_t onepass_loaded_arena_bytes(const onepass_loaded* loaded, int threads) {
  if (loaded == nullptr || threads < 1 || threads > ONEPASS_MAX_THREADS) return 0;
  return loaded->model->arena_bytes(threads);
}
