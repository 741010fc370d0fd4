// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench.h"
#include "driver/peak.h"
#include "inputs.h"
#include "verbs.h"

namespace onepass::tool {

namespace {

/// Median microseconds of each launch, in the order of a real run.
std::vector<double> time_launches(const runtime::LoadedModel& model, runtime::Session& session, int rounds) {
  using Clock = std::chrono::steady_clock;
  const int count = static_cast<int>(model.launches().size());
  std::vector<std::vector<double>> times_us(count);
  session.run();
  for (int round = 0; round < rounds; ++round)
    for (int launch = 0; launch < count; ++launch) {
      const Clock::time_point start = Clock::now();
      session.run_launches(launch, launch + 1);
      times_us[launch].push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
  std::vector<double> medians;
  for (std::vector<double>& times : times_us) medians.push_back(median(std::move(times)));
  return medians;
}

/// |predicted - measured| / measured over launches that are long enough to time.
double median_error(const plan::Plan& plan, const std::vector<double>& measured_us) {
  constexpr double k_least_us = 5;
  std::vector<double> errors;
  for (size_t i = 0; i < measured_us.size(); ++i)
    if (measured_us[i] >= k_least_us)
      errors.push_back(std::abs(plan.launches[i].predicted_ns / 1e3 - measured_us[i]) / measured_us[i]);
  return median(std::move(errors));
}

nlohmann::ordered_json json_of(const plan::Launch& launch, double measured_us) {
  return {{"name", launch.name},
          {"family", launch.family},
          {"predicted_us", launch.predicted_ns / 1e3},
          {"measured_us", measured_us},
          {"gflops", launch.estimate.flops / measured_us / 1e3},
          {"executed_flops", launch.estimate.executed_flops},
          {"pointwise_flops", launch.estimate.pointwise_flops},
          {"efficiency", launch.estimate.efficiency},
          {"bytes_read", launch.estimate.bytes_read},
          {"bytes_written", launch.estimate.bytes_written},
          {"weight_bytes", launch.estimate.weight_bytes},
          {"l2_bytes", launch.estimate.l2_bytes}};
}

}  // namespace

int bench_groups(const BenchArguments& arguments) {
  const driver::CompileOptions options = to_options(arguments.compile);
  const driver::Network network = driver::read_network(arguments.model, options);
  tune_first(network, options, arguments.compile);
  const driver::Program program = driver::plan_network(network, options);
  const runtime::LoadedModel model = driver::load_program(network, program, options);
  runtime::Session session(model, arguments.threads);
  fill_inputs(model, session, arguments.inputs, {});
  const std::vector<double> measured_us = time_launches(model, session, arguments.rounds);
  const double peak_gflops = driver::measure_fma_peak_gflops(*program.plan.target);
  const double error = median_error(program.plan, measured_us);
  if (arguments.json) {
    nlohmann::ordered_json json{
        {"model", arguments.model}, {"fma_peak_gflops", peak_gflops}, {"median_error", error}};
    for (size_t i = 0; i < measured_us.size(); ++i)
      json["launches"].push_back(json_of(program.plan.launches[i], measured_us[i]));
    fmt::print("{}\n", json.dump(2));
    return k_ok;
  }
  fmt::print("{:>12}{:>12}{:>10}{:>8}  {:<15}{}\n", "predicted us", "measured us", "GF/s", "% peak", "family",
             "nodes");
  for (size_t i = 0; i < measured_us.size(); ++i) {
    const plan::Launch& launch = program.plan.launches[i];
    const double gflops = launch.estimate.flops / measured_us[i] / 1e3;
    fmt::print("{:>12.1f}{:>12.1f}{:>10.1f}{:>8.0f}  {:<15}{}\n", launch.predicted_ns / 1e3, measured_us[i],
               gflops, 100 * gflops / peak_gflops / arguments.threads, launch.family, launch.name);
  }
  fmt::print(
      "FMA peak {:.1f} GF/s per thread, measured now; median |predicted - measured| / measured: {:.0f} % "
      "(launches of 5 us and more)\n",
      peak_gflops, 100 * error);
  return k_ok;
}

}  // namespace onepass::tool
