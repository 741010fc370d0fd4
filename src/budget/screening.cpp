// SPDX-License-Identifier: Apache-2.0
#include "budget/screening.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "budget/parallel.h"
#include "budget/sensitivity.h"

namespace onepass::budget {

namespace {

using Frame = std::vector<ir::Tensor>;

/// `count` of `size` indices at equal distances.
std::vector<size_t> spread(size_t size, size_t count) {
  std::vector<size_t> indices;
  for (size_t i = 0; i < count; ++i) indices.push_back(i * size / count);
  return indices;
}

/// The most sensitive of 200, by mean and deviation of the logarithms, over the greatest that was seen.
double beyond_seen(const std::vector<double>& effects) {
  constexpr double k_greatest_of_200 = 2.7;  // median of the greatest of 200 normal deviates
  double sum = 0, squares = 0, greatest = 0, count = 0;
  for (const double effect : effects) {
    if (!(effect > 0) || !std::isfinite(effect)) continue;
    sum += std::log(effect);
    squares += std::pow(std::log(effect), 2);
    greatest = std::max(greatest, effect);
    ++count;
  }
  if (count < 2) return 1;
  const double mean = sum / count, variance = (squares - sum * mean) / (count - 1);
  const double likely = std::exp(mean + k_greatest_of_200 * std::sqrt(std::max(0.0, variance)));
  return rounded_up(std::max(1.0, likely / greatest));
}

}  // namespace

Screening screen(const ir::Graph& graph, const std::vector<Frame>& frames,
                 const std::vector<ir::NodeId>& layers, const ScreeningOptions& options) {
  Screening result;
  if (frames.size() <= options.most || layers.empty()) {
    result.frames = spread(frames.size(), frames.size());
    return result;
  }
  const double frame_flops = 2 * std::max(1.0, run_flops(graph));
  const auto affordable = static_cast<size_t>(options.flops / frame_flops);
  const std::vector<size_t> looked_at =
      spread(frames.size(), std::clamp(affordable, options.most, frames.size()));
  std::map<ir::NodeId, double> error_of;
  for (ir::NodeId layer : layers) error_of[layer] = k_probe_error;
  std::vector<double> effects(looked_at.size());
  in_parallel(static_cast<int>(looked_at.size()), options.threads, [&](int i) {
    const auto at = static_cast<size_t>(i);
    effects[at] = rounded_up(Reference(graph, frames[looked_at[at]]).effect(error_of, 1));
  });
  std::vector<size_t> order = spread(looked_at.size(), looked_at.size());
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return effects[a] > effects[b]; });
  for (size_t i = 0; i < options.most; ++i) result.frames.push_back(looked_at[order[i]]);
  result.beyond = beyond_seen(effects);
  return result;
}

}  // namespace onepass::budget
