// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "patterns/join.h"
#include "patterns/pattern.h"

namespace onepass::patterns {

/// Every rewrite, then every join, in the order of catalogue.def (position is priority).
const std::vector<RewritePattern>& rewrites();
const std::vector<JoinPattern>& joins();

struct RewriteOptions {
  int64_t stop_after = -1;            ///< stop after N rewrites; -1: no limit. For bisecting a wrong answer.
  std::vector<std::string> disabled;  ///< pattern names that are skipped
};

/// Applies the rewrites until none fits. The candidates that stay, with the condition that refused each, are
/// in journal.refused. A chain that a universal rule refuses (a second reader, a graph output) is recorded
/// too.
void apply_rewrites(ir::Graph& graph, Journal& journal, const RewriteOptions& options = {});

/// The catalogue as Markdown: docs/patterns.md.
std::string catalogue_markdown();

}  // namespace onepass::patterns
