// SPDX-License-Identifier: Apache-2.0
#include "verify/npy.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "base/diagnostic.h"
#include "base/files.h"

namespace onepass::verify {

namespace {

constexpr char k_magic[] = "\x93NUMPY";
constexpr size_t k_magic_bytes = 6;
constexpr size_t k_alignment_bytes = 64;
constexpr size_t k_most_rank = 8;

struct TypeName {
  ir::DType dtype;
  const char* descr;
};
constexpr TypeName k_types[] = {{ir::DType::f32, "<f4"},    {ir::DType::f64, "<f8"}, {ir::DType::i64, "<i8"},
                                {ir::DType::i32, "<i4"},    {ir::DType::i8, "|i1"},  {ir::DType::u8, "|u1"},
                                {ir::DType::boolean, "|b1"}};

[[noreturn]] void refuse(const std::string& name, std::string why) {
  throw Error(Diagnostic{.code = "bad_npy",
                         .message = fmt::format("'{}' {}", name, why),
                         .accepted = "a .npy file in C order of f2, f4, f8, i8, i4, i1, u1 or b1"});
}

/// What stands behind 'key': in the header, up to the closing bracket or comma.
std::string field(const std::string& header, const std::string& key, const std::string& name) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) refuse(name, "has no " + key);
  size_t begin = at + key.size() + 3;
  while (begin < header.size() && header[begin] == ' ') ++begin;
  const bool tuple = begin < header.size() && header[begin] == '(';
  const size_t end = header.find_first_of(tuple ? ")" : ",}", begin);
  if (end == std::string::npos) refuse(name, "has a header that is cut off");
  return header.substr(begin + (tuple ? 1 : 0), end - begin - (tuple ? 1 : 0));
}

ir::Shape shape_of(const std::string& text, const std::string& name) {
  constexpr int64_t k_most_elements = int64_t{1} << 40;
  ir::Shape shape;
  int64_t extent = -1, elements = 1;
  for (const char c : text + ",") {
    if (c >= '0' && c <= '9') {
      extent = (extent < 0 ? 0 : extent) * 10 + (c - '0');
      if (extent > k_most_elements) refuse(name, "is too large");
    } else if (c == ',') {
      if (extent < 0) continue;
      shape.push_back(extent);
      const int64_t factor = std::max<int64_t>(extent, 1);
      if (shape.size() > k_most_rank || elements > k_most_elements / factor) refuse(name, "is too large");
      elements *= factor;
      extent = -1;
    } else if (c != ' ' && c != 'L') {
      refuse(name, "has the shape (" + text + ")");
    }
  }
  return shape;
}

float half_to_float(uint16_t half) {
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t exponent = (half >> 10) & 31, mantissa = half & 0x3ffU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

std::string header_of(std::span<const std::byte> bytes, const std::string& name, size_t& data_at) {
  const auto byte = [&](size_t i) { return std::to_integer<size_t>(bytes[i]); };
  if (bytes.size() < 12 || std::memcmp(bytes.data(), k_magic, k_magic_bytes) != 0)
    refuse(name, "is no .npy file");
  const bool wide = byte(6) >= 2;
  if (byte(6) < 1 || byte(6) > 3) refuse(name, fmt::format("is version {}", byte(6)));
  const size_t header_at = wide ? 12 : 10;
  const size_t length = byte(8) | byte(9) << 8 | (wide ? byte(10) << 16 | byte(11) << 24 : 0);
  if (length > bytes.size() - header_at) refuse(name, "is cut off");
  data_at = header_at + length;
  return {reinterpret_cast<const char*>(bytes.data()) + header_at, length};
}

ir::Tensor from_halves(std::span<const std::byte> data, ir::Shape shape) {
  ir::Tensor tensor(ir::DType::f32, std::move(shape));
  std::span<float> elements = tensor.data<float>();
  for (size_t i = 0; i < elements.size(); ++i) {
    uint16_t half = 0;
    std::memcpy(&half, data.data() + 2 * i, 2);
    elements[i] = half_to_float(half);
  }
  return tensor;
}

}  // namespace

ir::Tensor decode_npy(std::span<const std::byte> bytes, const std::string& name) {
  size_t data_at = 0;
  const std::string header = header_of(bytes, name, data_at);
  const std::string descr = field(header, "descr", name);
  if (field(header, "fortran_order", name) != "False") refuse(name, "is in Fortran order");
  ir::Shape shape = shape_of(field(header, "shape", name), name);
  const auto data = bytes.subspan(data_at);
  const auto holds = [&](int64_t size_bytes) {
    if (ir::element_count(shape) * size_bytes > static_cast<int64_t>(data.size())) refuse(name, "is cut off");
  };
  if (descr == "'<f2'") {
    holds(2);
    return from_halves(data, std::move(shape));
  }
  for (const TypeName& type : k_types) {
    if (descr != fmt::format("'{}'", type.descr)) continue;
    holds(ir::size_bytes(type.dtype));
    ir::Tensor tensor(type.dtype, std::move(shape));
    std::copy_n(data.begin(), tensor.size_bytes(), tensor.bytes());
    return tensor;
  }
  refuse(name, "holds " + descr);
}

ir::Tensor read_npy(const std::string& path) {
  return decode_npy(read_file(path), path);
}

std::string encode_npy(const ir::Tensor& tensor) {
  const char* descr = nullptr;
  for (const TypeName& type : k_types)
    if (type.dtype == tensor.dtype()) descr = type.descr;
  require(descr != nullptr, "a tensor has an element type");
  std::string extents;
  for (const int64_t extent : tensor.shape()) extents += fmt::format("{},", extent);
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, extents);
  const size_t prefix_bytes = k_magic_bytes + 4;
  while ((prefix_bytes + header.size() + 1) % k_alignment_bytes != 0) header += ' ';
  header += '\n';
  std::string file(k_magic, k_magic_bytes);
  file += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  file += header;
  return file.append(reinterpret_cast<const char*>(tensor.bytes()), static_cast<size_t>(tensor.size_bytes()));
}

void write_npy(const std::string& path, const ir::Tensor& tensor) {
  write_file(path, encode_npy(tensor));
}

}  // namespace onepass::verify
