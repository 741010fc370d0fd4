// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "emit/emit.h"

namespace onepass::driver {

constexpr int64_t k_object_cache_bytes = 256LL << 20;

/// Kernel objects in a folder, each entry a file with the key that it was compiled from, the object and a
/// checksum. Processes and threads may share a folder: entries appear by rename, and one that is damaged, cut
/// short or of another key is as good as none. Entries are code that will run: the folder has to be one that
/// nobody else writes.
class ObjectCache {
 public:
  /// Makes the folder. Throws Error("bad_cache") when that cannot be done or it cannot be written.
  explicit ObjectCache(std::string folder, int64_t most_bytes = k_object_cache_bytes);

  std::optional<emit::Object> find(std::string_view key) const;
  /// What cannot be written (a full disk) is not kept.
  void keep(std::string_view key, const emit::Object& object) const;
  /// Deletes the entries that were used longest ago until the others fit.
  void trim() const;

  emit::ObjectStore store() const;  ///< refers to this cache
  const std::string& folder() const { return folder_; }
  std::string path_of(std::string_view key) const;

 private:
  std::string folder_;
  int64_t most_bytes_;
};

/// ~/.cache/onepass of the user that runs this process, by the system's user table and no environment
/// variable. Empty when the user has no home folder that can be written.
std::string user_cache_folder();

}  // namespace onepass::driver
