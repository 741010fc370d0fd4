// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace onepass::tool {

/// Exit codes of every verb.
constexpr int k_ok = 0, k_check_failed = 1, k_refused = 2, k_own_fault = 3, k_usage = 64;

// Each adds a verb to the command line. Its callback stores the exit code; what it throws is main's to
// report.
void add_compile(CLI::App& app, int& exit_code);
void add_run(CLI::App& app, int& exit_code);
void add_verify(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_bench(CLI::App& app, int& exit_code);
void add_fold(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_catalogue(CLI::App& app, int& exit_code);

}  // namespace onepass::tool
