// SPDX-License-Identifier: Apache-2.0
#include "compile_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/diagnostic.h"
#include "base/files.h"
#include "driver/machine_file.h"
#include "driver/object_cache.h"
#include "driver/tune.h"

namespace onepass::tool {

namespace {

[[noreturn]] void refuse(const std::string& text, const std::string& accepted) {
  throw Error(
      Diagnostic{.code = "bad_option", .message = "'" + text + "' is not understood", .accepted = accepted});
}

std::pair<std::string, ir::Shape> to_shape(const std::string& text) {
  const char* accepted = "--shape NAME=1x3x320x320";
  const size_t equals = text.rfind('=');
  if (equals == std::string::npos || equals == 0) refuse(text, accepted);
  ir::Shape shape;
  const char* at = text.data() + equals + 1;
  const char* end = text.data() + text.size();
  while (at < end) {
    int64_t extent = 0;
    const auto [next, problem] = std::from_chars(at, end, extent);
    if (problem != std::errc{} || extent < 1 || (next != end && *next != 'x')) refuse(text, accepted);
    shape.push_back(extent);
    at = next == end ? end : next + 1;
  }
  return {text.substr(0, equals), shape};
}

void check_pattern_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto named = [&](const auto& pattern) { return pattern.name == name; };
    const bool known = std::any_of(patterns::rewrites().begin(), patterns::rewrites().end(), named);
    if (!known) refuse(name, "a rewrite that `onepass catalogue` lists");
  }
}

/// What is wrong with the text of --tolerance; empty when nothing is.
std::string tolerance_problem(const std::string& text) {
  if (text == "exact") return "";
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = problem == std::errc{} && end == text.data() + text.size();
  return whole && value > 0 && value < 1 ? ""
                                         : "'" + text + "' is neither exact nor a number between 0 and 1";
}

driver::Fusion to_fusion(const std::string& text) {
  if (text == "off") return driver::Fusion::off;
  return text == "folded" ? driver::Fusion::folded : driver::Fusion::on;
}

/// The user's own cache helps where it can; a folder that was asked for has to be there.
std::string to_object_cache(const std::string& text) {
  if (text == "off") return "";
  if (text != "user") return text;
  const std::string folder = driver::user_cache_folder();
  if (folder.empty()) return "";
  try {
    return driver::ObjectCache(folder + "/objects").folder();
  } catch (const Error&) {
    return "";
  }
}

}  // namespace

void add_compile_options(CLI::App& app, CompileArguments& a) {
  const std::string group = "Compile options";
  app.add_option("--target", a.target, "CPU class: native, x86-64-v3, x86-64-v4")->group(group);
  app.add_option("--fusion", a.fusion, "on, folded (rewrites only) or off (one kernel per node)")
      ->check(CLI::IsMember({"on", "folded", "off"}))
      ->group(group);
  app.add_option("--residual", a.residual, "residual joins: proven (same bits, checked) or split")
      ->check(CLI::IsMember({"proven", "split"}))
      ->group(group);
  app.add_option("--shape", a.shapes, "binds symbolic dimensions: NAME=1x3x320x320")->group(group);
  app.add_flag("--overridable", a.overridable, "initializers that are graph inputs stay inputs")
      ->group(group);
  app.add_option("--bn", a.batch_norm,
                 "as-exported, or assume-eval: training-mode BatchNorm read as inference")
      ->check(CLI::IsMember({"as-exported", "assume-eval"}))
      ->group(group);
  app.add_option("--disable", a.disabled, "skips a rewrite of the catalogue")->group(group);
  app.add_option("--stop-after", a.stop_after, "stops after N rewrites")
      ->check(CLI::NonNegativeNumber)
      ->group(group);
  app.add_option("--tolerance", a.tolerance,
                 "error budget at the outputs (kept with a margin of two), or exact for direct sums only")
      ->check(tolerance_problem)
      ->group(group);
  app.add_option("--budget-frames", a.budget_frames,
                 "pictures or folders to take the error budget on, instead of seeded noise")
      ->group(group);
  app.add_option("--machine", a.machine,
                 "measured cost figures: a file of `onepass calibrate`, calibrated (this user's file for "
                 "this CPU), or default")
      ->group(group);
  CLI::Option* choices =
      app.add_option("--choices", a.choices, "kernels to take instead of the cost model's: a file of --tune")
          ->group(group);
  app.add_option("--tune", a.tune_seconds,
                 "SECONDS: measure the best kernels on this host first and write the winners to --choices")
      ->check(CLI::PositiveNumber)
      ->needs(choices)
      ->group(group);
  app.add_option("--cache", a.cache,
                 "folder of kernel objects compiled before: user (~/.cache/onepass), off, or a folder")
      ->group(group);
  app.add_option("--budget-range", a.budget_range, "of that noise: LOW HIGH")->expected(2)->group(group);
  app.add_option("--sensitivities", a.sensitivities, "a file that keeps what the error budget measured")
      ->group(group);
}

driver::CompileOptions to_options(const CompileArguments& arguments) {
  driver::CompileOptions options;
  options.target = arguments.target;
  options.fusion = to_fusion(arguments.fusion);
  options.residual =
      arguments.residual == "split" ? patterns::ResidualMode::split : patterns::ResidualMode::proven;
  for (const std::string& shape : arguments.shapes) options.read.input_shapes.insert(to_shape(shape));
  options.read.overridable = arguments.overridable;
  options.read.batch_norm = arguments.batch_norm == "assume-eval" ? onnx::BatchNormMode::assume_eval
                                                                  : onnx::BatchNormMode::as_exported;
  check_pattern_names(arguments.disabled);
  options.rewrite = {.stop_after = arguments.stop_after, .disabled = arguments.disabled};
  options.exact = arguments.tolerance == "exact";
  if (arguments.machine == "calibrated") {
    options.machine = driver::calibrated_machine_path();
  } else if (arguments.machine != "default" && arguments.machine != "off") {
    options.machine = arguments.machine;
  }
  options.object_cache = to_object_cache(arguments.cache);
  options.tolerance = to_tolerance(arguments);
  options.budget_frames = arguments.budget_frames;
  if (!arguments.budget_range.empty())
    options.budget_range = {arguments.budget_range.at(0), arguments.budget_range.at(1)};
  options.sensitivities = arguments.sensitivities;
  options.choices = arguments.choices;
  return options;
}

void tune_first(const driver::Network& network, const driver::CompileOptions& options,
                const CompileArguments& arguments) {
  if (arguments.tune_seconds <= 0) return;
  const driver::Tuning tuning = driver::tune(network, options, arguments.tune_seconds);
  write_file(options.choices, driver::choices_text(tuning.choices));
  size_t changed = 0;
  for (const driver::TuneRecord& record : tuning.records) {
    if (record.kept == record.model) continue;
    ++changed;
    fmt::print(stderr, "{}: {} instead of {}, {:.2f} of its time\n", record.name, to_string(record.kept),
               to_string(record.model), record.ratio);
  }
  fmt::print(stderr, "tuned {} kernels, {} changed, {} not measured for want of time; written to {}\n",
             tuning.records.size(), changed, tuning.left_out, options.choices);
}

double to_tolerance(const CompileArguments& arguments) {
  constexpr double k_default = 1e-5;
  return arguments.tolerance == "exact" ? k_default : std::stod(arguments.tolerance);
}

}  // namespace onepass::tool
