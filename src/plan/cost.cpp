// SPDX-License-Identifier: Apache-2.0
#include "plan/cost.h"

#include <algorithm>

namespace onepass::plan {

namespace {

constexpr double k_overlap = 0.8;           // measured: hardware prefetch hides most of the smaller term
constexpr double k_cache_share = 0.75;      // of a cache that a working set may fill
constexpr double k_pointwise_share = 0.25;  // of peak that code without fma chains reaches

double bandwidth(double working_set_bytes, const targets::Target& target) {
  if (working_set_bytes <= k_cache_share * static_cast<double>(target.l2_bytes))
    return target.l2_bytes_per_ns;
  if (working_set_bytes <= k_cache_share * static_cast<double>(target.l3_bytes))
    return target.l3_bytes_per_ns;
  return target.memory_bytes_per_ns;
}

}  // namespace

double predict_ns(const kernels::Estimate& e, const targets::Target& target) {
  const double peak_flops_per_ns = target.flops_per_cycle * target.clock_ghz;
  const double compute_ns = e.executed_flops / (peak_flops_per_ns * std::max(0.01, e.efficiency));
  const auto maps_bytes = static_cast<double>(e.bytes_read + e.bytes_written);
  const double maps_ns = maps_bytes / bandwidth(maps_bytes, target);
  const auto weight_bytes = static_cast<double>(e.weight_bytes);
  // Weights of a whole network do not stay in L2 between inferences.
  const double weights_ns = weight_bytes / std::min(target.l3_bytes_per_ns, bandwidth(weight_bytes, target));
  const double memory_ns = maps_ns + weights_ns;
  return std::max(compute_ns, memory_ns) + (1 - k_overlap) * std::min(compute_ns, memory_ns) +
         target.launch_ns;
}

double separate_pass_ns(int64_t elems, int operands, double flops_per_elem, const targets::Target& target) {
  kernels::Estimate e;
  e.flops = e.executed_flops = flops_per_elem * static_cast<double>(elems);
  e.bytes_read = elems * 4 * (1 + operands);
  e.bytes_written = elems * 4;
  e.efficiency = k_pointwise_share;
  return predict_ns(e, target);
}

}  // namespace onepass::plan
