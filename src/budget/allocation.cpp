// SPDX-License-Identifier: Apache-2.0
#include "budget/allocation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/diagnostic.h"

namespace onepass::budget {

namespace {

double squared(double value) {
  return value * value;
}

/// Candidates of a layer, fastest first, each more accurate than the one before.
std::vector<size_t> front_of(const Layer& layer) {
  std::vector<size_t> order(layer.candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto before = [&](size_t a, size_t b) {
    const Candidate &left = layer.candidates[a], &right = layer.candidates[b];
    return std::tie(left.time_ns, left.error, a) < std::tie(right.time_ns, right.error, b);
  };
  std::sort(order.begin(), order.end(), before);
  std::vector<size_t> front;
  for (size_t candidate : order)
    if (front.empty() || layer.candidates[candidate].error < layer.candidates[front.back()].error)
      front.push_back(candidate);
  return front;
}

class Allocator {
 public:
  Allocator(std::span<const Layer> layers, double budget) : layers_(layers), budget_(budget) {
    for (const Layer& layer : layers) {
      require(!layer.candidates.empty(), "a layer has a candidate");
      fronts_.push_back(front_of(layer));
    }
    at_.assign(layers.size(), 0);
  }

  Allocation run() {
    while (!holds() && demote()) {
    }
    if (holds()) promote();
    Allocation result{.predicted = std::sqrt(variance()), .holds = holds()};
    for (size_t i = 0; i < layers_.size(); ++i) {
      result.chosen.push_back(fronts_[i][at_[i]]);
      result.fastest.push_back(fronts_[i].front());
    }
    return result;
  }

 private:
  const Candidate& candidate(size_t layer, size_t at) const {
    return layers_[layer].candidates[fronts_[layer][at]];
  }
  double part(size_t layer, size_t at) const {
    return squared(contribution(layers_[layer], candidate(layer, at)));
  }
  double variance() const {
    double sum = 0;
    for (size_t i = 0; i < layers_.size(); ++i) sum += part(i, at_[i]);
    return sum;
  }
  bool holds() const { return variance() <= squared(budget_); }

  /// Takes the step that removes most error for its time; false when there is none.
  bool demote() {
    double best = 0;
    size_t layer = 0, to = 0;
    for (size_t i = 0; i < layers_.size(); ++i)
      for (size_t at = at_[i] + 1; at < fronts_[i].size(); ++at) {
        const double removed = part(i, at_[i]) - part(i, at);
        const double lost_ns = candidate(i, at).time_ns - candidate(i, at_[i]).time_ns;
        const double worth = removed / std::max(lost_ns, 1e-3);
        if (worth <= best) continue;
        best = worth;
        layer = i;
        to = at;
      }
    if (best > 0) at_[layer] = to;
    return best > 0;
  }

  /// A late, large step can make earlier ones superfluous.
  void promote() {
    std::vector<size_t> order(layers_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto gain = [&](size_t i) { return candidate(i, at_[i]).time_ns - candidate(i, 0).time_ns; };
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return gain(a) != gain(b) ? gain(a) > gain(b) : a < b; });
    for (size_t i : order) {
      const size_t demoted = at_[i];
      for (at_[i] = 0; at_[i] < demoted && !holds();) ++at_[i];
    }
  }

  std::span<const Layer> layers_;
  double budget_;
  std::vector<std::vector<size_t>> fronts_;
  std::vector<size_t> at_;  ///< by layer: index into its front
};

}  // namespace

double contribution(const Layer& layer, const Candidate& candidate) {
  constexpr double k_most = 1e30;  // an infinite sensitivity still compares
  return std::min(layer.sensitivity, k_most) * candidate.error;
}

Allocation allocate(std::span<const Layer> layers, double budget) {
  return Allocator(layers, budget).run();
}

}  // namespace onepass::budget
