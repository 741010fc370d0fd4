// SPDX-License-Identifier: Apache-2.0
#include "compile_options.h"

#include <algorithm>
#include <charconv>

#include "base/diagnostic.h"

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

driver::Fusion to_fusion(const std::string& text) {
  if (text == "off") return driver::Fusion::off;
  return text == "folded" ? driver::Fusion::folded : driver::Fusion::on;
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
  app.add_option("--tolerance", a.tolerance, "error budget, or exact for direct kernels only")
      ->check([](const std::string& text) {
        if (text == "exact") return std::string();
        return CLI::PositiveNumber(text);
      })
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
  return options;
}

double to_tolerance(const CompileArguments& arguments) {
  constexpr double k_default = 1e-5;
  return arguments.tolerance == "exact" ? k_default : std::stod(arguments.tolerance);
}

}  // namespace onepass::tool
