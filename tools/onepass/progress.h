// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace onepass::tool {

/// A bar on stderr where that is a terminal; nothing in a pipe.
class Progress {
 public:
  explicit Progress(std::string what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(int done, int total);

 private:
  std::string what_;
  bool terminal_ = false;
  bool shown_ = false;
};

}  // namespace onepass::tool
