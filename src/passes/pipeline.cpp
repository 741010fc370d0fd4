// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include "passes/passes.h"
#include "passes/run_pass.h"

namespace onepass::passes {

namespace {

/// Once through the passes that give every meaning one spelling.
bool simplify_once(ir::Graph& graph, const PassOptions& options) {
  const auto fold = [&](ir::Graph& g) { return fold_constants(g, options.max_folded_bytes); };
  bool changed = run_pass("normalise", graph, options, normalise);
  changed |= run_pass("eliminate_identity", graph, options, eliminate_identity);
  changed |= run_pass("fold_constants", graph, options, fold);
  changed |= run_pass("eliminate_dead_code", graph, options, eliminate_dead_code);
  return changed;
}

}  // namespace

void run_passes(ir::Graph& graph, patterns::Journal& journal, const PassOptions& options) {
  while (simplify_once(graph, options)) {
  }
  if (!options.rewrites) return;
  run_pass("rewrites", graph, options, [&](ir::Graph& g) {
    const size_t before = journal.applied.size();
    patterns::apply_rewrites(g, journal, options.rewrite);
    return journal.applied.size() > before;
  });
  run_pass("eliminate_dead_code", graph, options, eliminate_dead_code);
}

}  // namespace onepass::passes
