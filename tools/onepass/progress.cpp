// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace onepass::tool {

Progress::Progress(std::string what) : what_(std::move(what)), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::show(int done, int total) {
  constexpr int k_width = 30;
  if (!terminal_ || total <= 0) return;
  shown_ = true;
  const int filled = k_width * done / total;
  fmt::print(stderr, "\r{} [{:#>{}}{:.>{}}] {}/{}", what_, "", filled, "", k_width - filled, done, total);
  std::fflush(stderr);
}

}  // namespace onepass::tool
