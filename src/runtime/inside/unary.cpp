// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside/unary_functions.h"

#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

template <class E>
E take_as(Params& params) {
  if constexpr (std::is_floating_point_v<E>)
    return static_cast<E>(params.take_double());
  else
    return static_cast<E>(params.take());
}

template <class E, class Function>
void unary(const Call* call, int64_t slice_begin, int64_t slice_end) {
  Params params(call);
  Parameters<E> parameters{};
  parameters.alpha = take_as<E>(params);
  parameters.beta = take_as<E>(params);
  const E* src = src_of<E>(call, 0);
  E* dst = dst_of<E>(call, 1);
  const Range elems = units(call, slice_begin, slice_end);
  for (int64_t i = elems.begin; i < elems.end; ++i) dst[i] = Function::apply(src[i], parameters);
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

#define ONEPASS_UNARY(name, function, type_name, type)                              \
  void onepass_##name##_##type_name(const Call* call, int64_t begin, int64_t end) { \
    inside::unary<type, inside::function>(call, begin, end);                        \
  }
#include "runtime/inside/unary.def"
#undef ONEPASS_UNARY
