// SPDX-License-Identifier: Apache-2.0
#include "onnx/external_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/diagnostic.h"

namespace onepass::onnx {

namespace {

namespace fs = std::filesystem;

struct Place {
  std::string location;
  int64_t offset_bytes = 0;
  std::optional<int64_t> length_bytes;
};

Error refused(const std::string& what, const std::string& why) {
  return Error(
      {.code = "external_data",
       .message = fmt::format("{}: {}", what, why),
       .accepted =
           "a relative path to a file inside the model's folder, with offset and length inside the file"});
}

int64_t parse_size(const std::string& text, const std::string& key, const std::string& what) {
  int64_t number = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size() || number < 0)
    throw refused(what, fmt::format("{} '{}' is no size in bytes", key, text.substr(0, 32)));
  return number;
}

Place parse_place(const pb::TensorProto& tensor, const std::string& what) {
  Place place;
  for (const auto& entry : tensor.external_data()) {
    if (entry.key() == "location") place.location = entry.value();
    if (entry.key() == "offset") place.offset_bytes = parse_size(entry.value(), "offset", what);
    if (entry.key() == "length") place.length_bytes = parse_size(entry.value(), "length", what);
  }
  return place;
}

bool is_inside(const fs::path& folder, const fs::path& file) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

fs::path resolve(const std::string& folder, const std::string& location, const std::string& what) {
  if (folder.empty()) throw refused(what, "external data cannot be read from a model in memory");
  if (location.empty() || location.find('\0') != std::string::npos || fs::path(location).is_absolute())
    throw refused(what, fmt::format("location '{}' is no relative path", location));
  std::error_code failure;
  const fs::path root = fs::canonical(folder, failure);
  if (failure) throw refused(what, fmt::format("folder '{}' cannot be read", folder));
  const fs::path file = fs::weakly_canonical(root / location, failure);
  if (failure || !is_inside(root, file))
    throw refused(what, fmt::format("location '{}' escapes the model's folder", location));
  if (!fs::is_regular_file(file, failure))
    throw refused(what, fmt::format("location '{}' is no file in the model's folder", location));
  return file;
}

}  // namespace

std::vector<std::byte> ExternalData::read(const pb::TensorProto& tensor, int64_t size_bytes,
                                          const std::string& what) {
  const Place place = parse_place(tensor, what);
  const fs::path path = resolve(folder_, place.location, what);
  std::error_code failure;
  const auto file_bytes = static_cast<int64_t>(fs::file_size(path, failure));
  if (failure) throw refused(what, fmt::format("location '{}' has no size", place.location));
  if (place.offset_bytes > file_bytes || size_bytes > file_bytes - place.offset_bytes)
    throw refused(what, fmt::format("{} bytes at offset {} lie beyond the {} bytes of '{}'", size_bytes,
                                    place.offset_bytes, file_bytes, place.location));
  const int64_t held_bytes = place.length_bytes.value_or(size_bytes);
  if (held_bytes != size_bytes)
    throw refused(
        what, fmt::format("length {} differs from the {} bytes that its dims need", held_bytes, size_bytes));
  int64_t& read_bytes = read_bytes_[path.string()];
  read_bytes += size_bytes;
  if (read_bytes / k_max_sharing > file_bytes)
    throw refused(what, fmt::format("the same bytes of '{}' stand for too many tensors", place.location));
  std::vector<std::byte> bytes(static_cast<size_t>(size_bytes));
  std::ifstream file(path, std::ios::binary);
  file.seekg(place.offset_bytes);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size_bytes))
    throw refused(what, fmt::format("'{}' cannot be read", place.location));
  return bytes;
}

}  // namespace onepass::onnx
