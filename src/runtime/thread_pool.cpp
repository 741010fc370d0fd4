// SPDX-License-Identifier: Apache-2.0
#include "runtime/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <chrono>

#include "base/diagnostic.h"

namespace onepass::runtime {

namespace {

constexpr auto k_spin_time = std::chrono::microseconds(100);

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Cores that this process may use, by number.
std::vector<int> allowed_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

void bind_to(std::thread& thread, int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  // A refusal costs speed alone.
  pthread_setaffinity_np(thread.native_handle(), sizeof set, &set);
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  require(threads >= 1, "a pool has at least one thread");
  const std::vector<int> cores = allowed_cores();
  for (int number = 1; number < threads; ++number) {
    workers_.emplace_back([this, number] { work(number); });
    // The caller stays unbound: whatever it starts later would inherit its mask.
    if (static_cast<size_t>(threads) <= cores.size())
      bind_to(workers_.back(), cores[static_cast<size_t>(number)]);
  }
}

ThreadPool::~ThreadPool() {
  stopping_ = true;
  epoch_.fetch_add(1, std::memory_order_release);
  epoch_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

uint32_t ThreadPool::wait_for_job(uint32_t seen) {
  const auto deadline = std::chrono::steady_clock::now() + k_spin_time;
  while (std::chrono::steady_clock::now() < deadline) {
    for (int i = 0; i < 64; ++i) {
      const uint32_t now = epoch_.load(std::memory_order_acquire);
      if (now != seen) return now;
      pause();
    }
  }
  epoch_.wait(seen, std::memory_order_acquire);
  return epoch_.load(std::memory_order_acquire);
}

void ThreadPool::work(int number) {
  uint32_t seen = 0;
  for (;;) {
    seen = wait_for_job(seen);
    if (stopping_) return;
    if (number < job_.count) job_.task(job_.context, number);
    if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
  }
}

void ThreadPool::parallel_for(void* pool, int count, void (*task)(void* context, int i), void* context) {
  auto& self = *static_cast<ThreadPool*>(pool);
  const int workers = static_cast<int>(self.workers_.size());
  require(count <= workers + 1, "a pool is asked for no more threads than it has");
  self.job_ = {.count = count, .task = task, .context = context};
  self.running_.store(workers, std::memory_order_relaxed);
  self.epoch_.fetch_add(1, std::memory_order_release);
  self.epoch_.notify_all();
  task(context, 0);
  for (int left = self.running_.load(std::memory_order_acquire); left > 0;
       left = self.running_.load(std::memory_order_acquire))
    self.running_.wait(left, std::memory_order_acquire);
}

}  // namespace onepass::runtime
