// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <thread>
#include <vector>

namespace onepass::runtime {

/// count - 1 worker threads beside the caller. Between tasks they spin for about 100 us and then sleep, so
/// that inferences in a row start at once and an idle process costs nothing.
class ThreadPool {
 public:
  /// Workers are bound to one core each when the process may use at least `threads` cores.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// An onepass_parallel_for; `pool` is a ThreadPool, `count` at most its threads. One caller at a time.
  static void parallel_for(void* pool, int count, void (*task)(void* context, int i), void* context);

 private:
  struct Job {
    int count = 0;
    void (*task)(void*, int) = nullptr;
    void* context = nullptr;
  };

  void work(int number);
  uint32_t wait_for_job(uint32_t seen);

  alignas(64) std::atomic<uint32_t> epoch_{0};  ///< one more for each job; the job is written before
  alignas(64) std::atomic<int> running_{0};     ///< workers that have not finished the job
  Job job_;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace onepass::runtime
