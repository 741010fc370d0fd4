// SPDX-License-Identifier: Apache-2.0
//
// C++20 over onepass.h: handles that destroy themselves, spans for buffers, exceptions for outcomes. What
// each call does, its threads and its errors are in the C headers. Needs onepass::runtime alone to load.
// Since 0.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "onepass/onepass.h"

namespace onepass::api {

/// A diagnostic that owns its text. Fields that do not apply are empty; opset 0 is unknown.
struct Diagnostic {
  onepass_severity severity = ONEPASS_ERROR;
  std::string code, message, node, op;
  int opset = 0;
  std::string accepted, hint;
};

/// Any outcome but ONEPASS_DONE and ONEPASS_NO_MEMORY (which is std::bad_alloc).
class Error : public std::exception {
 public:
  Error(onepass_outcome outcome, std::vector<Diagnostic> diagnostics, std::string text)
      : outcome_(outcome), diagnostics_(std::move(diagnostics)), text_(std::move(text)) {}
  onepass_outcome outcome() const { return outcome_; }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  onepass_outcome outcome_;
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

namespace detail {

template <auto destroy>
struct Destroy {
  template <class Handle>
  void operator()(Handle* handle) const {
    destroy(handle);
  }
};

using DiagnosticsHandle = std::unique_ptr<onepass_diagnostics, Destroy<onepass_diagnostics_destroy>>;

inline std::vector<Diagnostic> copy(const onepass_diagnostics* handle) {
  std::vector<Diagnostic> result;
  for (size_t i = 0; i < onepass_diagnostics_count(handle); ++i) {
    const onepass_diagnostic& d = *onepass_diagnostics_at(handle, i);
    result.push_back({d.severity, d.code, d.message, d.node, d.op, d.opset, d.accepted, d.hint});
  }
  return result;
}

/// Calls `function(&diagnostics)`. Returns the warnings of a success.
template <class Function>
std::vector<Diagnostic> call(const Function& function) {
  onepass_diagnostics* raw = nullptr;
  const onepass_outcome outcome = function(&raw);
  const DiagnosticsHandle handle(raw);
  if (outcome == ONEPASS_NO_MEMORY) throw std::bad_alloc();
  if (outcome != ONEPASS_DONE) throw Error(outcome, copy(raw), onepass_diagnostics_text(raw));
  return copy(raw);
}

inline void check(onepass_outcome outcome, const char* what) {
  if (outcome == ONEPASS_NO_MEMORY) throw std::bad_alloc();
  if (outcome != ONEPASS_DONE)
    throw Error(outcome, {{ONEPASS_ERROR, "misused", what, "", "", 0, "", ""}}, what);
}

template <class T>
constexpr onepass_dtype dtype_of() {
  if constexpr (std::is_same_v<T, float>) return ONEPASS_F32;
  if constexpr (std::is_same_v<T, double>) return ONEPASS_F64;
  if constexpr (std::is_same_v<T, uint8_t>) return ONEPASS_U8;
  if constexpr (std::is_same_v<T, int8_t>) return ONEPASS_I8;
  if constexpr (std::is_same_v<T, int32_t>) return ONEPASS_I32;
  if constexpr (std::is_same_v<T, int64_t>) return ONEPASS_I64;
  if constexpr (std::is_same_v<T, bool>) return ONEPASS_BOOL;
}

/// `bytes` as elements of type T. Throws Error unless the tensor exists and has that type.
template <class T, class Byte>
std::span<T> as_span(Byte* bytes, const onepass_tensor_info* info) {
  check(info != nullptr ? ONEPASS_DONE : ONEPASS_MISUSED, "there is no such input or output");
  check(info->dtype == dtype_of<std::remove_const_t<T>>() ? ONEPASS_DONE : ONEPASS_MISUSED,
        "the elements are of another type");
  return {static_cast<T*>(bytes), static_cast<size_t>(info->size_bytes) / sizeof(T)};
}

}  // namespace detail

class Options {
 public:
  Options() {
    onepass_options* raw = nullptr;
    detail::check(onepass_options_create(&raw), "options");
    handle_.reset(raw);
  }

  Options& target(std::string_view name) {
    return done(onepass_options_set_target(get(), std::string(name).c_str()), "target");
  }
  Options& fusion(onepass_fusion mode) { return done(onepass_options_set_fusion(get(), mode), "fusion"); }
  Options& residual(onepass_residual m) { return done(onepass_options_set_residual(get(), m), "residual"); }
  Options& shape(std::string_view input, std::span<const int64_t> dims) {
    const int rank = dims.size() > ONEPASS_MAX_RANK ? ONEPASS_MAX_RANK + 1 : static_cast<int>(dims.size());
    return done(onepass_options_set_shape(get(), std::string(input).c_str(), dims.data(), rank), "shape");
  }
  Options& exact(bool on) { return done(onepass_options_set_exact(get(), on), "exact"); }
  Options& tolerance(double t) { return done(onepass_options_set_tolerance(get(), t), "tolerance"); }
  Options& bn_assume_eval(bool on) { return done(onepass_options_set_bn_assume_eval(get(), on), "bn"); }
  Options& overridable(bool on) { return done(onepass_options_set_overridable(get(), on), "overridable"); }
  Options& machine(const char* path) { return done(onepass_options_set_machine(get(), path), "machine"); }
  Options& cache(const char* path) { return done(onepass_options_set_object_cache(get(), path), "cache"); }

