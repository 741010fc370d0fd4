// SPDX-License-Identifier: Apache-2.0
#include "ir/tensor.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <type_traits>

namespace onepass::ir {

namespace {

constexpr size_t k_alignment_bytes = 64;

std::shared_ptr<std::byte[]> allocate(int64_t size_bytes) {
  const size_t rounded = (static_cast<size_t>(size_bytes) / k_alignment_bytes + 1) * k_alignment_bytes;
  auto* memory = static_cast<std::byte*>(std::aligned_alloc(k_alignment_bytes, rounded));
  if (memory == nullptr) throw std::bad_alloc();
  std::memset(memory, 0, rounded);
  return {memory, [](std::byte* bytes) { std::free(bytes); }};
}

/// A float that an integer type cannot hold becomes the nearest value that it can; NaN becomes 0.
template <class To, class From>
To convert(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && !std::is_same_v<To, bool>) {
    if (std::isnan(value)) return 0;
    // The largest integer may round up to a float outside the type.
    if (value >= static_cast<From>(std::numeric_limits<To>::max())) return std::numeric_limits<To>::max();
    if (value <= static_cast<From>(std::numeric_limits<To>::min())) return std::numeric_limits<To>::min();
  }
  return static_cast<To>(value);
}

template <class Visitor>
void visit(DType dtype, Visitor&& visitor) {
  switch (dtype) {
    case DType::f32:
      return visitor(float{});
    case DType::f64:
      return visitor(double{});
    case DType::i64:
      return visitor(int64_t{});
    case DType::i32:
      return visitor(int32_t{});
    case DType::i8:
      return visitor(int8_t{});
    case DType::u8:
      return visitor(uint8_t{});
    case DType::boolean:
      return visitor(bool{});
    case DType::undefined:
      break;
  }
  throw InternalError("a tensor of undefined type is converted");
}

}  // namespace

Tensor::Tensor(DType dtype, Shape shape)
    : dtype_(dtype),
      shape_(std::move(shape)),
      storage_(allocate(element_count(shape_) * ir::size_bytes(dtype))) {}

Tensor Tensor::of_ints(std::span<const int64_t> values) {
  return of<int64_t>({static_cast<int64_t>(values.size())}, values);
}

Tensor Tensor::reshaped(Shape shape) const {
  require(element_count(shape) == size(), "a reshape keeps the element count");
  Tensor result = *this;
  result.shape_ = std::move(shape);
  return result;
}

Tensor Tensor::cast(DType dtype) const {
  if (dtype == dtype_) return *this;
  Tensor result(dtype, shape_);
  visit(dtype_, [&]<class From>(From) {
    visit(dtype, [&]<class To>(To) {
      const auto from = data<From>();
      const auto to = result.data<To>();
      for (size_t i = 0; i < from.size(); ++i) to[i] = convert<To>(from[i]);
    });
  });
  return result;
}

std::vector<int64_t> Tensor::to_ints() const {
  require(dtype_ != DType::f32 && dtype_ != DType::f64, "integers are read from an integer tensor");
  const Tensor ints = cast(DType::i64);
  const auto values = ints.data<int64_t>();
  return {values.begin(), values.end()};
}

std::vector<double> Tensor::to_doubles() const {
  const Tensor doubles = cast(DType::f64);
  const auto values = doubles.data<double>();
  return {values.begin(), values.end()};
}

}  // namespace onepass::ir
