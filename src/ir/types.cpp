// SPDX-License-Identifier: Apache-2.0
#include "ir/types.h"

#include <fmt/format.h>

namespace onepass::ir {

namespace {

struct DTypeRow {
  DType dtype;
  const char* name;
  int64_t size_bytes;
};

constexpr DTypeRow k_rows[] = {{DType::undefined, "undefined", 0},
                               {DType::f32, "f32", 4},
                               {DType::f64, "f64", 8},
                               {DType::i64, "i64", 8},
                               {DType::i32, "i32", 4},
                               {DType::i8, "i8", 1},
                               {DType::u8, "u8", 1},
                               {DType::boolean, "bool", 1}};

const DTypeRow& row(DType dtype) {
  return k_rows[static_cast<size_t>(dtype)];
}

}  // namespace

int64_t size_bytes(DType dtype) {
  return row(dtype).size_bytes;
}

const char* name(DType dtype) {
  return row(dtype).name;
}

DType dtype_from_name(std::string_view text) {
  for (const DTypeRow& r : k_rows)
    if (text == r.name) return r.dtype;
  return DType::undefined;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

Shape row_major_strides(const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

std::string to_string(const Shape& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

std::string to_string(const TensorType& type) {
  std::string dims;
  for (size_t axis = 0; axis < type.dims.size(); ++axis) {
    const bool counted = static_cast<int>(axis) == type.counted_axis;
    dims += fmt::format("{}{}{}", axis == 0 ? "" : ",", counted ? "<=" : "", type.dims[axis]);
  }
  return fmt::format("{}[{}]", name(type.dtype), dims);
}

}  // namespace onepass::ir
