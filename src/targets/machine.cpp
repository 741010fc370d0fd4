// SPDX-License-Identifier: Apache-2.0
#include "targets/machine.h"

#include <algorithm>

namespace onepass::targets {

const Figures* figures_for(const Machine& machine, const Target& target) {
  const auto found = std::find_if(machine.classes.begin(), machine.classes.end(),
                                  [&](const Figures& figures) { return figures.target == target.name; });
  return found == machine.classes.end() ? nullptr : &*found;
}

Target with_figures(const Target& target, const Figures& figures) {
  Target result = target;
  result.clock_ghz = figures.clock_ghz;
  result.flops_per_cycle = figures.fma_gflops / figures.clock_ghz;
  if (target.tile_products_per_ns > 0) result.tile_products_per_ns = figures.tile_products_per_ns;
  result.l1_bytes = figures.l1_bytes;
  result.l2_bytes = figures.l2_bytes;
  result.l3_bytes = figures.l3_bytes;
  result.l2_bytes_per_ns = figures.l2_bytes_per_ns;
  result.l3_bytes_per_ns = figures.l3_bytes_per_ns;
  result.memory_bytes_per_ns = figures.memory_bytes_per_ns;
  result.launch_ns = figures.launch_ns;
  return result;
}

}  // namespace onepass::targets
