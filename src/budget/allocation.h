// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

namespace onepass::budget {

/// One way to compute a layer. `error` is relative to the layer's own products.
struct Candidate {
  int id = 0;  ///< the caller's
  double time_ns = 0, error = 0;
};

/// `sensitivity` is what an error of 1 in the layer puts at the network's outputs.
struct Layer {
  std::string name;
  double sensitivity = 0;
  std::vector<Candidate> candidates;  ///< at least one
};

struct Allocation {
  std::vector<size_t> chosen;   ///< by layer: index of the candidate
  std::vector<size_t> fastest;  ///< by layer: what it would have been without a budget
  double predicted = 0;         ///< root of the sum of (sensitivity * error)^2
  bool holds = false;           ///< predicted <= budget
};

/// What `candidate` of the layer puts at the outputs.
double contribution(const Layer& layer, const Candidate& candidate);

/// The fastest candidates whose predicted error stays within `budget`: starts from the fastest of each layer
/// and demotes the layer that removes most error for the time it loses until the budget holds; then what is
/// not needed is taken back, the greatest gain of time first. Where nothing holds the budget, every layer
/// gets its most accurate candidate. The same for the same input, whatever the machine.
Allocation allocate(std::span<const Layer> layers, double budget);

}  // namespace onepass::budget
