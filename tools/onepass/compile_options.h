// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "driver/pipeline.h"

namespace onepass::tool {

/// The options of `compile`, which every verb takes.
struct CompileArguments {
  std::string target = "native";
  std::string fusion = "on";
  std::string residual = "proven";
  std::vector<std::string> shapes;  ///< NAME=1x3x320x320
  bool overridable = false;
  std::string batch_norm = "as-exported";
  std::vector<std::string> disabled;
  int64_t stop_after = -1;
  std::string tolerance = "1e-5";
  std::vector<std::string> budget_frames;
  std::vector<double> budget_range;
  std::string sensitivities;
  std::string machine = "default";  ///< a file, "default" (or "off") or "calibrated"
  std::string cache = "user";       ///< a folder, "user" or "off"
  std::string choices;              ///< a file of kernels to take instead of the cost model's
  double tune_seconds = 0;          ///< above 0: measure them first and write that file
};

void add_compile_options(CLI::App& app, CompileArguments& arguments);

/// Throws Error("bad_option").
driver::CompileOptions to_options(const CompileArguments& arguments);
/// Measures kernels and writes the file of choices, if the arguments ask for it; says what it found on
/// stderr.
void tune_first(const driver::Network& network, const driver::CompileOptions& options,
                const CompileArguments& arguments);
/// The error budget; `exact` stands for the default here, since direct kernels still round.
double to_tolerance(const CompileArguments& arguments);

}  // namespace onepass::tool
