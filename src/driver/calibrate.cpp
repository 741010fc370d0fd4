// SPDX-License-Identifier: Apache-2.0
#include "driver/calibrate.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <new>
#include <thread>

#include "base/diagnostic.h"
#include "driver/calibrate_nests.h"
#include "driver/kernel_library.h"
#include "driver/machine_file.h"
#include "driver/peak.h"
#include "ir/parser.h"

namespace onepass::driver {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t k_memory_bytes = 256 << 20;
constexpr double k_burst_ms = 30;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

/// The shortest of repeated calls, for about `milliseconds` and at least three times.
template <class Call>
double best_ns(double milliseconds, const Call& call) {
  double best = 1e300;
  const Clock::time_point begin = Clock::now();
  for (int round = 0; round < 3 || ns_since(begin) < milliseconds * 1e6; ++round) {
    const Clock::time_point start = Clock::now();
    call();
    best = std::min(best, ns_since(start));
  }
  return best;
}

/// Pages that are there already, zero.
class Memory {
 public:
  Memory()
      : bytes_(::mmap(nullptr, k_memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (bytes_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(bytes_, k_memory_bytes, MADV_HUGEPAGE);  // fewer faults; measured either way
    std::memset(bytes_, 0, k_memory_bytes);
  }
  ~Memory() { ::munmap(bytes_, k_memory_bytes); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  void* bytes() const { return bytes_; }

 private:
  void* bytes_;
};

int core_count() {
  cpu_set_t allowed;
  return ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : 1;
}

int64_t cache_bytes(int name, int64_t nominal) {
  const long bytes = ::sysconf(name);
  return bytes > 0 ? bytes : nominal;
}

/// Read bandwidth of one class.
class Reader {
 public:
  Reader(const targets::Target& target, const Memory& memory)
      : library_({read_nest(target, k_memory_bytes), read_again_nest(target, k_repeats)}, target),
        memory_(memory) {}

  double l1_bytes_per_ns() const {
    const double ns = best_ns(k_burst_ms / 3, [&] { call(1, 0, 1); });
    return static_cast<double>(k_read_slice_bytes * k_repeats) / ns;
  }
  /// A working set of `bytes`, again and again.
  double bytes_per_ns(int64_t bytes) const {
    const int64_t slices = std::max<int64_t>(1, bytes / k_read_slice_bytes);
    const int64_t times = std::max<int64_t>(1, (4 << 20) / bytes);
    const double ns = best_ns(k_burst_ms, [&] {
      for (int64_t i = 0; i < times; ++i) call(0, 0, slices);
    });
    return static_cast<double>(slices * k_read_slice_bytes * times) / ns;
  }
  /// Every core its own part of memory, at once.
  double all_cores_bytes_per_ns(int cores) const {
    constexpr int64_t k_slices = k_memory_bytes / k_read_slice_bytes;
    const double ns = best_ns(k_burst_ms, [&] {
      std::vector<std::jthread> helpers;
      for (int core = 1; core < cores; ++core)
        helpers.emplace_back([&, core] { call(0, k_slices * core / cores, k_slices * (core + 1) / cores); });
      call(0, 0, k_slices / cores);
    });
    return static_cast<double>(k_memory_bytes) / ns;
  }

 private:
  static constexpr int64_t k_repeats = 64;

  void call(size_t nest, int64_t begin, int64_t end) const {
    alignas(64) float sums[256];
    void* operands[] = {memory_.bytes(), sums};
    const Call call{operands, nullptr, nullptr, nullptr};
    library_.function(nest)(&call, begin, end);
  }

  KernelLibrary library_;
  const Memory& memory_;
};

/// The clock while fma code runs: a chain of dependent multiplications, three cycles each on every core that
/// executes one of the classes, right behind a burst of it. (Additions of constants are free on some.)
double measure_clock_ghz(const targets::Target& target) {
  constexpr int64_t k_products = 50000;
  constexpr double k_latency_cycles = 3;
  double best_ghz = 0;
  for (int round = 0; round < 3; ++round) {
    measure_fma_peak_gflops(target, 2);
    const double ns = best_ns(0, [] {
      int64_t value = 1, factor = 3;
      asm volatile("" : "+r"(factor));
      for (int64_t i = 0; i < k_products; i += 10)
        for (int j = 0; j < 10; ++j) {
          asm volatile("" : "+r"(value));  // or the products would be taken together
          value = static_cast<int64_t>(static_cast<uint64_t>(value) * static_cast<uint64_t>(factor));
        }
      asm volatile("" : : "r"(value));
    });
    best_ghz = std::max(best_ghz, k_latency_cycles * static_cast<double>(k_products) / ns);
  }
  return best_ghz;
}

double measure_tile_products_per_ns(const targets::Target& target) {
  constexpr int64_t k_steps = 1000;
  const KernelLibrary library({tile_nest(k_steps)}, target);
  std::vector<float> storage(8 * loops::k_tile_rows * loops::k_tile_words + 16);
  void* aligned = storage.data();
  size_t space = storage.size() * sizeof(float);
  std::align(64, 1, aligned, space);
  auto* words = static_cast<float*>(aligned);
  void* operands[] = {words, words + 4 * loops::k_tile_rows * loops::k_tile_words};
  const Call call{operands, nullptr, nullptr, nullptr};
  return 4.0 * k_steps / best_ns(k_burst_ms, [&] { library.function(0)(&call, 0, 1); });
}

/// A network of launches that do next to nothing.
class Launches {
 public:
  explicit Launches(const targets::Target& target)
      : network_(network_of(ir::parse(text()))),
        options_{.target = target.name, .fusion = Fusion::off, .exact = true},
        program_(plan_network(network_, options_)),
        model_(load_program(network_, program_, options_)) {}

  double ns_each(int threads) const {
    runtime::Session session(model_, threads);
    std::fill_n(static_cast<float*>(session.input(0)), 16, 1.0F);
    return best_ns(k_burst_ms / 3, [&] { session.run(); }) /
           static_cast<double>(program_.plan.launches.size());
  }

 private:
  static std::string text() {
    constexpr int k_count = 32;
    std::string text = "graph launches {\n  v0 = input f32[1,16]\n";
    for (int i = 0; i < k_count; ++i)
      text +=
          "  v" + std::to_string(i + 1) + (i % 2 == 0 ? " = Neg(v" : " = Exp(v") + std::to_string(i) + ")\n";
    return text + "  output v" + std::to_string(k_count) + "\n}\n";
  }

  Network network_;
  CompileOptions options_;
  Program program_;
  runtime::LoadedModel model_;
};

void measure_compute(targets::Figures& figures, const targets::Target& target) {
  figures.fma_gflops = measure_fma_peak_gflops(target, k_burst_ms);
  figures.clock_ghz = measure_clock_ghz(target);
  if (target.tile_products_per_ns > 0) figures.tile_products_per_ns = measure_tile_products_per_ns(target);
}

void measure_reads(targets::Figures& figures, const targets::Target& target, const Memory& memory,
                   int cores) {
  const Reader reader(target, memory);
  figures.l1_bytes = cache_bytes(_SC_LEVEL1_DCACHE_SIZE, target.l1_bytes);
  figures.l2_bytes = cache_bytes(_SC_LEVEL2_CACHE_SIZE, target.l2_bytes);
  figures.l1_bytes_per_ns = reader.l1_bytes_per_ns();
  figures.l2_bytes_per_ns = reader.bytes_per_ns(figures.l2_bytes / 2);
  figures.l3_bytes_per_ns = reader.bytes_per_ns(4 * figures.l2_bytes);
  figures.memory_bytes_per_ns = reader.bytes_per_ns(k_memory_bytes);
  figures.all_cores_memory_bytes_per_ns = reader.all_cores_bytes_per_ns(cores);
  // What other cores and guests leave of L3 is not what the system reports.
  const double middle = (figures.l3_bytes_per_ns + figures.memory_bytes_per_ns) / 2;
  figures.l3_bytes = 4 * figures.l2_bytes;
  for (int64_t bytes = 8 * figures.l2_bytes; bytes <= k_memory_bytes / 2; bytes *= 2) {
    if (reader.bytes_per_ns(bytes) < middle) break;
    figures.l3_bytes = bytes;
  }
}

void measure_launches(targets::Figures& figures, const targets::Target& target, int cores) {
  const Launches launches(target);
  figures.launch_ns = launches.ns_each(1);
  if (cores > 1) figures.barrier_ns = std::max(0.0, launches.ns_each(cores) - figures.launch_ns);
}

}  // namespace

targets::Machine calibrate() {
  targets::Machine machine{.cpu = host_cpu(), .cores = core_count(), .classes = {}};
  const Memory memory;
  for (const targets::Target& target : targets::all()) {
    if (!targets::host_executes(target)) continue;
    targets::Figures figures{.target = target.name};
    measure_compute(figures, target);
    measure_reads(figures, target, memory, machine.cores);
    measure_launches(figures, target, machine.cores);
    machine.classes.push_back(std::move(figures));
  }
  return machine;
}

}  // namespace onepass::driver
