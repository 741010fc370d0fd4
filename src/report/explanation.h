// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "budget/budget.h"
#include "patterns/pattern.h"
#include "plan/plan.h"

namespace onepass::report {

/// What one way of compiling costs: the columns unfused, folded and fused.
struct Costs {
  std::string name;
  int64_t launches = 0;
  int64_t passes = 0;         ///< launches that traverse a feature map: all but conversions of single pixels
  int64_t bytes_read = 0;     ///< feature maps and weights
  int64_t bytes_written = 0;  ///< halo included
  int64_t peak_bytes = 0;     ///< arena, without the caller's input and output buffers
  int64_t weight_bytes = 0;
  double predicted_ms = 0;  ///< by the cost model, one thread
};

/// A kernel and the user's nodes that it computes.
struct Chain {
  std::vector<std::string> nodes;
  std::vector<std::string> patterns;  ///< rewrites and joins that made it, in order
  std::string family;
  std::string shape;      ///< of its result
  bool residual = false;  ///< reads a second feature map
  std::string proof;      ///< of the residual join
  double predicted_us = 0;
};

/// A candidate that stayed split.
struct Split {
  std::vector<std::string> nodes;
  std::string pattern, condition, reason;
  bool branched = false;
};

/// A Concat, Split or Slice of which slices lie where they are made (concat_slices).
struct Placed {
  std::vector<std::string> nodes;
  std::string slices;  ///< "3 of 4 slices lie in place"
};

/// Launches over maps that leave L2 (plan/stripes.h): they run in turn, some rows each.
struct Striped {
  std::vector<std::string> launches;
  int64_t stripes = 1;
};

struct Explanation {
  std::string model, target;
  std::vector<Chain> chains;  ///< more than one node each, in execution order
  std::vector<Chain> single;  ///< kernels and routines of one node
  std::vector<Placed> placed;
  std::vector<Striped> striped;
  std::vector<Split> splits;
  std::vector<Diagnostic> warnings;
  budget::Report budget;  ///< tolerance 0: exact sums were asked for
  std::vector<Costs> costs;
};

/// One compilation: graph after passes, what the passes did, the error budget, the plan.
struct Compilation {
  const ir::Graph& graph;
  const patterns::Journal& journal;
  const budget::Report& budget;
  const plan::Plan& plan;
};

Costs costs_of(const std::string& name, const plan::Plan& plan);

/// What `fused` did, beside what the others cost.
Explanation explain(const std::string& model, const Compilation& fused, std::vector<Costs> costs);

std::string to_text(const Explanation& explanation);
std::string to_json(const Explanation& explanation);  ///< one object, keys as the fields above

}  // namespace onepass::report
