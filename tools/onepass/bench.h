// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "compile_options.h"
#include "runtime/loaded_model.h"

namespace onepass::tool {

struct BenchArguments {
  std::string model;
  std::vector<std::string> inputs;
  int threads = 1;
  int rounds = 30;
  bool groups = false, serve = false, json = false;
  CompileArguments compile;
};

/// Milliseconds of `count` runs, each timed alone.
std::vector<double> time_runs(runtime::Session& session, int count);
double median(std::vector<double> values);

/// Every launch of the fused plan: predicted and measured (median of `rounds`).
int bench_groups(const BenchArguments& arguments);

/// The line protocol for timing side by side: 'READY {json}', then for each line 'N' the milliseconds of N
/// runs as a JSON list, for 'OUT file.npz' the outputs, until the input ends.
int bench_serve(const BenchArguments& arguments);

}  // namespace onepass::tool
