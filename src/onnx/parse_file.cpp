// SPDX-License-Identifier: Apache-2.0
#include "onnx/parse_file.h"

#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "base/diagnostic.h"

namespace onepass::onnx {

namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr int64_t k_max_file_bytes = std::numeric_limits<int>::max();
constexpr int k_max_model_field = 25;  // ModelProto's largest field number

Error not_onnx(std::string message) {
  return Error({.code = "not_onnx",
                .message = std::move(message),
                .accepted = "a serialized ONNX ModelProto",
                .hint = "check with `python -m onnx.checker`, or export the model anew"});
}

Error truncated() {
  return Error({.code = "truncated",
                .message = "the ONNX file ends in the middle of a field",
                .accepted = "a complete file",
                .hint = "copy or download the file again"});
}

/// Skips one field's payload; false when it cannot.
bool skip_payload(CodedInputStream& stream, uint32_t tag, bool& beyond_end) {
  const auto wire_type = WireFormatLite::GetTagWireType(tag);
  if (wire_type == WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
    uint32_t size_bytes = 0;
    beyond_end = !stream.ReadVarint32(&size_bytes) ||
                 static_cast<int64_t>(size_bytes) > static_cast<int64_t>(stream.BytesUntilTotalBytesLimit());
    return !beyond_end && stream.Skip(static_cast<int>(size_bytes));
  }
  if (wire_type != WireFormatLite::WIRETYPE_VARINT) return false;  // ModelProto has no such field
  uint64_t number = 0;
  beyond_end = !stream.ReadVarint64(&number);
  return !beyond_end;
}

/// Whether bytes that do not parse are the beginning of a model.
bool is_cut_short(std::span<const std::byte> bytes) {
  const int size_bytes = static_cast<int>(bytes.size());
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()), size_bytes);
  stream.SetTotalBytesLimit(size_bytes);
  while (const uint32_t tag = stream.ReadTag()) {
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (field < 1 || field > k_max_model_field) return false;
    bool beyond_end = false;
    if (!skip_payload(stream, tag, beyond_end)) return beyond_end;
  }
  return false;
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path) {
  const auto cannot_read = [&](const char* why) {
    return Error(
        {.code = "cannot_read", .message = fmt::format("'{}' {}", path, why), .accepted = "an ONNX file"});
  };
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) throw cannot_read("is no file that can be read");
  const auto size_bytes = static_cast<int64_t>(std::filesystem::file_size(path, failure));
  if (failure) throw cannot_read("has no size");
  if (size_bytes > k_max_file_bytes)
    throw Error({.code = "too_large",
                 .message = fmt::format("'{}' has {} bytes; protobuf holds 2 GiB at most", path, size_bytes),
                 .hint = "save the weights as external data"});
  std::ifstream file(path, std::ios::binary);
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes));
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size_bytes)) throw cannot_read("cannot be read");
  return bytes;
}

pb::ModelProto parse_model(std::span<const std::byte> bytes) {
  if (bytes.empty()) throw not_onnx("the file is empty");
  if (static_cast<int64_t>(bytes.size()) > k_max_file_bytes) throw not_onnx("the file is larger than 2 GiB");
  const int size_bytes = static_cast<int>(bytes.size());
  CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()), size_bytes);
  pb::ModelProto model;
  if (!model.ParsePartialFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
    throw is_cut_short(bytes) ? truncated() : not_onnx("the bytes are no protobuf message of an ONNX model");
  if (!model.has_graph() || !model.has_ir_version())
    throw not_onnx(fmt::format("the file names no {}", model.has_graph() ? "IR version" : "graph"));
  return model;
}

}  // namespace onepass::onnx
