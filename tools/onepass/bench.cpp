// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench_start.h"
#include "driver/peak.h"
#include "inputs.h"
#include "report/explanation.h"
#include "verbs.h"

namespace onepass::tool {

namespace {

struct Variant {
  report::Costs costs;
  double flops = 0;
  Start start;
  std::unique_ptr<runtime::LoadedModel> model;
  std::unique_ptr<runtime::Session> session;
  std::vector<double> medians_ms;  ///< one per round
};

Variant make_variant(const BenchArguments& arguments, const driver::Network& network,
                     driver::CompileOptions options, driver::Fusion fusion, const std::string& name) {
  options.fusion = fusion;
  const driver::Program program = driver::plan_network(network, options);
  Variant variant{.costs = report::costs_of(name, program.plan),
                  .start = {},
                  .model = {},
                  .session = {},
                  .medians_ms = {}};
  for (const plan::Launch& launch : program.plan.launches) variant.flops += launch.estimate.flops;
  variant.model = load_timed(network, program, options, variant.start);
  variant.session = std::make_unique<runtime::Session>(*variant.model, arguments.threads);
  fill_inputs(*variant.model, *variant.session, arguments.inputs, {});
  time_start(*variant.model, *variant.session, arguments.threads, variant.start);
  return variant;
}

/// In turn, round by round; each round's figure is the median of a few runs.
void measure(std::vector<Variant>& variants, int rounds) {
  constexpr double k_round_ms = 30;
  for (Variant& variant : variants) time_runs(*variant.session, 2);
  for (int round = 0; round < rounds; ++round)
    for (Variant& variant : variants) {
      const double one_ms = variant.medians_ms.empty() ? k_round_ms : variant.medians_ms.back();
      const int count = std::clamp(static_cast<int>(k_round_ms / std::max(one_ms, 1e-3)), 3, 1000);
      variant.medians_ms.push_back(median(time_runs(*variant.session, count)));
    }
}

/// Median over the rounds of first / second.
double median_ratio(const Variant& first, const Variant& second) {
  std::vector<double> ratios;
  for (size_t i = 0; i < first.medians_ms.size(); ++i)
    ratios.push_back(first.medians_ms[i] / second.medians_ms[i]);
  return median(ratios);
}

void print_table(const BenchArguments& arguments, const std::vector<Variant>& variants, double peak_gflops) {
  const Variant& fused = variants.back();
  fmt::print("{} on {}, {} thread{}, {} rounds in turn\n", arguments.model, fused.model->record().target,
             arguments.threads, arguments.threads == 1 ? "" : "s", arguments.rounds);
  fmt::print("{:<12}{:>12}{:>16}{:>10}{:>14}{:>16}{:>14}\n", "", "median ms", "time / fused", "launches",
             "read MB", "written MB", "peak MB");
  for (const Variant& v : variants)
    fmt::print(
        "{:<12}{:>12.3f}{:>16.3f}{:>10}{:>14.2f}{:>16.2f}{:>14.2f}\n", v.costs.name, median(v.medians_ms),
        median_ratio(v, fused), v.costs.launches, static_cast<double>(v.costs.bytes_read) / 1e6,
        static_cast<double>(v.costs.bytes_written) / 1e6, static_cast<double>(v.costs.peak_bytes) / 1e6);
  const Start& start = fused.start;
  fmt::print(
      "fused: loaded in {:.2f} ms, first frame {:.3f} ms ({} page faults), after {} ms of pause {:.3f} ms, "
      "steady "
      "{:.3f} ms ({:.1f} page faults a frame)\n",
      start.load_ms, start.first_ms, start.first_faults, k_pause_ms, start.paused_ms,
      median(fused.medians_ms), start.steady_faults);
  fmt::print("arena: {} bytes planned, {} bytes of pages written by a frame\n", start.arena_bytes,
             start.touched_bytes);
  const double bound_ms = fused.flops / (peak_gflops * arguments.threads) / 1e6;
  fmt::print(
      "bound: {:.2f} GFLOP at the measured FMA peak of {:.1f} GF/s per thread = {:.3f} ms; fused reaches "
      "{:.0f} % of it\n",
      fused.flops / 1e9, peak_gflops, bound_ms, 100 * bound_ms / median(fused.medians_ms));
}

void print_json(const BenchArguments& arguments, const std::vector<Variant>& variants, double peak_gflops) {
  nlohmann::ordered_json json{{"model", arguments.model},
                              {"target", variants.back().model->record().target},
                              {"threads", arguments.threads},
                              {"rounds", arguments.rounds},
                              {"fma_peak_gflops", peak_gflops}};
  for (const Variant& v : variants)
    json["variants"].push_back({{"name", v.costs.name},
                                {"median_ms", median(v.medians_ms)},
                                {"time_over_fused", median_ratio(v, variants.back())},
                                {"launches", v.costs.launches},
                                {"bytes_read", v.costs.bytes_read},
                                {"bytes_written", v.costs.bytes_written},
                                {"peak_bytes", v.costs.peak_bytes},
                                {"load_ms", v.start.load_ms},
                                {"first_frame_ms", v.start.first_ms},
                                {"first_frame_page_faults", v.start.first_faults},
                                {"after_pause_ms", v.start.paused_ms},
                                {"steady_page_faults", v.start.steady_faults},
                                {"arena_bytes", v.start.arena_bytes},
                                {"arena_touched_bytes", v.start.touched_bytes}});
  fmt::print("{}\n", json.dump(2));
}

int bench(const BenchArguments& arguments) {
  if (arguments.serve) return bench_serve(arguments);
  if (arguments.groups) return bench_groups(arguments);
  const driver::CompileOptions options = to_options(arguments.compile);
  const driver::Network network = driver::read_network(arguments.model, options);
  tune_first(network, options, arguments.compile);
  std::vector<Variant> variants;
  variants.push_back(make_variant(arguments, network, options, driver::Fusion::off, "unfused"));
  variants.push_back(make_variant(arguments, network, options, driver::Fusion::folded, "BN-folded"));
  variants.push_back(make_variant(arguments, network, options, driver::Fusion::on, "fused"));
  measure(variants, arguments.rounds);
  const double peak_gflops = driver::measure_fma_peak_gflops(targets::find(options.target));
  arguments.json ? print_json(arguments, variants, peak_gflops)
                 : print_table(arguments, variants, peak_gflops);
  return k_ok;
}

}  // namespace

std::vector<double> time_runs(runtime::Session& session, int count) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times_ms;
  for (int i = 0; i < count; ++i) {
    const Clock::time_point start = Clock::now();
    session.run();
    times_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return times_ms;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void add_bench(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<BenchArguments>();
  CLI::App* verb =
      app.add_subcommand("bench", "time fused, folded and unfused in turn, from the same kernel generators");
  verb->add_option("model", arguments->model, "ONNX file")->required();
  verb->add_option("--input", arguments->inputs, "[NAME=]x.npy, [NAME=]picture or [NAME=]random, repeatable");
  verb->add_option("--threads", arguments->threads, "threads of a run")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  verb->add_option("--rounds", arguments->rounds, "rounds in turn")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  verb->add_flag("--groups", arguments->groups, "predicted and measured time of every launch");
  verb->add_flag("--serve", arguments->serve, "the line protocol for timing side by side");
  verb->add_flag("--json", arguments->json, "one JSON object");
  add_compile_options(*verb, arguments->compile);
  verb->callback([arguments, &exit_code] { exit_code = bench(*arguments); });
}

}  // namespace onepass::tool
