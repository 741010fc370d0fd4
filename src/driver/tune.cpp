// SPDX-License-Identifier: Apache-2.0
#include "driver/tune.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <new>

#include "base/diagnostic.h"
#include "driver/kernel_library.h"
#include "plan/cost.h"
#include "plan/join_proof.h"

namespace onepass::driver {

namespace {

using Clock = std::chrono::steady_clock;
using kernels::KernelChoice;

constexpr double k_clear_win = 0.95;      // of the model's choice: what a winner may take at most
constexpr size_t k_tiles_each = 3;        // of a family
constexpr double k_most_predicted = 1.8;  // of the best prediction: what is worth measuring
constexpr int k_first_rounds = 5;         // all candidates
constexpr int k_last_rounds = 13;         // those near the fastest
constexpr double k_near = 1.15;           // of the fastest
constexpr double k_warm_ns = 2e6;         // of a kernel before it is timed: wide units start slowly
constexpr double k_sample_ns = 2e5;
constexpr int64_t k_pool_bytes = 100 << 20;  // more than caches hold: weights come from memory
constexpr float k_value = 0.25F;             // a normal number, also as two bf16

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Memory of whole pages, filled with a number.
class Filled {
 public:
  explicit Filled(int64_t bytes) : bytes_(static_cast<size_t>(bytes) + 4096) {
    memory_ = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(memory_, bytes_, MADV_HUGEPAGE);
    std::fill_n(static_cast<float*>(memory_), bytes_ / sizeof(float), k_value);
  }
  ~Filled() { ::munmap(memory_, bytes_); }
  Filled(const Filled&) = delete;
  Filled& operator=(const Filled&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(memory_); }
  int64_t size_bytes() const { return static_cast<int64_t>(bytes_) - 4096; }

 private:
  size_t bytes_;
  void* memory_;
};

constexpr size_t k_weights = 1;  // the operand of a convolution kernel that holds them

int64_t weight_bytes(const loops::LoopNest& nest) {
  size_t operand = 0;
  for (const loops::Buffer& buffer : nest.buffers)
    if (!buffer.scratch && operand++ == k_weights) return buffer.elems * loops::element_bytes(buffer.scalar);
  throw InternalError("a convolution kernel reads weights");
}

/// A kernel with operands; the weights move on through a pool with every run.
class Subject {
 public:
  Subject(const loops::LoopNest& nest, KernelFunction function, const Filled& pool)
      : function_(function),
        slices_(nest.slices),
        scratch_(std::make_unique<Filled>(loops::scratch_bytes(nest) + 64)),
        pool_(&pool) {
    for (const loops::Buffer& buffer : nest.buffers) {
      if (buffer.scratch) continue;
      const int64_t bytes = buffer.elems * loops::element_bytes(buffer.scalar);
      if (operands_.size() == k_weights) {
        stride_bytes_ = (bytes + 63) / 64 * 64;
        copies_ = std::max<int64_t>(1, pool.size_bytes() / stride_bytes_);
        operands_.push_back(pool.data());
      } else {
        memories_.push_back(std::make_unique<Filled>(bytes));
        operands_.push_back(memories_.back()->data());
      }
    }
  }

  double run_ns() {
    turn_ = (turn_ + 1) % copies_;
    operands_[k_weights] = pool_->data() + turn_ * stride_bytes_;
    int32_t status = 0;
    const Call call{operands_.data(), scratch_->data(), nullptr, &status};
    const Clock::time_point start = Clock::now();
    function_(&call, 0, slices_);
    return ns_since(start);
  }

  /// One run, the mean of several short ones, on a core that is warm for it.
  double sample_ns() {
    for (double warm_ns = 0; warm_ns < k_warm_ns;) warm_ns += run_ns();
    double sum_ns = 0;
    int runs = 0;
    for (; sum_ns < k_sample_ns; ++runs) sum_ns += run_ns();
    return sum_ns / runs;
  }

