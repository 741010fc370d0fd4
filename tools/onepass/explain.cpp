// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "compile_options.h"
#include "driver/explain.h"
#include "report/worked_figures.h"
#include "verbs.h"

namespace onepass::tool {

namespace {

struct Arguments {
  std::string model;
  bool json = false, math = false;
  double bandwidth = 20;
  CompileArguments compile;
};

int explain(const Arguments& arguments) {
  if (arguments.math) fmt::print("{}\n", report::worked_figures(arguments.bandwidth));
  if (arguments.model.empty()) return 0;
  const driver::CompileOptions options = to_options(arguments.compile);
  const driver::Network network = driver::read_network(arguments.model, options);
  tune_first(network, options, arguments.compile);
  const report::Explanation explanation = driver::explain_network(network, options);
  fmt::print("{}\n", arguments.json ? report::to_json(explanation) : report::to_text(explanation));
  return 0;
}

}  // namespace

void add_explain(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb =
      app.add_subcommand("explain", "say what fused, what stayed split and why, in the model's node names");
  verb->add_option("model", arguments->model, "ONNX file");
  verb->add_flag("--json", arguments->json, "one JSON object");
  verb->add_flag("--math", arguments->math, "recompute the worked figures of what fusion saves");
  verb->add_option("--bandwidth", arguments->bandwidth, "GB/s that --math assumes")->capture_default_str();
  add_compile_options(*verb, arguments->compile);
  verb->callback([arguments, verb, &exit_code] {
    if (arguments->model.empty() && !arguments->math) throw CLI::RequiredError("model");
    (void)verb;
    exit_code = explain(*arguments);
  });
}

}  // namespace onepass::tool
