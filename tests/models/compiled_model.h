// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "driver/subject.h"
#include "verify/frames.h"

namespace onepass::test {

/// A model of the data folder, compiled for this machine.
struct CompiledModel {
  /// `name` stands under models/, without ".onnx".
  explicit CompiledModel(const std::string& name, std::map<std::string, ir::Shape> shapes = {});

  std::vector<ir::Tensor> run(const std::vector<ir::Tensor>& inputs) const;
  std::vector<ir::Tensor> reference(const std::vector<ir::Tensor>& inputs) const;
  const ir::Graph& graph() const { return network.model.graph; }
  const ir::Tensor& output(const std::vector<ir::Tensor>& outputs, const std::string& name) const;

  driver::CompileOptions options;
  driver::Network network;
  driver::Program program;
  runtime::LoadedModel model;
  verify::Subject subject;
};

/// tests/data/preprocessing/MODEL.json of models/.../MODEL.onnx.
verify::PreprocessByInput preprocessing_of(const std::string& name);

/// Index of the greatest element, the first of equals.
int64_t top_1(const ir::Tensor& scores);

}  // namespace onepass::test
