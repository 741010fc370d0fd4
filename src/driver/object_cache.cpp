// SPDX-License-Identifier: Apache-2.0
#include "driver/object_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/diagnostic.h"
#include "base/files.h"

namespace onepass::driver {

namespace {

constexpr uint64_t k_magic = 0x316a626f73706e6fULL;  // "onpsobj1"
constexpr const char* k_suffix = ".object";
constexpr uint64_t k_most_entry_bytes = 64 << 20;

/// The beginning of an entry; key and object follow.
struct Header {
  uint64_t magic = k_magic;
  uint64_t key_bytes = 0, object_bytes = 0;
  uint64_t checksum = 0;  ///< of key and object
};

uint64_t checksum(std::string_view key, std::span<const std::byte> object) {
  return hash_bytes(object, hash_bytes(std::as_bytes(std::span(key))));
}

std::vector<std::byte> contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  if (size < 0 || static_cast<uint64_t>(size) > k_most_entry_bytes) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(size));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), size)) return {};
  return bytes;
}

std::optional<emit::Object> parse(std::span<const std::byte> entry, std::string_view key) {
  Header header;
  if (entry.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, entry.data(), sizeof header);
  const std::span<const std::byte> rest = entry.subspan(sizeof header);
  if (header.magic != k_magic || header.key_bytes != key.size() || rest.size() < key.size() ||
      header.object_bytes != rest.size() - key.size())
    return std::nullopt;
  const std::span<const std::byte> object = rest.subspan(key.size());
  if (std::memcmp(rest.data(), key.data(), key.size()) != 0 || header.checksum != checksum(key, object))
    return std::nullopt;
  return emit::Object(object.begin(), object.end());
}

bool write_all(int file, const void* data, size_t bytes) {
  const char* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(file, at, bytes);
    if (written <= 0) return false;
    at += written;
    bytes -= static_cast<size_t>(written);
  }
  return true;
}

/// A file of the folder that counts: an entry, or what a process left unfinished.
struct Entry {
  std::filesystem::path path;
  std::filesystem::file_time_type used;
  int64_t bytes = 0;
};

std::vector<Entry> entries_of(const std::string& folder) {
  std::vector<Entry> entries;
  std::error_code failure;
  for (std::filesystem::directory_iterator at(folder, failure), end; !failure && at != end;
       at.increment(failure)) {
    if (at->path().filename().string().find(k_suffix) == std::string::npos) continue;
    std::error_code gone;
    Entry entry{.path = at->path(), .used = at->last_write_time(gone)};
    entry.bytes = static_cast<int64_t>(at->file_size(gone));
    if (!gone) entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

ObjectCache::ObjectCache(std::string folder, int64_t most_bytes)
    : folder_(std::move(folder)), most_bytes_(most_bytes) {
  std::error_code failure;
  const bool fresh = std::filesystem::create_directories(folder_, failure);
  if (fresh && !failure) std::filesystem::permissions(folder_, std::filesystem::perms::owner_all, failure);
  if (failure || !std::filesystem::is_directory(folder_) ||
      ::access(folder_.c_str(), R_OK | W_OK | X_OK) != 0)
    throw Error({.code = "bad_cache",
                 .message = fmt::format("'{}' is no folder that can be read and written", folder_),
                 .accepted = "a folder for kernel objects, or off"});
}

std::string ObjectCache::path_of(std::string_view key) const {
  constexpr uint64_t k_second_seed = 0x9e3779b97f4a7c15ULL;
  const std::span<const std::byte> bytes = std::as_bytes(std::span(key));
  return fmt::format("{}/{:016x}{:016x}{}", folder_, hash_bytes(bytes), hash_bytes(bytes, k_second_seed),
                     k_suffix);
}

std::optional<emit::Object> ObjectCache::find(std::string_view key) const {
  const std::string path = path_of(key);
  std::optional<emit::Object> object = parse(contents(path), key);
  if (object) ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
  return object;
}

void ObjectCache::keep(std::string_view key, const emit::Object& object) const {
  const Header header{
      .key_bytes = key.size(), .object_bytes = object.size(), .checksum = checksum(key, object)};
  const std::string path = path_of(key);
  std::string unfinished = path + ".XXXXXX";
  const int file = ::mkostemp(unfinished.data(), O_CLOEXEC);
  if (file < 0) return;
  const bool written = write_all(file, &header, sizeof header) && write_all(file, key.data(), key.size()) &&
                       write_all(file, object.data(), object.size());
  const bool closed = ::close(file) == 0;
  if (!written || !closed || std::rename(unfinished.c_str(), path.c_str()) != 0) ::unlink(unfinished.c_str());
}

void ObjectCache::trim() const {
  std::vector<Entry> entries = entries_of(folder_);
  int64_t bytes = 0;
  for (const Entry& entry : entries) bytes += entry.bytes;
  if (bytes <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  for (const Entry& entry : entries) {
    if (bytes <= most_bytes_) return;
    std::error_code gone;
    std::filesystem::remove(entry.path, gone);  // another process may have been first
    bytes -= entry.bytes;
  }
}

emit::ObjectStore ObjectCache::store() const {
  return {.find = [this](std::string_view key) { return find(key); },
          .keep = [this](std::string_view key, const emit::Object& object) { keep(key, object); }};
}

std::string user_cache_folder() {
  std::vector<char> text(1 << 14);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found) != 0 || found == nullptr) return "";
  const std::string home = found->pw_dir;
  if (home.empty() || ::access(home.c_str(), W_OK | X_OK) != 0) return "";
  return home + "/.cache/onepass";
}

}  // namespace onepass::driver
