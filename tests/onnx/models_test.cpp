// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "ir/verifier.h"
#include "onnx/model_builder.h"
#include "onnx/writer.h"
#include "support/data.h"

namespace onepass::onnx::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> all_models() {
  std::vector<std::string> paths;
  for (const auto& entry : fs::recursive_directory_iterator(onepass::test::data_path("models")))
    if (entry.path().extension() == ".onnx") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}

Model read(const std::string& path) {
  ReadOptions options;
  if (path.ends_with("yunet_n_dynamic.onnx")) options.input_shapes["input"] = {1, 3, 320, 320};
  return read_model(path, options);
}

TEST(Models, EveryModelIsReadWrittenAndReadAgain) {
  ONEPASS_NEEDS_DATA("models");
  const std::string copy =
      (fs::temp_directory_path() / ("onepass_models_" + std::to_string(getpid()) + ".onnx")).string();
  const auto paths = all_models();
  EXPECT_GE(paths.size(), 20u);
  for (const std::string& path : paths) {
    SCOPED_TRACE(path);
    const Model model = read(path);
    ir::verify(model.graph);
    EXPECT_EQ(model.graph.inputs().size(), 1u);
    write_model(model.graph, copy);
    const Model again = read_model(copy);
    ir::verify(again.graph);
    EXPECT_EQ(ops_of(again.graph), ops_of(model.graph));
    ASSERT_EQ(again.graph.outputs().size(), model.graph.outputs().size());
    for (size_t i = 0; i < model.graph.outputs().size(); ++i)
      EXPECT_EQ(again.graph.outputs()[i].name, model.graph.outputs()[i].name);
  }
  fs::remove(copy);
}

TEST(Models, ADynamicDetectorAsksForItsShape) {
  ONEPASS_NEEDS_DATA("models/yunet_n_dynamic.onnx");
  try {
    read_model(onepass::test::data_path("models/yunet_n_dynamic.onnx"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "unbound_dimension");
    EXPECT_NE(error.diagnostics().front().hint.find("--shape input=1x3x<height>x<width>"), std::string::npos);
  }
}

}  // namespace
}  // namespace onepass::onnx::test
