// SPDX-License-Identifier: Apache-2.0
#include <type_traits>

#include "runtime/inside/binary_functions.h"
#include "runtime/inside/routines.h"

namespace onepass::inside {

namespace {

template <class To, class From>
To converted(From value) {
  if constexpr (std::is_same_v<To, bool>)
    return value != From{};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return to_integer<To>(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

template <class From, class To>
void cast(const Call* call, int64_t slice_begin, int64_t slice_end) {
  const From* src = src_of<From>(call, 0);
  To* dst = dst_of<To>(call, 1);
  const Range elems = units(call, slice_begin, slice_end);
  for (int64_t i = elems.begin; i < elems.end; ++i) dst[i] = converted<To>(src[i]);
}

}  // namespace

}  // namespace onepass::inside

using namespace onepass;

#define ONEPASS_CAST(from_name, from, to_name, to)                                          \
  void onepass_cast_##from_name##_##to_name(const Call* call, int64_t begin, int64_t end) { \
    inside::cast<from, to>(call, begin, end);                                               \
  }
#include "runtime/inside/cast.def"
#undef ONEPASS_CAST
