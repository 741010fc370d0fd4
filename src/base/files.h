// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace onepass {

/// Throws Error("cannot_read") with the path and the system's reason.
std::vector<std::byte> read_file(const std::string& path);

/// The file appears by rename, whole or not at all. Throws Error("cannot_write").
void write_file(const std::string& path, std::span<const std::byte> bytes);
void write_file(const std::string& path, std::string_view text);

/// A fresh folder under the system's temporary folder, removed with everything in it at the end of life.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

/// FNV-1a, 64 bits: names contents in metadata and caches. Not for security.
uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed = 14695981039346656037ULL);

/// hash_bytes of a file's contents, without holding them. Throws Error("cannot_read").
uint64_t hash_file(const std::string& path);

}  // namespace onepass
