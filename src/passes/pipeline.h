// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "ir/graph.h"
#include "patterns/catalogue.h"

namespace onepass::passes {

struct PassOptions {
  bool rewrites = true;  ///< false: normalisation alone (`--fusion=off` compiles this graph)
  patterns::RewriteOptions rewrite;
  int64_t max_folded_bytes =
      64 << 20;  ///< constant folding never makes a constant larger than this, unless it shrinks
  std::function<void(const std::string& pass, const ir::Graph&)> on_change;   ///< dump hook
  std::function<void(const std::string& pass, double milliseconds)> on_time;  ///< after every pass
};

/// All whole-graph passes in order: normalise (one spelling per meaning), fold constants and shape
/// arithmetic, remove dead code, and, if asked, the catalogue's rewrites. Each pass is verified. Typed graph
/// in and out.
void run_passes(ir::Graph& graph, patterns::Journal& journal, const PassOptions& options = {});

}  // namespace onepass::passes
