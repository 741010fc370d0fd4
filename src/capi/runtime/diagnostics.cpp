// SPDX-License-Identifier: Apache-2.0
#include "capi/runtime/diagnostics.h"

#include <utility>

namespace {

onepass_severity severity_of(onepass::Severity severity) {
  switch (severity) {
    case onepass::Severity::note:
      return ONEPASS_NOTE;
    case onepass::Severity::warning:
      return ONEPASS_WARNING;
    case onepass::Severity::error:
      return ONEPASS_ERROR;
  }
  return ONEPASS_ERROR;
}

onepass_diagnostic record_of(const onepass::Diagnostic& d) {
  return {.severity = severity_of(d.severity),
          .code = d.code.c_str(),
          .message = d.message.c_str(),
          .node = d.node.c_str(),
          .op = d.op.c_str(),
          .opset = d.opset,
          .accepted = d.accepted.c_str(),
          .hint = d.hint.c_str()};
}

}  // namespace

onepass_diagnostics::onepass_diagnostics(std::vector<onepass::Diagnostic> found)
    : diagnostics(std::move(found)) {
  for (const onepass::Diagnostic& diagnostic : diagnostics) {
    records.push_back(record_of(diagnostic));
    text += to_string(diagnostic) + "\n";
  }
}

namespace onepass::capi {

void hand_out(std::vector<Diagnostic> found, onepass_diagnostics** out) {
  if (out != nullptr && !found.empty()) *out = new onepass_diagnostics(std::move(found));
}

}  // namespace onepass::capi

size_t onepass_diagnostics_count(const onepass_diagnostics* diagnostics) {
  return diagnostics == nullptr ? 0 : diagnostics->records.size();
}

const onepass_diagnostic* onepass_diagnostics_at(const onepass_diagnostics* diagnostics, size_t i) {
  return i < onepass_diagnostics_count(diagnostics) ? &diagnostics->records[i] : nullptr;
}

const char* onepass_diagnostics_text(const onepass_diagnostics* diagnostics) {
  return diagnostics == nullptr ? "" : diagnostics->text.c_str();
}

void onepass_diagnostics_destroy(onepass_diagnostics* diagnostics) {
  delete diagnostics;
}
