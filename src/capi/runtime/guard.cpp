// SPDX-License-Identifier: Apache-2.0
#include "capi/runtime/guard.h"

#include <new>

namespace onepass::capi {

namespace {

struct Failure {
  onepass_outcome outcome;
  std::vector<Diagnostic> diagnostics;
};

Failure classify() {
  try {
    throw;
  } catch (const Misuse& misuse) {
    return {ONEPASS_MISUSED, {{.code = "misused", .message = misuse.what()}}};
  } catch (const Error& error) {
    return {ONEPASS_REFUSED, error.diagnostics()};
  } catch (const std::bad_alloc&) {
    return {ONEPASS_NO_MEMORY, {{.code = "no_memory", .message = "there is not enough memory"}}};
  } catch (const std::exception& error) {
    return {ONEPASS_FAILED, {{.code = "internal", .message = error.what()}}};
  } catch (...) {
    return {ONEPASS_FAILED, {{.code = "internal", .message = "an exception of no known kind"}}};
  }
}

}  // namespace

onepass_outcome outcome_of_exception(onepass_diagnostics** out) noexcept {
  try {
    Failure failure = classify();
    hand_out(std::move(failure.diagnostics), out);
    return failure.outcome;
  } catch (...) {
    return ONEPASS_NO_MEMORY;
  }
}

}  // namespace onepass::capi
