// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace onepass::budget {

/// Calls work(0) to work(count - 1), each once, on up to `threads` threads. Rethrows what one of them throws.
template <class Work>
void in_parallel(int count, int threads, const Work& work) {
  std::atomic<int> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (int i = next++; i < count; i = next++) work(i);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
      next = count;
    }
  };
  std::vector<std::thread> others;
  for (int t = 1; t < std::min(threads, count); ++t) others.emplace_back(run);
  run();
  for (std::thread& other : others) other.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace onepass::budget
