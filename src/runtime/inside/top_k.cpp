// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "runtime/inside/heap.h"
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

/// Total order with NaN above every number.
template <class E>
bool less(E a, E b) {
  if constexpr (std::is_floating_point_v<E>) {
    if (a != a || b != b) return a == a && b != b;
  }
  return a < b;
}

/// The k best entries so far of one line, kept in the outputs themselves: a heap with the worst at its root.
template <class E>
struct Best {
  E* values;
  int64_t* positions;
  int64_t step;
  bool largest;

  /// Entry (a, i) comes before (b, j): better, or as good and further in front.
  bool before(E a, int64_t i, E b, int64_t j) const {
    if (less(a, b)) return !largest;
    if (less(b, a)) return largest;
    return i < j;
  }
  void set(int64_t entry, E value, int64_t position) const {
    values[entry * step] = value;
    positions[entry * step] = position;
  }
  bool entry_before(int64_t i, int64_t j) const {
    return before(values[i * step], positions[i * step], values[j * step], positions[j * step]);
  }
  void swap(int64_t i, int64_t j) const {
    const E value = values[i * step];
    const int64_t position = positions[i * step];
    set(i, values[j * step], positions[j * step]);
    set(j, value, position);
  }
};

template <class E>
void select(const Best<E>& best, int64_t k, const E* src, int64_t extent) {
  const auto below = [&](int64_t i, int64_t j) { return best.entry_before(i, j); };
  const auto swap = [&](int64_t i, int64_t j) { best.swap(i, j); };
  for (int64_t i = 0; i < k; ++i) best.set(i, src[i * best.step], i);
  make_heap(k, below, swap);
  for (int64_t i = k; i < extent; ++i) {
    const E candidate = src[i * best.step];
    if (!best.before(candidate, i, best.values[0], best.positions[0])) continue;
    best.set(0, candidate, i);
    sift_down(0, k, below, swap);
  }
  for (int64_t last = k - 1; last > 0; --last) {  // the worst goes to the end
    best.swap(0, last);
    sift_down(0, last, below, swap);
  }
}

template <class E>
void top_k(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const int64_t extent = params.take();
  const int64_t step = params.take();
  const int64_t k = params.take();
  const bool largest = params.take() != 0;
  const Range lines = units(call, slice_begin, slice_end);
  for (int64_t line = lines.begin; line < lines.end; ++line) {
    const E* src = src_of<E>(call, 0) + line / step * extent * step + line % step;
    const int64_t to = line / step * k * step + line % step;
    const Best<E> best{dst_of<E>(call, 1) + to, dst_of<int64_t>(call, 2) + to, step, largest};
    if (k > 0) select(best, k, src, extent);
  }
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

void onepass_top_k_f32(const Call* call, int64_t begin, int64_t end) {
  inside::top_k<float>(call, begin, end);
}
void onepass_top_k_i64(const Call* call, int64_t begin, int64_t end) {
  inside::top_k<int64_t>(call, begin, end);
}
void onepass_top_k_i32(const Call* call, int64_t begin, int64_t end) {
  inside::top_k<int32_t>(call, begin, end);
}
