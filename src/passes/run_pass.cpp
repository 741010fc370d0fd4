// SPDX-License-Identifier: Apache-2.0
#include "passes/run_pass.h"

#include <fmt/format.h>

#include <chrono>

#include "ir/verifier.h"

namespace onepass::passes {

namespace {

std::vector<Diagnostic> in_pass(const char* name, std::vector<Diagnostic> diagnostics) {
  for (Diagnostic& diagnostic : diagnostics)
    diagnostic.message = fmt::format("{} (in pass {})", diagnostic.message, name);
  return diagnostics;
}

}  // namespace

bool run_pass(const char* name, ir::Graph& graph, const PassOptions& options,
              const std::function<bool(ir::Graph&)>& pass) try {
  const auto start = std::chrono::steady_clock::now();
  const bool changed = pass(graph);
  if (changed) ir::verify(graph);
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  if (options.on_time) options.on_time(name, elapsed.count());
  if (changed && options.on_change) options.on_change(name, graph);
  return changed;
} catch (const Error& error) {
  throw Error(in_pass(name, error.diagnostics()));
} catch (const InternalError& error) {
  throw InternalError(fmt::format("in pass {}: {}", name, error.what()));
}

}  // namespace onepass::passes
