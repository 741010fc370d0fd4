// SPDX-License-Identifier: Apache-2.0
#include "models/compiled_model.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "ops/interpreter.h"
#include "support/data.h"

namespace onepass::test {

namespace {

std::string preprocessing_path(const std::string& name) {
  const std::string stem = std::filesystem::path(name).filename().string();
  return std::string(ONEPASS_SOURCE_DIR) + "/tests/data/preprocessing/" + stem + ".json";
}

/// A folder of this run, removed at its end.
struct Cache {
  std::string path =
      (std::filesystem::temp_directory_path() / ("onepass-test-models-" + std::to_string(getpid()))).string();
  ~Cache() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// The error budget of a model is taken once for all tests of a run, on noise in the range of its pictures.
driver::CompileOptions options_for(const std::string& name, std::map<std::string, ir::Shape> shapes) {
  static const Cache cache;
  driver::CompileOptions options;
  options.read.input_shapes = std::move(shapes);
  options.object_cache = cache.path;
  const std::string preprocessing = preprocessing_path(name);
  if (std::filesystem::exists(preprocessing)) options.preprocessing = preprocessing;
  return options;
}

}  // namespace

CompiledModel::CompiledModel(const std::string& name, std::map<std::string, ir::Shape> shapes)
    : options(options_for(name, std::move(shapes))),
      network(driver::read_network(data_path("models/" + name + ".onnx"), options)),
      program(driver::plan_network(network, options)),
      model(driver::load_program(network, program, options)),
      subject(driver::make_subject(network, program, model)) {}

std::vector<ir::Tensor> CompiledModel::run(const std::vector<ir::Tensor>& inputs) const {
  runtime::Session session(model, 1, true);
  return verify::run_fused(subject, session, inputs, false).outputs;
}

std::vector<ir::Tensor> CompiledModel::reference(const std::vector<ir::Tensor>& inputs) const {
  return ops::interpret(graph(), inputs);
}

const ir::Tensor& CompiledModel::output(const std::vector<ir::Tensor>& outputs,
                                        const std::string& name) const {
  for (size_t o = 0; o < outputs.size(); ++o)
    if (graph().outputs()[o].name == name) return outputs[o];
  throw InternalError("no output is called " + name);
}

verify::PreprocessByInput preprocessing_of(const std::string& name) {
  return verify::read_preprocessing(preprocessing_path(name));
}

int64_t top_1(const ir::Tensor& scores) {
  const auto values = scores.data<float>();
  return std::max_element(values.begin(), values.end()) - values.begin();
}

}  // namespace onepass::test
