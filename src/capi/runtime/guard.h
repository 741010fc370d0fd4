// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "capi/runtime/diagnostics.h"

namespace onepass::capi {

/// The caller broke the contract of a header.
class Misuse : public std::exception {
 public:
  explicit Misuse(const char* text) : text_(text) {}
  const char* what() const noexcept override { return text_; }

 private:
  const char* text_;
};

inline void expect(bool holds, const char* otherwise) {
  if (!holds) throw Misuse(otherwise);
}

/// The outcome of the exception in flight, told to `out` as far as memory lasts.
onepass_outcome outcome_of_exception(onepass_diagnostics** out) noexcept;

/// Every C function that can fail is `body` in here: the one place where exceptions end.
template <class Body>
onepass_outcome guard(onepass_diagnostics** out, const Body& body) noexcept {
  if (out != nullptr) *out = nullptr;
  try {
    body();
    return ONEPASS_DONE;
  } catch (...) {
    return outcome_of_exception(out);
  }
}

}  // namespace onepass::capi
