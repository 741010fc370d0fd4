// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "onepass/runtime.h"

/// The diagnostics of one call. The C records point into the C++ ones.
struct onepass_diagnostics {
  explicit onepass_diagnostics(std::vector<onepass::Diagnostic> found);
  onepass_diagnostics(const onepass_diagnostics&) = delete;
  onepass_diagnostics& operator=(const onepass_diagnostics&) = delete;

  const std::vector<onepass::Diagnostic> diagnostics;
  std::vector<onepass_diagnostic> records;
  std::string text;
};

namespace onepass::capi {

/// Hands `found` to the caller of the C surface, unless it is empty or `out` is null.
void hand_out(std::vector<Diagnostic> found, onepass_diagnostics** out);

}  // namespace onepass::capi
