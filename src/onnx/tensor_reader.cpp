// SPDX-License-Identifier: Apache-2.0
#include "onnx/tensor_reader.h"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <span>

#include "onnx/element_types.h"

namespace onepass::onnx {

namespace {

struct Bytes {
  std::vector<std::byte> owned;
  std::span<const std::byte> view;
};

Error refused(std::string code, const std::string& what, const std::string& why, std::string accepted = {}) {
  return Error(
      {.code = std::move(code), .message = fmt::format("{} {}", what, why), .accepted = std::move(accepted)});
}

template <class To, class Field>
bool append_as(const Field& field, std::vector<std::byte>& bytes) {
  bytes.resize(static_cast<size_t>(field.size()) * sizeof(To));
  for (int i = 0; i < field.size(); ++i) {
    const To value = static_cast<To>(field[i]);
    if (static_cast<std::remove_cvref_t<decltype(field[i])>>(value) != field[i]) return false;
    std::memcpy(bytes.data() + static_cast<size_t>(i) * sizeof(To), &value, sizeof(To));
  }
  return true;
}

template <class Field>
void copy_field(const Field& field, std::vector<std::byte>& bytes) {
  bytes.resize(static_cast<size_t>(field.size()) * sizeof(field[0]));
  if (field.size() > 0) std::memcpy(bytes.data(), field.data(), bytes.size());
}

/// The typed fields as the bytes that raw_data would hold; false when a number does not fit the type.
bool gather_typed(const pb::TensorProto& proto, std::vector<std::byte>& bytes) {
  switch (proto.data_type()) {
    case pb::TensorProto::FLOAT:
      copy_field(proto.float_data(), bytes);
      return true;
    case pb::TensorProto::DOUBLE:
      copy_field(proto.double_data(), bytes);
      return true;
    case pb::TensorProto::INT64:
      copy_field(proto.int64_data(), bytes);
      return true;
    case pb::TensorProto::UINT64:
      copy_field(proto.uint64_data(), bytes);
      return true;
    case pb::TensorProto::UINT32:
      return append_as<uint32_t>(proto.uint64_data(), bytes);
    case pb::TensorProto::INT32:
      copy_field(proto.int32_data(), bytes);
      return true;
    case pb::TensorProto::INT16:
      return append_as<int16_t>(proto.int32_data(), bytes);
    case pb::TensorProto::INT8:
      return append_as<int8_t>(proto.int32_data(), bytes);
    case pb::TensorProto::UINT8:
    case pb::TensorProto::BOOL:
      return append_as<uint8_t>(proto.int32_data(), bytes);
    default:  // the 16-bit types
      return append_as<uint16_t>(proto.int32_data(), bytes);
  }
}

ir::Shape checked_shape(const pb::TensorProto& proto, const std::string& what) {
  const ir::Shape shape(proto.dims().begin(), proto.dims().end());
  if (!is_sane_shape(shape))
    throw refused("bad_tensor_shape", what,
                  fmt::format("has dims {}, which are negative or too large", ir::to_string(shape)));
  return shape;
}

const ElementType& checked_type(const pb::TensorProto& proto, const std::string& what) {
  const ElementType* type = element_type(proto.data_type());
  if (type == nullptr)
    throw refused(
        "unsupported_type", what, fmt::format("has element type {}", proto.data_type()),
        "float, float16, bfloat16, double, bool and integers (TensorProto.DataType 1 to 7, 9 to 13, 16)");
  if (proto.has_segment()) throw refused("unsupported_type", what, "is split into segments");
  return *type;
}

}  // namespace

bool is_sane_shape(const ir::Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < 0 || extent > k_max_elems) return false;
    if (extent == 0) continue;
    if (count > k_max_elems / extent) return false;
    count *= extent;
  }
  return true;
}

ir::Tensor TensorReader::read(const pb::TensorProto& proto, const std::string& what) {
  const ElementType& type = checked_type(proto, what);
  ir::Shape shape = checked_shape(proto, what);
  const int64_t size_bytes = ir::element_count(shape) * type.size_bytes;
  Bytes bytes;
  if (proto.data_location() == pb::TensorProto::EXTERNAL) {
    bytes.owned = external_.read(proto, size_bytes, what);
  } else if (!proto.has_raw_data() && !gather_typed(proto, bytes.owned)) {
    throw refused("bad_tensor_value", what, fmt::format("holds a number that {} cannot", type.name));
  }
  bytes.view =
      proto.has_raw_data() && bytes.owned.empty() && proto.data_location() != pb::TensorProto::EXTERNAL
          ? std::as_bytes(std::span(proto.raw_data()))
          : std::span<const std::byte>(bytes.owned);
  if (static_cast<int64_t>(bytes.view.size()) != size_bytes)
    throw refused("tensor_size", what,
                  fmt::format("is {}{} and needs {} bytes, but the file holds {}", type.name,
                              ir::to_string(shape), size_bytes, bytes.view.size()));
  ir::Tensor tensor(type.dtype, std::move(shape));
  if (!type.fill(bytes.view, tensor))
    throw refused("bad_tensor_value", what, fmt::format("holds a {} that int64 cannot", type.name));
  widened_half_ = widened_half_ || (type.dtype == ir::DType::f32 && !type.same_bits);
  return tensor;
}

}  // namespace onepass::onnx
