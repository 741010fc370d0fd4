// SPDX-License-Identifier: Apache-2.0
#include "capi/options.h"

#include <algorithm>

#include "capi/runtime/guard.h"

namespace {

using onepass::capi::expect;
using onepass::capi::guard;
using onepass::driver::CompileOptions;

/// Runs `change` on what the handle holds.
template <class Change>
onepass_outcome set(onepass_options* options, const Change& change) {
  return guard(nullptr, [&] {
    expect(options != nullptr, "options is NULL");
    change(options->compile);
  });
}

}  // namespace

namespace onepass::capi {

driver::CompileOptions compile_options(const onepass_options* options) {
  return options == nullptr ? driver::CompileOptions{} : options->compile;
}

}  // namespace onepass::capi

onepass_outcome onepass_options_create(onepass_options** options) {
  if (options != nullptr) *options = nullptr;
  return guard(nullptr, [&] {
    expect(options != nullptr, "options is NULL");
    *options = new onepass_options;
  });
}

void onepass_options_destroy(onepass_options* options) {
  delete options;
}

onepass_outcome onepass_options_set_target(onepass_options* options, const char* name) {
  return set(options, [&](CompileOptions& compile) {
    expect(name != nullptr, "name is NULL");
    compile.target = name;
  });
}

onepass_outcome onepass_options_set_fusion(onepass_options* options, onepass_fusion fusion) {
  return set(options, [&](CompileOptions& compile) {
    using onepass::driver::Fusion;
    expect(fusion >= ONEPASS_FUSION_OFF && fusion <= ONEPASS_FUSION_ON, "fusion is none of the three");
    constexpr Fusion k_values[] = {Fusion::off, Fusion::folded, Fusion::on};
    compile.fusion = k_values[fusion];
  });
}

onepass_outcome onepass_options_set_residual(onepass_options* options, onepass_residual residual) {
  return set(options, [&](CompileOptions& compile) {
    using onepass::patterns::ResidualMode;
    expect(residual == ONEPASS_RESIDUAL_SPLIT || residual == ONEPASS_RESIDUAL_PROVEN, "residual is neither");
    compile.residual = residual == ONEPASS_RESIDUAL_SPLIT ? ResidualMode::split : ResidualMode::proven;
  });
}

onepass_outcome onepass_options_set_shape(onepass_options* options, const char* input, const int64_t* dims,
                                          int rank) {
  return set(options, [&](CompileOptions& compile) {
    expect(input != nullptr && dims != nullptr, "input or dims is NULL");
    expect(rank >= 1 && rank <= ONEPASS_MAX_RANK, "rank is not in [1, ONEPASS_MAX_RANK]");
    expect(std::all_of(dims, dims + rank, [](int64_t extent) { return extent >= 1; }),
           "an extent is less than 1");
    compile.read.input_shapes.insert_or_assign(input, onepass::ir::Shape(dims, dims + rank));
  });
}

onepass_outcome onepass_options_set_exact(onepass_options* options, bool exact) {
  return set(options, [&](CompileOptions& compile) { compile.exact = exact; });
}

onepass_outcome onepass_options_set_tolerance(onepass_options* options, double tolerance) {
  return set(options, [&](CompileOptions& compile) {
    expect(tolerance > 0 && tolerance < 1, "tolerance is not in (0, 1)");
    compile.tolerance = tolerance;
  });
}

onepass_outcome onepass_options_set_bn_assume_eval(onepass_options* options, bool assume_eval) {
  return set(options, [&](CompileOptions& compile) {
    using onepass::onnx::BatchNormMode;
    compile.read.batch_norm = assume_eval ? BatchNormMode::assume_eval : BatchNormMode::as_exported;
  });
}

onepass_outcome onepass_options_set_overridable(onepass_options* options, bool overridable) {
  return set(options, [&](CompileOptions& compile) { compile.read.overridable = overridable; });
}

onepass_outcome onepass_options_set_object_cache(onepass_options* options, const char* folder) {
  return set(options,
             [&](CompileOptions& compile) { compile.object_cache = folder == nullptr ? "" : folder; });
}

onepass_outcome onepass_options_set_machine(onepass_options* options, const char* path) {
  return set(options, [&](CompileOptions& compile) { compile.machine = path == nullptr ? "" : path; });
}
