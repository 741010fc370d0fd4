// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "base/kernel_abi.h"
#include "onepass/model.h"

// What every plain routine starts from. params[0] is the number of work units of the whole launch and
// params[1] how many of them one slice takes; the routine's own parameters follow.
namespace onepass::inside {

constexpr int k_max_axes = 16;

struct Range {
  int64_t begin, end;
};

/// Work units of slices [slice_begin, slice_end).
inline Range units(const Call* call, int64_t slice_begin, int64_t slice_end) {
  const int64_t work = call->params[0];
  const int64_t step = call->params[1];
  const int64_t end = slice_end * step;
  return {slice_begin * step, end < work ? end : work};
}

/// Reads the routine's own parameters one after the other.
class Params {
 public:
  explicit Params(const Call* call) : next_(call->params + 2) {}
  int64_t take() { return *next_++; }
  double take_double() { return __builtin_bit_cast(double, *next_++); }
  float take_float() { return static_cast<float>(take_double()); }
  const int64_t* take(int64_t count) {
    const int64_t* values = next_;
    next_ += count;
    return values;
  }

 private:
  const int64_t* next_;
};

template <class E>
const E* src_of(const Call* call, int64_t operand) {
  return static_cast<const E*>(call->operands[operand]);
}
template <class E>
E* dst_of(const Call* call, int64_t operand) {
  return static_cast<E*>(call->operands[operand]);
}

inline void report_bad_input(const Call* call) {
  if (call->status != nullptr) *call->status = ONEPASS_BAD_INPUT;
}

inline int64_t min_of(int64_t a, int64_t b) {
  return a < b ? a : b;
}
inline int64_t max_of(int64_t a, int64_t b) {
  return a > b ? a : b;
}

}  // namespace onepass::inside
