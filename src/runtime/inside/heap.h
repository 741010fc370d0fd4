// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace onepass::inside {

/// Moves entry `at` of a binary heap of `count` entries down to its place. `below(i, j)`: entry i belongs
/// further down than entry j; `swap(i, j)` exchanges two entries.
template <class Below, class Swap>
void sift_down(int64_t at, int64_t count, const Below& below, const Swap& swap) {
  for (;;) {
    int64_t top = at;
    for (int64_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; ++child)
      if (below(top, child)) top = child;
    if (top == at) return;
    swap(at, top);
    at = top;
  }
}

template <class Below, class Swap>
void make_heap(int64_t count, const Below& below, const Swap& swap) {
  for (int64_t at = count / 2 - 1; at >= 0; --at) sift_down(at, count, below, swap);
}

}  // namespace onepass::inside
