// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace onepass::emit {

struct ProcessResult {
  int exit_code = 0;     ///< 128 + signal when a signal ended it
  std::string messages;  ///< what it wrote to stdout and stderr
};

/// Runs a program found on PATH and waits for it. Nothing when there is no such program.
std::optional<ProcessResult> run_process(const std::vector<std::string>& arguments);

}  // namespace onepass::emit
