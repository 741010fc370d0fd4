// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <type_traits>

#include "runtime/inside/pairwise_sum.h"
#include "runtime/inside/routine.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

/// Axes of the source with their strides, merged where they lie in one another.
struct Axes {
  int64_t rank;
  const int64_t* dims;
  const int64_t* strides;

  int64_t count() const {
    int64_t elems = 1;
    for (int64_t axis = 0; axis < rank; ++axis) elems *= dims[axis];
    return elems;
  }
  int64_t offset(int64_t position) const {
    int64_t result = 0;
    for (int64_t axis = rank - 1; axis >= 0; --axis) {
      result += position % dims[axis] * strides[axis];
      position /= dims[axis];
    }
    return result;
  }
};

Axes take_axes(Params& params) {
  Axes axes{};
  axes.rank = params.take();
  axes.dims = params.take(axes.rank);
  axes.strides = params.take(axes.rank);
  return axes;
}

/// Integer sums and products wrap.
template <class E>
using Accumulator = std::conditional_t<std::is_integral_v<E>, uint64_t, E>;

struct SumOf {
  template <class E, class Term>
  static E apply(int64_t count, const Term& term) {
    return static_cast<E>(pairwise_sum<Accumulator<E>>(
        0, count, [&](int64_t i) { return static_cast<Accumulator<E>>(term(i)); }));
  }
};

struct MeanOf {
  template <class E, class Term>
  static E apply(int64_t count, const Term& term) {
    if constexpr (std::is_integral_v<E>) {
      const auto sum =
          pairwise_sum<uint64_t>(0, count, [&](int64_t i) { return static_cast<uint64_t>(term(i)); });
      return count == 0 ? E(0) : static_cast<E>(static_cast<int64_t>(sum) / count);
    } else {
      return SumOf::apply<E>(count, term) / static_cast<E>(count);
    }
  }
};

struct ProdOf {
  template <class E, class Term>
  static E apply(int64_t count, const Term& term) {
    Accumulator<E> product = 1;
    for (int64_t i = 0; i < count; ++i) product *= static_cast<Accumulator<E>>(term(i));
    return static_cast<E>(product);
  }
};

/// NaN wins; of nothing it is the infinity that loses to everything.
template <int sign>
struct ExtremeOf {
  template <class E, class Term>
  static E apply(int64_t count, const Term& term) {
    if (count == 0) return std::is_integral_v<E> ? E(0) : E(-sign) * std::numeric_limits<E>::infinity();
    E best = term(0);
    for (int64_t i = 1; i < count; ++i) {
      const E x = term(i);
      if ((sign > 0 ? x > best : x < best) || x != x) best = x;
    }
    return best;
  }
};

template <class E, class Function>
void reduce(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  const Axes kept = take_axes(params);
  const Axes reduced = take_axes(params);
  const int64_t count = reduced.count();
  const bool one_axis = reduced.rank == 1;
  const int64_t step = one_axis ? reduced.strides[0] : 0;
  E* dst = dst_of<E>(call, 1);
  const Range outputs = units(call, slice_begin, slice_end);
  for (int64_t o = outputs.begin; o < outputs.end; ++o) {
    const E* src = src_of<E>(call, 0) + kept.offset(o);
    if (one_axis)
      dst[o] = Function::template apply<E>(count, [=](int64_t i) { return src[i * step]; });
    else
      dst[o] = Function::template apply<E>(count, [&](int64_t i) { return src[reduced.offset(i)]; });
  }
}

using MaxOf = ExtremeOf<1>;
using MinOf = ExtremeOf<-1>;

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

#define ONEPASS_REDUCE(name, function, type_name, type)                                    \
  void onepass_reduce_##name##_##type_name(const Call* call, int64_t begin, int64_t end) { \
    inside::reduce<type, inside::function>(call, begin, end);                              \
  }
#include "runtime/inside/reduce.def"
#undef ONEPASS_REDUCE
