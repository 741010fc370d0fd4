// SPDX-License-Identifier: Apache-2.0
//
// write_api_models FOLDER: tiny.onnx (Conv, BatchNormalization, Relu with constants that are easy to follow)
// and training.onnx (the same in training mode, which is refused).
#include <cstdio>
#include <string>

#include "ir/parser.h"
#include "onnx/writer.h"
#include "passes/infer_shapes.h"

namespace {

// y = relu(2 * x + 1) on the first channel, relu(-x) on the second.
std::string text_of(const char* attributes) {
  return std::string(R"(graph tiny {
  x = input f32[1,1,4,4]
  w = constant f32[2,1,1,1] {1, -1}
  gamma = constant f32[2] {2, 1}
  beta = constant f32[2] {1, 0}
  mean = constant f32[2] {0, 0}
  var = constant f32[2] {1, 1}
  c = Conv(x, w) @"conv1"
  b = BatchNormalization(c, gamma, beta, mean, var) {)") +
         attributes + R"(} @"bn1"
  y = Relu(b) @"relu1"
  output y
})";
}

void write(const char* attributes, const std::string& path) {
  onepass::ir::Graph graph = onepass::ir::parse(text_of(attributes));
  onepass::passes::infer_shapes(graph);
  onepass::onnx::write_model(graph, path);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    write("epsilon=0.0", std::string(argv[1]) + "/tiny.onnx");
    write("epsilon=0.0, training_mode=1", std::string(argv[1]) + "/training.onnx");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