 private:
  KernelFunction function_;
  int64_t slices_, copies_ = 1, stride_bytes_ = 0, turn_ = 0;
  std::vector<std::unique_ptr<Filled>> memories_;
  std::vector<void*> operands_;
  std::unique_ptr<Filled> scratch_;
  const Filled* pool_;
};

/// A distinct kernel of the plan.
struct Job {
  const plan::TileQuestion* question;
  const plan::Launch* first;
  double predicted_ns = 0;
};

/// Most expensive first.
std::vector<Job> jobs_of(const plan::Plan& plan) {
  std::vector<Job> jobs;
  std::vector<const plan::Launch*> launches;
  for (const plan::Launch& launch : plan.launches) {
    launches.push_back(&launch);
    for (const plan::Launch& member : launch.members) launches.push_back(&member);
  }
  for (const plan::Launch* launch : launches) {
    if (!launch->tile) continue;
    auto job = std::find_if(jobs.begin(), jobs.end(),
                            [&](const Job& j) { return j.question->key == launch->tile->key; });
    if (job == jobs.end()) job = jobs.insert(job, {&*launch->tile, launch});
    job->predicted_ns += launch->predicted_ns;
  }
  std::sort(jobs.begin(), jobs.end(), [](const Job& a, const Job& b) {
    return a.predicted_ns != b.predicted_ns ? a.predicted_ns > b.predicted_ns : a.first < b.first;
  });
  return jobs;
}

/// The model's choice, then the first tiles of each family that may be as fast and keep residual joins.
std::vector<KernelChoice> candidates_of(const Job& job, const Program& program) {
  const targets::Target& target = *program.plan.target;
  const plan::Group& group = program.plan.groups.at(job.first->group);
  const plan::Family family = plan::family_of(program.graph, group.nodes.front(), target);
  const auto predicted = [&](const KernelChoice& kernel) {
    return plan::predict_ns(kernels::estimate(kernel, target), target);
  };
  std::vector<KernelChoice> found = {job.question->kernel};
  const plan::TileChoice own = plan::tile_choice_of(found.front());
  const double most_ns = k_most_predicted * predicted(found.front());
  std::map<std::string, size_t> taken;
  for (KernelChoice& kernel :
       plan::legal_kernels(*plan::conv_spec_in(found.front()), target, job.question->policy)) {
    if (taken[kernels::family_name(kernel)]++ >= k_tiles_each || plan::tile_choice_of(kernel) == own)
      continue;
    if (predicted(kernel) > most_ns) continue;
    if (!plan::prove_kernel(program.graph, group, family, kernel, target).holds) continue;
    found.push_back(std::move(kernel));
  }
  return found;
}

/// Median times of the subjects `among`, each round through all of them, as ratios to subject 0.
std::vector<double> ratios(std::vector<Subject>& subjects, const std::vector<size_t>& among, int rounds) {
  std::vector<std::vector<double>> seen(among.size());
  for (int round = 0; round < rounds; ++round) {
    double model_ns = 1;
    for (size_t i = 0; i < among.size(); ++i) {
      const double ns = subjects[among[i]].sample_ns();
      if (i == 0) model_ns = ns;
      seen[i].push_back(ns / model_ns);
    }
  }
  std::vector<double> result;
  for (std::vector<double>& each : seen) result.push_back(median(std::move(each)));
  return result;
}

/// The candidate that wins clearly, else the first, with its ratio.
std::pair<size_t, double> winner(std::vector<Subject>& subjects) {
  std::vector<size_t> all(subjects.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const std::vector<double> first = ratios(subjects, all, k_first_rounds);
  const double fastest = *std::min_element(first.begin(), first.end());
  std::vector<size_t> near = {0};
  for (size_t i = 1; i < first.size(); ++i)
    if (first[i] <= k_near * fastest && first[i] < 1) near.push_back(i);
  if (near.size() == 1) return {0, 1};
  const std::vector<double> last = ratios(subjects, near, k_last_rounds);
  const auto best = static_cast<size_t>(std::min_element(last.begin(), last.end()) - last.begin());
  if (last[best] > k_clear_win) return {0, 1};
  return {near[best], last[best]};
}

TuneRecord measure(const Job& job, const Program& program) {
  const std::vector<KernelChoice> candidates = candidates_of(job, program);
  TuneRecord record{.name = job.first->name,
                    .model = plan::tile_choice_of(candidates.front()),
                    .kept = plan::tile_choice_of(candidates.front()),
                    .predicted_ns = job.predicted_ns,
                    .candidates = candidates.size()};
  if (candidates.size() == 1) return record;
  const targets::Target& target = *program.plan.target;
  std::vector<loops::LoopNest> nests;
  for (const KernelChoice& candidate : candidates)
    nests.push_back(kernels::build("kernel" + std::to_string(nests.size()), candidate, target));
  int64_t pool_bytes = k_pool_bytes;
  for (const loops::LoopNest& nest : nests) pool_bytes = std::max(pool_bytes, weight_bytes(nest));
  const KernelLibrary library(nests, target);
  const Filled pool(pool_bytes + 64);
  std::vector<Subject> subjects;
  subjects.reserve(nests.size());
  for (size_t i = 0; i < nests.size(); ++i) subjects.emplace_back(nests[i], library.function(i), pool);
  const auto [best, ratio] = winner(subjects);
  record.kept = plan::tile_choice_of(candidates[best]);
  record.ratio = ratio;
  return record;
}

}  // namespace

Tuning tune(const Network& network, const CompileOptions& options, double seconds) {
  CompileOptions plain = options;
  plain.choices.clear();
  const Program program = plan_network(network, plain);
  if (!targets::host_executes(*program.plan.target))
    throw Error({.code = "foreign_target",
                 .message = fmt::format("this host does not execute {}", program.plan.target->name),
                 .hint = "tune on the machine that will run the model, then name the file with --choices"});
  Tuning tuning;
  const Clock::time_point start = Clock::now();
  for (const Job& job : jobs_of(program.plan)) {
    if (ns_since(start) > seconds * 1e9) {
      ++tuning.left_out;
      continue;
    }
    tuning.records.push_back(measure(job, program));
    tuning.choices[job.question->key] = tuning.records.back().kept;
  }
  return tuning;
}

}  // namespace onepass::driver
