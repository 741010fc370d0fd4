// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "compile_options.h"
#include "inputs.h"
#include "verbs.h"
#include "verify/npy.h"

namespace onepass::tool {

namespace {

struct Arguments {
  std::string model, output;
  std::vector<std::string> inputs;
  std::string image;
  int threads = 1;
  CompileArguments compile;
};

runtime::LoadedModel load(const Arguments& arguments) {
  if (arguments.model.ends_with(".so")) return runtime::LoadedModel(arguments.model);
  const driver::CompileOptions options = to_options(arguments.compile);
  const driver::Network network = driver::read_network(arguments.model, options);
  tune_first(network, options, arguments.compile);
  return driver::load_program(network, driver::plan_network(network, options), options);
}

verify::PreprocessByInput preprocessing(const Arguments& arguments, const runtime::LoadedModel& model) {
  if (!arguments.image.empty()) {
    verify::PreprocessByInput by_input;
    for (const artefact::TensorRecord& input : model.inputs())
      by_input[input.name] = verify::parse_preprocess(arguments.image);
    return by_input;
  }
  const std::string sidecar = verify::sidecar_path(arguments.model);
  return std::filesystem::exists(sidecar) ? verify::read_preprocessing(sidecar) : verify::PreprocessByInput{};
}

std::string file_name(std::string name) {
  std::replace(name.begin(), name.end(), '/', '_');
  return name + ".npy";
}

/// Extents, range and the first values of an output.
std::string summary(const NamedTensor& output) {
  constexpr size_t k_shown = 8;
  const std::vector<double> values = output.tensor.to_doubles();
  std::string text = fmt::format("{}: {}", output.name, ir::to_string(output.tensor.type()));
  if (values.empty()) return text;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  text += fmt::format(" in [{:.6g}, {:.6g}], largest at {}:", *low, *high, high - values.begin());
  for (size_t i = 0; i < std::min(values.size(), k_shown); ++i) text += fmt::format(" {:.6g}", values[i]);
  return text + (values.size() > k_shown ? " ..." : "");
}

int run_model(const Arguments& arguments) {
  const runtime::LoadedModel model = load(arguments);
  runtime::Session session(model, arguments.threads);
  fill_inputs(model, session, arguments.inputs, preprocessing(arguments, model));
  session.run();
  for (const NamedTensor& output : outputs_of(model, session)) {
    fmt::print("{}\n", summary(output));
    if (arguments.output.empty()) continue;
    std::filesystem::create_directories(arguments.output);
    verify::write_npy((std::filesystem::path(arguments.output) / file_name(output.name)).string(),
                      output.tensor);
  }
  return k_ok;
}

}  // namespace

void add_run(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("run", "run MODEL (.onnx, compiled in memory, or a compiled .so) once");
  verb->add_option("model", arguments->model, "ONNX file or compiled model")->required();
  verb->add_option("--input", arguments->inputs, "[NAME=]picture, [NAME=]x.npy or [NAME=]random, repeatable");
  verb->add_option("--output", arguments->output, "folder for OUTPUT_NAME.npy ('/' in names becomes '_')");
  verb->add_option(
      "--image", arguments->image,
      "how pictures become tensors: mean=..,scale=..,order=rgb|bgr|gray,resize=stretch|letterbox");
  verb->add_option("--threads", arguments->threads, "threads of the run")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  add_compile_options(*verb, arguments->compile);
  verb->callback([arguments, &exit_code] { exit_code = run_model(*arguments); });
}

}  // namespace onepass::tool
