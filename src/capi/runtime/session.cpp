// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "capi/runtime/guard.h"
#include "capi/runtime/handles.h"

namespace {

using onepass::artefact::TensorRecord;
using onepass::capi::expect;
using onepass::capi::guard;

bool in_range(int i, size_t count) {
  return i >= 0 && static_cast<size_t>(i) < count;
}

/// Bytes of one element.
uintptr_t alignment_bytes(const TensorRecord& tensor) {
  using onepass::artefact::DataType;
  switch (tensor.dtype) {
    case DataType::u8:
    case DataType::i8:
    case DataType::boolean:
      return 1;
    case DataType::f32:
    case DataType::i32:
      return 4;
    case DataType::i64:
    case DataType::f64:
      return 8;
  }
  return 8;
}

template <class Pointer>
void check_buffers(std::span<const TensorRecord> tensors, const Pointer* buffers) {
  expect(tensors.empty() || buffers != nullptr, "the list of inputs or of outputs is NULL");
  for (size_t i = 0; i < tensors.size(); ++i) {
    expect(buffers[i] != nullptr, "the buffer of an input or output is NULL");
    expect(reinterpret_cast<uintptr_t>(buffers[i]) % alignment_bytes(tensors[i]) == 0,
           "the buffer of an input or output is not aligned to an element");
  }
}

}  // namespace

onepass_session::onepass_session(const onepass_loaded& loaded, int threads)
    : model(loaded.model), session(*model, threads) {}

onepass_outcome onepass_session_create(const onepass_loaded* loaded, int threads, onepass_session** session,
                                       onepass_diagnostics** diagnostics) {
  if (session != nullptr) *session = nullptr;
  return guard(diagnostics, [&] {
    expect(loaded != nullptr && session != nullptr, "loaded or session is NULL");
    expect(threads >= 1 && threads <= ONEPASS_MAX_THREADS, "threads is not in [1, ONEPASS_MAX_THREADS]");
    *session = new onepass_session(*loaded, threads);
  });
}

void onepass_session_destroy(onepass_session* session) {
  delete session;
}

void* onepass_session_input(onepass_session* session, int i) {
  if (session == nullptr || !in_range(i, session->model->inputs().size())) return nullptr;
  return session->session.input(i);
}

const void* onepass_session_output(const onepass_session* session, int i) {
  if (session == nullptr || !in_range(i, session->model->outputs().size())) return nullptr;
  return session->session.output(i);
}

onepass_outcome onepass_session_run(onepass_session* session, onepass_diagnostics** diagnostics) {
  return guard(diagnostics, [&] {
    expect(session != nullptr, "session is NULL");
    session->session.run();
    session->has_run = true;
  });
}

onepass_outcome onepass_session_run_with(onepass_session* session, const void* const* inputs,
                                         void* const* outputs, onepass_diagnostics** diagnostics) {
  return guard(diagnostics, [&] {
    expect(session != nullptr, "session is NULL");
    check_buffers(session->model->inputs(), inputs);
    check_buffers(session->model->outputs(), outputs);
    session->session.run_with(inputs, outputs);
    session->has_run = true;
  });
}

onepass_outcome onepass_session_output_dims(const onepass_session* session, int i,
                                            int64_t dims[ONEPASS_MAX_RANK]) {
  return guard(nullptr, [&] {
    expect(session != nullptr && dims != nullptr, "session or dims is NULL");
    expect(in_range(i, session->model->outputs().size()), "i is no output");
    std::fill_n(dims, ONEPASS_MAX_RANK, 0);
    const TensorRecord& record = session->model->outputs()[static_cast<size_t>(i)];
    if (session->has_run)
      std::ranges::copy(session->session.output_dims(i), dims);
    else
      std::copy_n(record.dims, record.rank, dims);
  });
}
