// SPDX-License-Identifier: Apache-2.0
#include "ops/conv_rows.h"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#define ONEPASS_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define ONEPASS_CLONES
#endif

namespace onepass::ops {

namespace {

constexpr int64_t k_vector_bytes = 64;

template <class T, int64_t Channels>
[[gnu::always_inline]] inline void sum_tile(const RowTask<T>& task, int64_t x, int64_t elems) {
  typedef T Vector __attribute__((vector_size(k_vector_bytes)));
  Vector sums[Channels] = {};
  for (int64_t t = 0; t < task.taps; ++t) {
    Vector src;
    std::memcpy(&src, task.src + task.offsets[t] + x, sizeof(Vector));
    for (int64_t o = 0; o < Channels; ++o) sums[o] += src * task.weights[o * task.weight_pitch_elems + t];
  }
  for (int64_t o = 0; o < Channels; ++o)
    std::memcpy(task.dst + o * task.dst_pitch_elems + x, &sums[o], static_cast<size_t>(elems) * sizeof(T));
}

template <class T, int64_t Channels>
[[gnu::always_inline]] inline void sum_all(const RowTask<T>& task) {
  constexpr int64_t tile = k_vector_bytes / static_cast<int64_t>(sizeof(T));
  static_assert(tile <= k_row_slack_elems);
  for (int64_t x = 0; x < task.width; x += tile)
    sum_tile<T, Channels>(task, x, std::min(tile, task.width - x));
}

template <class T>
[[gnu::always_inline]] inline void sum_by_channels(const RowTask<T>& task, int64_t channels) {
  switch (channels) {
    case 1:
      return sum_all<T, 1>(task);
    case 2:
      return sum_all<T, 2>(task);
    case 3:
      return sum_all<T, 3>(task);
    default:
      return sum_all<T, 4>(task);
  }
}

}  // namespace

ONEPASS_CLONES void sum_rows(const RowTask<float>& task, int64_t channels) {
  sum_by_channels(task, channels);
}
ONEPASS_CLONES void sum_rows(const RowTask<double>& task, int64_t channels) {
  sum_by_channels(task, channels);
}

}  // namespace onepass::ops
