// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/choice.h"
#include "loops/nest.h"

namespace onepass::plan {

struct Plan;

/// The generated kernels of a plan, each once.
class KernelTable {
 public:
  struct Entry {
    std::string symbol;
    int64_t slices = 1;
    int64_t scratch_bytes = 0;
  };

  /// Equal nests have one entry.
  const Entry& entry(const kernels::KernelChoice& choice, const targets::Target& target);
  /// Hands the kernels that launches name over to the plan, in the order of their entries, and makes room for
  /// their scratch.
  void move_used_to(Plan& plan);

 private:
  std::map<std::string, Entry> entries_;  ///< by printed nest
  std::vector<loops::LoopNest> nests_;
};

}  // namespace onepass::plan
