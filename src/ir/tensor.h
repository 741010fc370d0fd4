// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>

#include "base/diagnostic.h"
#include "ir/types.h"

namespace onepass::ir {

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() {
  return DType::f32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::f64;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::i64;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::i32;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::i8;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::u8;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::boolean;
}

/// A dense row-major array. Copies share the storage; whoever fills a tensor does so before sharing it.
class Tensor {
 public:
  Tensor() = default;
  Tensor(DType dtype, Shape shape);  ///< zero-filled, 64-byte aligned

  template <class T>
  static Tensor of(Shape shape, std::span<const T> values) {
    Tensor tensor(dtype_of<T>(), std::move(shape));
    require(values.size() == static_cast<size_t>(tensor.size()), "element count matches the shape");
    std::copy(values.begin(), values.end(), tensor.data<T>().begin());
    return tensor;
  }
  template <class T>
  static Tensor scalar(T value) {
    return of<T>({}, std::span<const T>(&value, 1));
  }
  static Tensor of_ints(std::span<const int64_t> values);  ///< i64[n]

  bool empty() const { return storage_ == nullptr; }
  DType dtype() const { return dtype_; }
  const Shape& shape() const { return shape_; }
  int64_t size() const { return element_count(shape_); }  ///< elements
  int64_t size_bytes() const { return size() * ir::size_bytes(dtype_); }
  TensorType type() const { return {dtype_, shape_}; }

  template <class T>
  std::span<T> data() {
    require(dtype_ == dtype_of<T>(), "tensor is read as its own type");
    return {reinterpret_cast<T*>(storage_.get()), static_cast<size_t>(size())};
  }
  template <class T>
  std::span<const T> data() const {
    require(dtype_ == dtype_of<T>(), "tensor is read as its own type");
    return {reinterpret_cast<const T*>(storage_.get()), static_cast<size_t>(size())};
  }
  std::byte* bytes() { return storage_.get(); }
  const std::byte* bytes() const { return storage_.get(); }

  Tensor reshaped(Shape shape) const;  ///< the same elements under another shape
  Tensor cast(DType dtype) const;      ///< numeric conversion, ONNX Cast rules for finite values

  /// Elements as i64; the tensor must hold integers (i64, i32, i8, u8 or bool).
  std::vector<int64_t> to_ints() const;
  /// Elements as double; any numeric type.
  std::vector<double> to_doubles() const;

 private:
  DType dtype_ = DType::undefined;
  Shape shape_;
  std::shared_ptr<std::byte[]> storage_;
};

}  // namespace onepass::ir
