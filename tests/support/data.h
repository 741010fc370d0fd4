// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace onepass::test {

/// The folder of the models and pictures that tests may use and the repository does not hold: $ONEPASS_DATA,
/// or `shared` beside the source folder.
inline std::filesystem::path data_folder() {
  if (const char* folder = std::getenv("ONEPASS_DATA"); folder != nullptr && *folder != '\0') return folder;
  return std::filesystem::path(ONEPASS_SOURCE_DIR) / ".." / "shared";
}

inline std::string data_path(const std::string& name) {
  return (data_folder() / name).lexically_normal().string();
}

inline bool has_data(const std::string& name) {
  return std::filesystem::exists(data_path(name));
}

}  // namespace onepass::test

/// In a test's body: skips it, and says so, where the data folder lacks `name`.
#define ONEPASS_NEEDS_DATA(name)                            \
  if (!::onepass::test::has_data(name))                     \
  GTEST_SKIP() << "no " << ::onepass::test::data_path(name) \
               << "; set ONEPASS_DATA to the folder that holds it"
