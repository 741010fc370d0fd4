// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>
#include <vector>

namespace onepass {

enum class Severity { note, warning, error };

/// What the user is told about a model or an input. Fields that do not apply stay empty.
struct Diagnostic {
  Severity severity = Severity::error;
  std::string code;      ///< stable, e.g. "unsupported_operator"
  std::string message;   ///< one sentence: what is wrong, with the shape or attribute in hand
  std::string node;      ///< the user's own node name
  std::string op;        ///< ONNX operator
  int opset = 0;         ///< 0: unknown
  std::string accepted;  ///< what would be accepted
  std::string hint;      ///< how to mend it
};

/// One line: "error[code] node 'n' (Op, opset 13): message; accepted: ...; hint: ...".
std::string to_string(const Diagnostic& diagnostic);

/// The user's fault: a model, an input or an option that is refused. Exit code 2.
class Error : public std::exception {
 public:
  explicit Error(Diagnostic diagnostic);
  explicit Error(std::vector<Diagnostic> diagnostics);
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::string text_;
};

/// Our own fault: a broken invariant. Exit code 3.
class InternalError : public std::exception {
 public:
  explicit InternalError(std::string text);
  const char* what() const noexcept override { return text_.c_str(); }

 private:
  std::string text_;
};

/// Throws InternalError with file, line and `what` unless `holds`.
void require(bool holds, const char* what, const char* file = __builtin_FILE(), int line = __builtin_LINE());

}  // namespace onepass
