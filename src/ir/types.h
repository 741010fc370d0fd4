// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace onepass::ir {

/// Element types of the IR. Half-precision inputs and weights are read as f32.
enum class DType : uint8_t { undefined, f32, f64, i64, i32, i8, u8, boolean };

int64_t size_bytes(DType dtype);
const char* name(DType dtype);                 ///< "f32"
DType dtype_from_name(std::string_view text);  ///< undefined when unknown

using Shape = std::vector<int64_t>;  ///< one extent per axis; [] is a scalar

int64_t element_count(const Shape& shape);

/// Row-major strides in elements.
Shape row_major_strides(const Shape& shape);

/// A value's static type. `counted_axis` >= 0 marks an axis whose extent depends on data (the rows that
/// NonMaxSuppression selects): dims hold its upper bound, the run-time extent comes with the tensor.
struct TensorType {
  DType dtype = DType::undefined;
  Shape dims;
  int counted_axis = -1;

  bool operator==(const TensorType&) const = default;
};

std::string to_string(const Shape& shape);      ///< "[1,16,32,32]"
std::string to_string(const TensorType& type);  ///< "f32[1,16,32,32]", a counted axis as "<=N"

}  // namespace onepass::ir
