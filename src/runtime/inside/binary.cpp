// SPDX-License-Identifier: Apache-2.0
//
// Elementwise functions of two or more broadcast operands.
#include "runtime/inside/binary_functions.h"
#include "runtime/inside/routines.h"
#include "runtime/inside/row_walk.h"

namespace onepass::inside {

namespace {

template <class E>
struct Operand {
  const E* elems;
  int64_t step;  ///< 0 or 1 in nearly all stretches
};

/// The common steps get loops of their own, which the compiler turns into vector code.
template <class Function, class E, class Result>
void apply_stretch(const Call* call, Operand<E> a, Operand<E> b, Result* dst, int64_t length) {
  const auto loop = [=](auto step_a, auto step_b) {
    for (int64_t i = 0; i < length; ++i)
      dst[i] = Function::apply(call, a.elems[i * step_a], b.elems[i * step_b]);
  };
  using Zero = std::integral_constant<int64_t, 0>;
  using One = std::integral_constant<int64_t, 1>;
  if (a.step == 1 && b.step == 1) return loop(One{}, One{});
  if (a.step == 1 && b.step == 0) return loop(One{}, Zero{});
  if (a.step == 0 && b.step == 1) return loop(Zero{}, One{});
  loop(a.step, b.step);
}

/// dst = f(dst, operand) over the whole range of this call.
template <class E, class Function>
void accumulate(const Call* call, int64_t operand, const RowWalk<1>& walk, E* dst, Range elems) {
  const E* src = src_of<E>(call, operand);
  for_each_stretch(walk, elems, [&](const int64_t* offsets, int64_t at, int64_t length) {
    apply_stretch<Function, E, E>(call, {dst + at, 1}, {src + offsets[0], walk.step(0)}, dst + at, length);
  });
}

template <class E, class Result, class Function>
void binary(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const int64_t operand_count = params.take();
  const RowWalk<2> walk = take_row_walk<2>(params);
  const Range elems = units(call, slice_begin, slice_end);
  const E* a = src_of<E>(call, 0);
  const E* b = src_of<E>(call, 1);
  Result* dst = dst_of<Result>(call, operand_count);
  for_each_stretch(walk, elems, [&](const int64_t* offsets, int64_t at, int64_t length) {
    apply_stretch<Function, E, Result>(call, {a + offsets[0], walk.step(0)}, {b + offsets[1], walk.step(1)},
                                       dst + at, length);
  });
  if constexpr (std::is_same_v<E, Result>)
    for (int64_t operand = 2; operand < operand_count; ++operand)
      accumulate<E, Function>(call, operand, {walk.rank, walk.dims, {params.take(walk.rank)}}, dst, elems);
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

#define ONEPASS_BINARY(name, function, type_name, type, result)                     \
  void onepass_##name##_##type_name(const Call* call, int64_t begin, int64_t end) { \
    inside::binary<type, result, inside::function>(call, begin, end);               \
  }
#include "runtime/inside/binary.def"
#undef ONEPASS_BINARY
