// SPDX-License-Identifier: Apache-2.0
#include "base/files.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"

namespace onepass {

namespace {

[[noreturn]] void cannot(const char* code, const std::string& path) {
  throw Error({.code = code, .message = "'" + path + "': " + std::strerror(errno)});
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) cannot("cannot_read", path);
  const std::streamoff size = file.tellg();
  if (size < 0) cannot("cannot_read", path);
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size)) cannot("cannot_read", path);
  return bytes;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  const std::string unfinished = path + ".unfinished." + std::to_string(::getpid());
  std::ofstream file(unfinished, std::ios::binary | std::ios::trunc);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file || std::rename(unfinished.c_str(), path.c_str()) != 0) {
    const int reason = errno;
    ::unlink(unfinished.c_str());
    errno = reason;
    cannot("cannot_write", path);
  }
}

void write_file(const std::string& path, std::string_view text) {
  write_file(path, std::as_bytes(std::span(text)));
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "onepass-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) cannot("cannot_write", pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed) {
  uint64_t hash = seed;
  for (std::byte byte : bytes) hash = (hash ^ static_cast<uint64_t>(byte)) * 1099511628211ULL;
  return hash;
}

uint64_t hash_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) cannot("cannot_read", path);
  std::vector<std::byte> chunk(1 << 18);
  uint64_t hash = hash_bytes({});
  while (file) {
    file.read(reinterpret_cast<char*>(chunk.data()), static_cast<std::streamsize>(chunk.size()));
    hash = hash_bytes(std::span(chunk).first(static_cast<size_t>(file.gcount())), hash);
  }
  if (!file.eof()) cannot("cannot_read", path);
  return hash;
}

}  // namespace onepass
