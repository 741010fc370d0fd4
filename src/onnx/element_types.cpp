// SPDX-License-Identifier: Apache-2.0
#include "onnx/element_types.h"

#include <bit>
#include <cstring>
#include <limits>

namespace onepass::onnx {

namespace {

using ir::DType;

template <class File, class Memory, Memory (*Convert)(File)>
bool fill_converted(std::span<const std::byte> bytes, ir::Tensor& tensor) {
  const auto values = tensor.data<Memory>();
  for (size_t i = 0; i < values.size(); ++i) {
    File raw;
    std::memcpy(&raw, bytes.data() + i * sizeof(File), sizeof(File));
    values[i] = Convert(raw);
  }
  return true;
}

template <class File, class Memory>
Memory widen(File value) {
  return static_cast<Memory>(value);
}

bool is_true(uint8_t value) {
  return value != 0;
}

bool fill_same(std::span<const std::byte> bytes, ir::Tensor& tensor) {
  if (!bytes.empty()) std::memcpy(tensor.bytes(), bytes.data(), bytes.size());
  return true;
}

bool fill_u64(std::span<const std::byte> bytes, ir::Tensor& tensor) {
  fill_same(bytes, tensor);
  for (int64_t value : tensor.data<int64_t>())
    if (value < 0) return false;
  return true;
}

constexpr ElementType k_types[] = {
    {1, "float", 4, DType::f32, true, fill_same},
    {2, "uint8", 1, DType::u8, true, fill_same},
    {3, "int8", 1, DType::i8, true, fill_same},
    {4, "uint16", 2, DType::i32, false, fill_converted<uint16_t, int32_t, widen<uint16_t, int32_t>>},
    {5, "int16", 2, DType::i32, false, fill_converted<int16_t, int32_t, widen<int16_t, int32_t>>},
    {6, "int32", 4, DType::i32, true, fill_same},
    {7, "int64", 8, DType::i64, true, fill_same},
    {9, "bool", 1, DType::boolean, true, fill_converted<uint8_t, bool, is_true>},
    {10, "float16", 2, DType::f32, false, fill_converted<uint16_t, float, float_from_half>},
    {11, "double", 8, DType::f64, true, fill_same},
    {12, "uint32", 4, DType::i64, false, fill_converted<uint32_t, int64_t, widen<uint32_t, int64_t>>},
    {13, "uint64", 8, DType::i64, false, fill_u64},
    {16, "bfloat16", 2, DType::f32, false, fill_converted<uint16_t, float, float_from_bfloat16>},
};

}  // namespace

const ElementType* element_type(int32_t number) {
  for (const ElementType& type : k_types)
    if (type.number == number) return &type;
  return nullptr;
}

int32_t element_number(DType dtype) {
  for (const ElementType& type : k_types)
    if (type.dtype == dtype && type.same_bits) return type.number;
  return 0;
}

float float_from_half(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24, exact in float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign != 0 ? -magnitude : magnitude;
  }
  const uint32_t wide_exponent = exponent == 0x1f ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | wide_exponent << 23 | fraction << 13);
}

float float_from_bfloat16(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace onepass::onnx
