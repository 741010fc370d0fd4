// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "ir/tensor.h"

// References are single-threaded on purpose: whoever proves a network runs its frames in parallel.
namespace onepass::ops {

using Inputs = std::span<const ir::Tensor* const>;
using Outputs = std::span<ir::Tensor>;

/// Input `input`, or null when it is absent.
inline const ir::Tensor* optional_input(Inputs inputs, size_t input) {
  return input < inputs.size() ? inputs[input] : nullptr;
}

/// Pointer to the elements of an input or output of type E.
template <class E>
const E* elements(const ir::Tensor& tensor) {
  return tensor.data<E>().data();
}
template <class E>
E* elements(ir::Tensor& tensor) {
  return tensor.data<E>().data();
}

/// Calls visitor(E{}) with E the element type of `dtype`. T is the float type of the running precision; a
/// float tensor of any other precision does not reach a reference.
template <class T, class Visitor>
void visit_dtype(ir::DType dtype, Visitor&& visitor) {
  if (dtype == ir::dtype_of<T>()) return visitor(T{});
  switch (dtype) {
    case ir::DType::i64:
      return visitor(int64_t{});
    case ir::DType::i32:
      return visitor(int32_t{});
    case ir::DType::i8:
      return visitor(int8_t{});
    case ir::DType::u8:
      return visitor(uint8_t{});
    case ir::DType::boolean:
      return visitor(bool{});
    default:
      break;
  }
  throw InternalError("a reference meets a tensor outside its precision");
}

/// The same without bool.
template <class T, class Visitor>
void visit_numeric(ir::DType dtype, Visitor&& visitor) {
  visit_dtype<T>(dtype, [&]<class E>(E) {
    if constexpr (std::is_same_v<E, bool>)
      throw InternalError("arithmetic on a bool tensor");
    else
      visitor(E{});
  });
}

/// Truncates towards zero; out of range saturates and NaN becomes zero, so that no value is undefined.
template <class Integer>
Integer to_integer(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<Integer>::min()))
    return std::numeric_limits<Integer>::min();
  if (value >= static_cast<double>(std::numeric_limits<Integer>::max()))
    return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(value);
}

}  // namespace onepass::ops
