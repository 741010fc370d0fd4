// SPDX-License-Identifier: Apache-2.0
//
// The constants are fitted to the launches of whole networks (docs/cost-model.md says how and to which).
#include "plan/cost.h"

#include <algorithm>

namespace onepass::plan {

namespace {

constexpr double k_overlap = 0.95;      // hardware prefetch hides nearly all of the smaller term
constexpr double k_cache_share = 0.75;  // of a cache that a working set may fill
constexpr double k_written_share =
    0.55;                         // of L2's read bandwidth that maps in it reach, a part being written
constexpr double k_stall = 0.22;  // of the peak's time, beside what the tile itself cannot use
constexpr double k_pointwise_share = 0.3;  // of peak that code without fma chains reaches
constexpr double k_start_ns = 1400;  // a kernel's first instructions and addresses, none in a near cache

double maps_bytes_per_ns(double working_set_bytes, const targets::Target& target) {
  if (working_set_bytes <= k_cache_share * static_cast<double>(target.l2_bytes))
    return std::max(target.l3_bytes_per_ns, k_written_share * target.l2_bytes_per_ns);
  if (working_set_bytes <= k_cache_share * static_cast<double>(target.l3_bytes))
    return target.l3_bytes_per_ns;
  return target.memory_bytes_per_ns;
}

double compute_ns(const kernels::Estimate& e, const targets::Target& target) {
  const double peak_flops_per_ns = target.flops_per_cycle * target.clock_ghz;
  const double tiled_flops = std::max(0.0, e.executed_flops - e.pointwise_flops);
  // Beyond the peak, tile products wait for as much less.
  const double share = std::max(0.01, e.efficiency), stall = k_stall / std::max(1.0, share);
  return (tiled_flops * (1 / share + stall) + e.pointwise_flops / k_pointwise_share) / peak_flops_per_ns;
}

/// All but the launch.
double work_ns(const kernels::Estimate& e, const targets::Target& target) {
  const double compute = compute_ns(e, target);
  const auto maps_bytes = static_cast<double>(e.bytes_read + e.bytes_written);
  const double maps = maps_bytes / maps_bytes_per_ns(maps_bytes, target);
  // Between two uses of a weight lie all the others of the network.
  const double weights = static_cast<double>(e.weight_bytes) / target.memory_bytes_per_ns;
  return std::max(compute, maps) + (1 - k_overlap) * std::min(compute, maps) + weights;
}

kernels::Estimate step_estimate(int64_t elems, double flops_per_elem, int64_t bytes_read) {
  kernels::Estimate e;
  e.flops = e.executed_flops = e.pointwise_flops = flops_per_elem * static_cast<double>(elems);
  e.bytes_read = bytes_read;
  return e;
}

}  // namespace

double predict_ns(const kernels::Estimate& e, const targets::Target& target) {
  return work_ns(e, target) + target.launch_ns + k_start_ns;
}

double separate_pass_ns(int64_t elems, int operands, double flops_per_elem, const targets::Target& target) {
  kernels::Estimate e = step_estimate(elems, flops_per_elem, elems * 4 * (1 + operands));
  e.bytes_written = elems * 4;
  return predict_ns(e, target);
}

double joined_step_ns(int64_t elems, int operands, double flops_per_elem, const targets::Target& target) {
  return work_ns(step_estimate(elems, flops_per_elem, elems * 4 * operands), target);
}

}  // namespace onepass::plan
