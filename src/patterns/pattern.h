// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace onepass::patterns {

/// A numbered condition of a pattern, in words. Its id ("C1") is also in the check and in the negative test.
struct Condition {
  const char* id;
  const char* words;
};

/// Why a candidate was left alone.
struct Refusal {
  std::string pattern;             ///< "conv_batchnorm"
  std::string condition;           ///< "C3", or "U1".."U4" for the engine's universal legality
  std::vector<std::string> nodes;  ///< the user's own node names, producer first
  std::string reason;              ///< the condition with the values that failed
};

/// A rewrite that was applied.
struct Applied {
  std::string pattern;
  std::vector<std::string> nodes;
};

/// What all passes and patterns have done to a graph, in order.
struct Journal {
  std::vector<Applied> applied;
  std::vector<Refusal> refused;      ///< refreshed by each run of the catalogue: one per candidate
  std::vector<Diagnostic> warnings;  ///< gain, negative variance, placeholder statistics, ...
};

/// A condition that failed.
struct Failure {
  const char* condition;
  std::string reason;
};

/// The nodes of one candidate, producer first; the last is the root, whose outputs survive the rewrite.
struct Match {
  std::vector<ir::NodeId> nodes;
};

/// A rewrite of the graph into standard operators: a fold, a spelling or a pad.
struct RewritePattern {
  const char* name;
  const char* before_after;  ///< "Conv -> BatchNormalization => Conv"
  const char* formula;       ///< "" when no weights change
  const char* exactness;     ///< "bitwise", "rounding" or "approximate: ..."
  std::span<const Condition> conditions;
  /// The candidate whose root is `node`, by shape of the graph alone.
  std::optional<Match> (*match)(const ir::Graph&, ir::NodeId node);
  /// The first condition that fails. Pure.
  std::optional<Failure> (*check)(const ir::Graph&, const Match&);
  /// Builds the replacement and returns one value for each output of the root. The engine redirects the
  /// readers, gives the new nodes the origins of the match and removes what is left without readers.
  std::vector<ir::ValueId> (*replace)(ir::Graph&, const Match&, Journal&);
};

}  // namespace onepass::patterns
