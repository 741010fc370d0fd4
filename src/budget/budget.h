// SPDX-License-Identifier: Apache-2.0
//
// The error budget: the fastest algorithm for each convolution such that the predicted error at the network's
// outputs stays below the tolerance with a margin of two (docs/numerics.md).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "budget/algorithm.h"
#include "ir/graph.h"
#include "targets/target.h"

namespace onepass::budget {

inline constexpr double k_default_tolerance = 1e-5;
/// Plain bf16 products are considered from this tolerance on.
inline constexpr double k_bf16_tolerance = 1e-3;
/// The predicted error is kept below tolerance / k_margin.
inline constexpr double k_margin = 2;

/// What was measured of a network, for the next compile: by layer, its sensitivity.
using Sensitivities = std::map<std::string, double>;

struct Options {
  double tolerance = k_default_tolerance;
  /// Inputs of the graph, of which the most sensitive count; none: a frame of seeded noise in each of
  /// `ranges`.
  std::vector<std::vector<ir::Tensor>> frames;
  /// Values of one sign cancel in the sums, where errors do not: pictures are often scaled that way.
  std::vector<std::pair<double, double>> ranges = {{-1, 1}, {0, 1}};
  Sensitivities known;  ///< instead of measuring, where it names every layer
  int threads = 2;
};

/// A convolution or matrix product with more than one algorithm to choose from.
struct LayerReport {
  std::string node;  ///< the user's own name
  Algorithm algorithm = Algorithm::direct;
  double error = 0;        ///< relative to the layer's products; docs/numerics.md
  bool sampled = false;    ///< error: measured on a tile, not only declared
  double sensitivity = 0;  ///< error at the outputs for an error of 1
  double share = 0;        ///< of the squared budget
  double predicted_us = 0;
};

struct Demotion {
  std::string node;
  Algorithm from = Algorithm::direct, to = Algorithm::direct;
  std::string reason;
};

struct Report {
  double tolerance = 0;
  uint64_t frames_hash = 0;  ///< of the given frames; 0: seeded noise
  bool measured = false;     ///< false: only algorithms about as accurate as a direct sum were at choice
  double predicted = 0;      ///< at the outputs, over 200 frames; when measured
  bool holds = true;         ///< predicted <= tolerance / k_margin
  bool bf16_maps = false;    ///< blocked maps may keep their elements in bf16; counted in `predicted`
  double floor = 0;          ///< predicted for direct sums everywhere; when nothing holds
  std::vector<LayerReport> layers;
  std::vector<Demotion> demotions;
};

struct Assignment {
  Report report;
  std::map<std::string, kernels::ConvPolicy> policies;  ///< plan::PlanOptions::conv_by_value
  Sensitivities sensitivities;                          ///< when measured
};

/// Decides for every convolution and matrix product of a typed graph. Depends on nothing but its arguments.
Assignment assign(const ir::Graph& graph, const targets::Target& target, const Options& options);

/// One line: tolerance, predicted error, how many layers compute how.
std::string summary(const Report& report);

}  // namespace onepass::budget
