// SPDX-License-Identifier: Apache-2.0
#include "models/compiled_model.h"

#include <algorithm>
#include <filesystem>

#include "ops/interpreter.h"
#include "support/data.h"

namespace onepass::test {

namespace {

driver::CompileOptions options_for(std::map<std::string, ir::Shape> shapes) {
  driver::CompileOptions options;
  options.read.input_shapes = std::move(shapes);
  return options;
}

}  // namespace

CompiledModel::CompiledModel(const std::string& name, std::map<std::string, ir::Shape> shapes)
    : network(driver::read_network(data_path("models/" + name + ".onnx"), options_for(std::move(shapes)))),
      program(driver::plan_network(network, {})),
      model(driver::load_program(network, program, {})),
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
  const std::string stem = std::filesystem::path(name + ".onnx").stem().string();
  return verify::read_preprocessing(std::string(ONEPASS_SOURCE_DIR) + "/tests/data/preprocessing/" + stem +
                                    ".json");
}

int64_t top_1(const ir::Tensor& scores) {
  const auto values = scores.data<float>();
  return std::max_element(values.begin(), values.end()) - values.begin();
}

}  // namespace onepass::test
