// SPDX-License-Identifier: Apache-2.0
//
// The exported functions of a model.so.
#include "runtime/inside/walker.h"

#include <cstddef>

#include "onepass/model.h"
#include "runtime/inside/record.h"
#include "runtime/inside/tiles.h"

using onepass::artefact::k_arena_alignment_bytes;
using onepass::artefact::TensorRecord;
using onepass::inside::model;

// A TensorRecord begins with the fields of onepass_tensor_info.
static_assert(offsetof(TensorRecord, dtype) == offsetof(onepass_tensor_info, dtype));
static_assert(offsetof(TensorRecord, rank) == offsetof(onepass_tensor_info, rank));
static_assert(offsetof(TensorRecord, dims) == offsetof(onepass_tensor_info, dims));
static_assert(offsetof(TensorRecord, size_bytes) == offsetof(onepass_tensor_info, size_bytes));
static_assert(offsetof(TensorRecord, counted_axis) == offsetof(onepass_tensor_info, counted_axis));
static_assert(sizeof(onepass_dtype) == sizeof(int32_t) && ONEPASS_MAX_RANK == onepass::artefact::k_max_rank);

namespace onepass::inside {

artefact::ThreadBlock thread_block() {
  int64_t operand_count = 0;
  for (int32_t i = 0; i < model().launch_count; ++i)
    if (model().launches[i].operand_count > operand_count) operand_count = model().launches[i].operand_count;
  return artefact::thread_block(operand_count, model().scratch_bytes);
}

namespace {

bool aligned(const void* address, int64_t alignment_bytes) {
  return reinterpret_cast<uintptr_t>(address) % static_cast<uintptr_t>(alignment_bytes) == 0;
}

int64_t element_bytes(artefact::DataType dtype) {
  switch (dtype) {
    case artefact::DataType::f32:
    case artefact::DataType::i32:
      return 4;
    case artefact::DataType::i64:
    case artefact::DataType::f64:
      return 8;
    default:
      return 1;
  }
}

/// `buffers` is one address per tensor.
template <class Address>
onepass_status check_buffers(const TensorRecord* tensors, int32_t count, Address const* buffers) {
  if (count > 0 && buffers == nullptr) return ONEPASS_BAD_ARGUMENT;
  for (int32_t i = 0; i < count; ++i) {
    if (buffers[i] == nullptr && tensors[i].size_bytes > 0) return ONEPASS_BAD_ARGUMENT;
    if (!aligned(buffers[i], element_bytes(tensors[i].dtype))) return ONEPASS_BAD_ALIGNMENT;
  }
  return ONEPASS_OK;
}

bool valid_launches(const onepass_run& run) {
  return run.first_launch >= 0 && run.first_launch <= run.end_launch &&
         run.end_launch <= model().launch_count;
}

onepass_status check(const onepass_run& run) {
  const artefact::ModelRecord& record = model();
  if (run.threads < 1 || (run.threads > 1 && run.parallel_for == nullptr)) return ONEPASS_BAD_ARGUMENT;
  if (!valid_launches(run)) return ONEPASS_BAD_ARGUMENT;
  onepass_status status = check_buffers(record.inputs, record.input_count, run.inputs);
  if (status == ONEPASS_OK) status = check_buffers(record.outputs, record.output_count, run.outputs);
  if (status != ONEPASS_OK) return status;
  if (!may_use_tiles(record.target)) return ONEPASS_UNSUPPORTED;
  const size_t needed_bytes = onepass_model_arena_bytes(run.threads);
  if (needed_bytes > 0 && run.arena == nullptr) return ONEPASS_BAD_ARGUMENT;
  if (!aligned(run.arena, k_arena_alignment_bytes)) return ONEPASS_BAD_ALIGNMENT;
  if (!aligned(run.weights, k_arena_alignment_bytes)) return ONEPASS_BAD_ALIGNMENT;
  return run.arena_bytes < needed_bytes ? ONEPASS_ARENA_TOO_SMALL : ONEPASS_OK;
}

int64_t actual_extent(const onepass_run& run, const TensorRecord& tensor, int axis) {
  if (axis != tensor.counted_axis) return tensor.dims[axis];
  int64_t count = 0;
  __builtin_memcpy(&count, static_cast<const char*>(run.arena) + tensor.count_offset_bytes, sizeof count);
  if (count < 0) return 0;  // a run of some launches alone may not have written it
  return count < tensor.dims[axis] ? count : tensor.dims[axis];
}

void write_output_dims(const onepass_run& run) {
  for (int32_t i = 0; i < model().output_count; ++i)
    for (int axis = 0; axis < ONEPASS_MAX_RANK; ++axis)
      run.output_dims[i][axis] = actual_extent(run, model().outputs[i], axis);
}

const onepass_tensor_info* info(const TensorRecord* tensors, int32_t count, int i) {
  return i >= 0 && i < count ? reinterpret_cast<const onepass_tensor_info*>(tensors + i) : nullptr;
}

}  // namespace

}  // namespace onepass::inside

extern "C" {

[[gnu::visibility("default")]] int onepass_model_input_count(void) {
  return model().input_count;
}

[[gnu::visibility("default")]] int onepass_model_output_count(void) {
  return model().output_count;
}

[[gnu::visibility("default")]] const onepass_tensor_info* onepass_model_input(int i) {
  return onepass::inside::info(model().inputs, model().input_count, i);
}

[[gnu::visibility("default")]] const onepass_tensor_info* onepass_model_output(int i) {
  return onepass::inside::info(model().outputs, model().output_count, i);
}

[[gnu::visibility("default")]] size_t onepass_model_arena_bytes(int threads) {
  if (threads < 1) return 0;
  const onepass::artefact::ThreadBlock block = onepass::inside::thread_block();
  return static_cast<size_t>(onepass::artefact::total_arena_bytes(model().arena_bytes, block, threads));
}

[[gnu::visibility("default")]] const void* onepass_model_weights(size_t* bytes) {
  if (bytes != nullptr) *bytes = static_cast<size_t>(model().weights_bytes);
  return model().weights;
}

[[gnu::visibility("default")]] const void* onepass_model_record_address(void) {
  return &model();
}

[[gnu::visibility("default")]] onepass_status onepass_model_run(const onepass_run* run) {
  if (run == nullptr) return ONEPASS_BAD_ARGUMENT;
  const onepass_status status = onepass::inside::check(*run);
  if (status != ONEPASS_OK) return status;
  onepass::inside::Walk walk{.run = run,
                             .block = onepass::inside::thread_block(),
                             .first_launch = run->first_launch,
                             .end_launch = run->end_launch};
  if (run->first_launch == 0 && run->end_launch == 0) walk.end_launch = model().launch_count;
  if (run->threads == 1)
    onepass::inside::walk_alone(walk);
  else
    onepass::inside::walk_together(walk);
  if (run->output_dims != nullptr) onepass::inside::write_output_dims(*run);
  return static_cast<onepass_status>(walk.status.load(std::memory_order_relaxed));
}

}  // extern "C"
