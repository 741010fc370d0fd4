// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace onepass::plan {

/// Blocks or bytes [begin, end) of what several values share.
struct Range {
  int64_t begin = 0, end = 0;
};

/// Whether any two overlap; sorts them.
inline bool overlap(std::vector<Range>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end) return true;
  return false;
}

}  // namespace onepass::plan