  onepass_options* get() const { return handle_.get(); }

 private:
  Options& done(onepass_outcome outcome, const char* what) {
    detail::check(outcome, what);
    return *this;
  }

  std::unique_ptr<onepass_options, detail::Destroy<onepass_options_destroy>> handle_;
};

/// Each returns the warnings.
inline std::vector<Diagnostic> compile_file(const std::string& model, const std::string& output,
                                            const Options& options = {}) {
  return detail::call(
      [&](auto** out) { return onepass_compile_file(model.c_str(), options.get(), output.c_str(), out); });
}
inline std::vector<Diagnostic> fold_file(const std::string& model, const std::string& output,
                                         const Options& options = {}) {
  return detail::call(
      [&](auto** out) { return onepass_fold_file(model.c_str(), options.get(), output.c_str(), out); });
}

namespace detail {

template <class Function>
std::string text_of(const Function& explain, const std::string& model, const Options& options) {
  char* raw = nullptr;
  call([&](auto** out) { return explain(model.c_str(), options.get(), &raw, out); });
  const std::unique_ptr<char, Destroy<onepass_text_destroy>> text(raw);
  return raw;
}

}  // namespace detail

inline std::string explain_text(const std::string& model, const Options& options = {}) {
  return detail::text_of(onepass_explain_text, model, options);
}
inline std::string explain_json(const std::string& model, const Options& options = {}) {
  return detail::text_of(onepass_explain_json, model, options);
}

/// A model in this process.
class Model {
 public:
  /// Maps a compiled model.so.
  static Model load_artefact(const std::string& path) {
    return Model([&](auto** model, auto** out) { return onepass_load_artefact(path.c_str(), model, out); });
  }
  static Model load_onnx(const std::string& path, const Options& options = {}) {
    return Model(
        [&](auto** model, auto** out) { return onepass_load_onnx(path.c_str(), options.get(), model, out); });
  }

  std::string_view target() const { return onepass_loaded_target(get()); }
  int input_count() const { return onepass_loaded_input_count(get()); }
  int output_count() const { return onepass_loaded_output_count(get()); }
  /// Null when i is out of range.
  const onepass_tensor_info* input(int i) const { return onepass_loaded_input(get(), i); }
  const onepass_tensor_info* output(int i) const { return onepass_loaded_output(get(), i); }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }
  const onepass_loaded* get() const { return handle_.get(); }

 private:
  template <class Load>
  explicit Model(const Load& load) {
    onepass_loaded* raw = nullptr;
    warnings_ = detail::call([&](auto** out) { return load(&raw, out); });
    handle_.reset(raw);
  }

  std::unique_ptr<onepass_loaded, detail::Destroy<onepass_loaded_destroy>> handle_;
  std::vector<Diagnostic> warnings_;
};

/// Memory and threads for one run at a time. Borrows the model's description: the Model must outlive it.
class Session {
 public:
  explicit Session(const Model& model, int threads = 1) : model_(model.get()) {
    onepass_session* raw = nullptr;
    detail::call([&](auto** out) { return onepass_session_create(model_, threads, &raw, out); });
    handle_.reset(raw);
  }
  explicit Session(Model&& model, int threads = 1) = delete;

  /// The session's own buffers. Throw Error unless T is the element type.
  template <class T>
  std::span<T> input(int i) {
    return detail::as_span<T>(onepass_session_input(get(), i), onepass_loaded_input(model_, i));
  }
  template <class T>
  std::span<const T> output(int i) const {
    return detail::as_span<const T>(onepass_session_output(get(), i), onepass_loaded_output(model_, i));
  }
  void run() {
    detail::call([&](auto** out) { return onepass_session_run(get(), out); });
  }
  /// On the caller's buffers, each of info->size_bytes bytes; one for each input and output.
  void run(std::span<const void* const> inputs, std::span<void* const> outputs) {
    const bool fits = inputs.size() == static_cast<size_t>(onepass_loaded_input_count(model_)) &&
                      outputs.size() == static_cast<size_t>(onepass_loaded_output_count(model_));
    detail::check(fits ? ONEPASS_DONE : ONEPASS_MISUSED, "another number of buffers than the model has");
    detail::call(
        [&](auto** out) { return onepass_session_run_with(get(), inputs.data(), outputs.data(), out); });
  }
  /// Actual extents after a run.
  std::vector<int64_t> output_dims(int i) const {
    int64_t dims[ONEPASS_MAX_RANK];
    detail::check(onepass_session_output_dims(get(), i, dims), "there is no such output");
    return {dims, dims + onepass_loaded_output(model_, i)->rank};
  }
  onepass_session* get() const { return handle_.get(); }

 private:
  const onepass_loaded* model_;
  std::unique_ptr<onepass_session, detail::Destroy<onepass_session_destroy>> handle_;
};

}  // namespace onepass::api
