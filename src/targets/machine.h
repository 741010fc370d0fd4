// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "targets/target.h"

namespace onepass::targets {

/// What was measured of one class on one machine; the names are those of Target.
struct Figures {
  std::string target;     ///< name of the class
  double fma_gflops = 0;  ///< one core
  double clock_ghz = 0;
  double tile_products_per_ns = 0;  ///< one core; 0 without tiles
  int64_t l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  double l1_bytes_per_ns = 0, l2_bytes_per_ns = 0, l3_bytes_per_ns = 0,
         memory_bytes_per_ns = 0;  ///< one core
  double all_cores_memory_bytes_per_ns = 0;
  double launch_ns = 0;   ///< one thread
  double barrier_ns = 0;  ///< what all cores add to a launch
};

/// One machine, as `onepass calibrate` saw it.
struct Machine {
  std::string cpu;  ///< model name
  int cores = 1;
  std::vector<Figures> classes;
};

/// The figures of `target`'s class, or null.
const Figures* figures_for(const Machine& machine, const Target& target);

/// `target` with the measured figures in place of the nominal ones. Names and features stay.
Target with_figures(const Target& target, const Figures& figures);

}  // namespace onepass::targets
