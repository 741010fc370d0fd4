// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/tensor.h"

namespace onepass::onnx {

/// An element type of the file format and what it becomes in the IR.
struct ElementType {
  int32_t number;      ///< TensorProto.DataType
  const char* name;    ///< "float16"
  int64_t size_bytes;  ///< in the file
  ir::DType dtype;     ///< wide enough for every value, or for those that `fill` lets pass
  bool same_bits;      ///< file bytes are the IR's bytes
  /// Converts the file's little-endian bytes; false when a value does not fit the IR type.
  bool (*fill)(std::span<const std::byte> bytes, ir::Tensor& tensor);
};

/// Null for types that the IR cannot hold (strings, complex numbers, 4- and 8-bit floats).
const ElementType* element_type(int32_t number);

/// The standard's number for an IR type.
int32_t element_number(ir::DType dtype);

float float_from_half(uint16_t bits);
float float_from_bfloat16(uint16_t bits);

}  // namespace onepass::onnx
