// SPDX-License-Identifier: Apache-2.0
#include "base/diagnostic.h"

namespace onepass {

namespace {

const char* severity_name(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "error";
}

std::string place(const Diagnostic& d) {
  std::string detail = d.op;
  if (d.opset > 0) detail += (detail.empty() ? "opset " : ", opset ") + std::to_string(d.opset);
  std::string text;
  if (!d.node.empty()) text += " node '" + d.node + "'";
  if (!detail.empty()) text += " (" + detail + ")";
  return text;
}

std::string join(const std::vector<Diagnostic>& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics) text += (text.empty() ? "" : "\n") + to_string(d);
  return text;
}

}  // namespace

std::string to_string(const Diagnostic& d) {
  std::string text = severity_name(d.severity);
  text += "[" + d.code + "]" + place(d) + ": " + d.message;
  if (!d.accepted.empty()) text += "; accepted: " + d.accepted;
  if (!d.hint.empty()) text += "; hint: " + d.hint;
  return text;
}

Error::Error(Diagnostic diagnostic) : Error(std::vector<Diagnostic>{std::move(diagnostic)}) {}

Error::Error(std::vector<Diagnostic> diagnostics)
    : diagnostics_(std::move(diagnostics)), text_(join(diagnostics_)) {}

InternalError::InternalError(std::string text) : text_(std::move(text)) {}

void require(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  throw InternalError(std::string(file) + ":" + std::to_string(line) + ": " + what +
                      " (this is a fault of onepass; please report it)");
}

}  // namespace onepass
