// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace onepass::verify {

namespace {

/// Compares frames on several threads, each with memory of its own.
class Workers {
 public:
  Workers(const Checker& checker, const Frames& frames, const VerifyOptions& options)
      : checker_(checker),
        frames_(frames),
        options_(options),
        results_(static_cast<size_t>(frames.count())) {}

  std::vector<FrameResult> run() {
    std::vector<std::thread> threads;
    const int count = std::clamp(options_.threads, 1, std::max(1, frames_.count()));
    for (int t = 1; t < count; ++t) threads.emplace_back([this] { work(); });
    work();
    for (std::thread& thread : threads) thread.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(results_);
  }

 private:
  void work() {
    try {
      // Guard pages and an arena full of NaN: a kernel that reads what nobody wrote shows.
      runtime::Session session(*checker_.subject().model, 1, true);
      for (int frame = next_++; frame < frames_.count(); frame = next_++) {
        results_[static_cast<size_t>(frame)] = checker_.check(session, frames_.at(frame), options_.per_group);
        const std::lock_guard lock(mutex_);
        ++done_;
        if (options_.on_progress) options_.on_progress(done_, frames_.count());
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      next_ = frames_.count();
    }
  }

  const Checker& checker_;
  const Frames& frames_;
  const VerifyOptions& options_;
  std::vector<FrameResult> results_;
  std::atomic<int> next_ = 0;
  std::mutex mutex_;
  int done_ = 0;
  std::exception_ptr failure_;
};

void add(TensorReport& report, const Compared& compared, int frame, double tolerance) {
  if (report.most_elements == 0 || compared.errors.reference > report.worst.reference)
    report.worst_frame = frame;
  report.worst.reference = std::max(report.worst.reference, compared.errors.reference);
  report.worst.referee = std::max(report.worst.referee, compared.errors.referee);
  report.worst.own = std::max(report.worst.own, compared.errors.own);
  report.failing_frames += holds(compared.errors, tolerance) ? 0 : 1;
  report.exercised_frames += compared.elements > 0 ? 1 : 0;
  report.most_elements = std::max(report.most_elements, compared.elements);
}

void add_all(std::vector<TensorReport>& reports, const std::vector<Compared>& compared, int frame,
             double tolerance) {
  for (size_t i = 0; i < compared.size(); ++i) add(reports[i], compared[i], frame, tolerance);
}

bool all_hold(const std::vector<Compared>& compared, const std::vector<TensorReport>& reports,
              double tolerance) {
  for (size_t i = 0; i < compared.size(); ++i)
    if (!holds(compared[i].errors, tolerance) &&
        !holds_at_own_accuracy(compared[i].errors, reports[i].worst.own))
      return false;
  return true;
}

/// Every tensor of the frame holds, within the tolerance or at the network's own accuracy over all frames.
bool holds_at_own_accuracy(const FrameResult& result, const VerifyReport& report) {
  return result.broken.empty() && all_hold(result.outputs, report.outputs, report.tolerance) &&
         all_hold(result.inputs, report.selection_inputs, report.tolerance);
}

VerifyReport blank_report(const Subject& subject, const Frames& frames, const VerifyOptions& options) {
  const ir::Graph& graph = *subject.reference;
  VerifyReport report{.frames = frames.count(), .tolerance = options.tolerance};
  for (const ir::GraphOutput& output : graph.outputs())
    report.outputs.push_back({.name = output.name, .place = "output"});
  for (const Selection& selection : subject.selections) {
    const ir::Node& node = graph.node(selection.node);
    for (const Probe& input : selection.inputs)
      report.selection_inputs.push_back(
          {.name = graph.value(input.value).name,
           .place = fmt::format("enters '{}' ({})", node.name, ir::name(node.op))});
  }
  if (options.per_group)
    for (const Probe& group : subject.groups) report.groups.push_back({.name = group.name, .place = "group"});
  return report;
}

/// The first group whose result breaks parity on one frame, computed again with every group in view.
std::string diverging_group(const Checker& checker, const std::vector<ir::Tensor>& inputs) {
  runtime::Session session(*checker.subject().model, 1, true);
  const FrameResult result = checker.check(session, inputs, true);
  for (size_t g = 0; g < result.groups.size(); ++g)
    if (!holds(result.groups[g].errors, checker.tolerance())) return checker.subject().groups[g].name;
  return "";
}

}  // namespace

bool VerifyReport::exercised() const {
  return std::all_of(outputs.begin(), outputs.end(),
                     [](const TensorReport& o) { return o.exercised_frames > 0; });
}

VerifyReport run_verify(const Subject& subject, const Frames& frames, const VerifyOptions& options) {
  const Checker checker(subject, options.tolerance);
  VerifyReport report = blank_report(subject, frames, options);
  const std::vector<FrameResult> results = Workers(checker, frames, options).run();
  for (int frame = 0; frame < frames.count(); ++frame) {
    const FrameResult& result = results[static_cast<size_t>(frame)];
    add_all(report.outputs, result.outputs, frame, options.tolerance);
    add_all(report.selection_inputs, result.inputs, frame, options.tolerance);
    add_all(report.groups, result.groups, frame, options.tolerance);
  }
  for (int frame = 0; frame < frames.count(); ++frame) {
    const FrameResult& result = results[static_cast<size_t>(frame)];
    for (const std::string& tie : result.ties) report.ties.push_back({frame, tie});
    for (const std::string& broken : result.broken) report.broken.push_back({frame, broken});
    if (result.holds(options.tolerance)) continue;
    if (!options.strict && holds_at_own_accuracy(result, report)) {
      ++report.own_accuracy_frames;
      continue;
    }
    ++report.failing_frames;
    if (!report.first_failing_frame) report.first_failing_frame = frame;
  }
  if (report.first_failing_frame)
    report.first_diverging_group = diverging_group(checker, frames.at(*report.first_failing_frame));
  return report;
}

}  // namespace onepass::verify
