// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "compile_options.h"
#include "onnx/writer.h"
#include "patterns/catalogue.h"
#include "verbs.h"

namespace onepass::tool {

namespace {

struct Arguments {
  std::string model, output;
  CompileArguments compile;
};

int fold(const Arguments& arguments) {
  const driver::CompileOptions options = to_options(arguments.compile);
  const driver::Network network = driver::read_network(arguments.model, options);
  const driver::Folded folded = driver::fold_network(network, options);
  for (const Diagnostic& warning : folded.journal.warnings) fmt::print(stderr, "{}\n", to_string(warning));
  onnx::write_model(folded.graph, arguments.output);
  fmt::print("{}: {} nodes (was {}), {} rewrites\n", arguments.output, folded.graph.live_node_count(),
             network.model.graph.live_node_count(), folded.journal.applied.size());
  return 0;
}

}  // namespace

void add_fold(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("fold", "apply the rewrites and write plain ONNX, for any runtime");
  verb->add_option("model", arguments->model, "ONNX file")->required();
  verb->add_option("-o,--output", arguments->output, "ONNX file to write")->required();
  add_compile_options(*verb, arguments->compile);
  verb->callback([arguments, &exit_code] { exit_code = fold(*arguments); });
}

void add_catalogue(CLI::App& app, int& exit_code) {
  CLI::App* verb = app.add_subcommand("catalogue", "print every pattern with its conditions, as Markdown");
  verb->callback([&exit_code] {
    fmt::print("{}", patterns::catalogue_markdown());
    exit_code = 0;
  });
}

}  // namespace onepass::tool
