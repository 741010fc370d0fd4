// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "onepass/onepass.hpp"

namespace onepass::api {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string path(const std::string& name) {
  return std::string(ONEPASS_API_MODELS) + "/" + name;
}

/// The error that `call` ends with.
template <class Call>
Error error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing is thrown";
  return Error(ONEPASS_DONE, {{}}, "");
}

TEST(Api, RunsOnOwnedBuffers) {
  const Model model = Model::load_onnx(path("tiny.onnx"));
  Session session(model, 2);
  std::ranges::fill(session.input<float>(0), 3.0F);
  session.run();
  EXPECT_THAT(session.output<float>(0).first(16), Each(7.0F));
  EXPECT_THAT(session.output<float>(0).last(16), Each(0.0F));
  EXPECT_THAT(session.output_dims(0), ElementsAre(1, 2, 4, 4));
}

TEST(Api, RunsACompiledFileOnTheCallersBuffers) {
  compile_file(path("tiny.onnx"), path("cpp_tiny.so"), Options().fusion(ONEPASS_FUSION_OFF));
  EXPECT_TRUE(std::filesystem::exists(path("cpp_tiny.h")));
  const Model model = Model::load_artefact(path("cpp_tiny.so"));
  Session session(model);
  std::vector<float> x(16, -2.0F), y(32);
  const std::array<const void*, 1> inputs = {x.data()};
  const std::array<void*, 1> outputs = {y.data()};
  session.run(inputs, outputs);
  EXPECT_THAT(std::span(y).first(16), Each(0.0F));
  EXPECT_THAT(std::span(y).last(16), Each(2.0F));
  EXPECT_EQ(error_of([&] { session.run({}, outputs); }).outcome(), ONEPASS_MISUSED);
}

TEST(Api, ExplainsAsJsonAndText) {
  const auto json = nlohmann::json::parse(explain_json(path("tiny.onnx")));
  ASSERT_EQ(json.at("chains").size(), 1U);
  EXPECT_THAT(json.at("chains")[0].at("nodes"), ElementsAre("conv1", "bn1", "relu1"));
  EXPECT_EQ(json.at("costs").size(), 3U);
  EXPECT_THAT(explain_text(path("tiny.onnx")), HasSubstr("conv1 + bn1 + relu1"));
}

TEST(Api, FoldsIntoPlainOnnx) {
  fold_file(path("tiny.onnx"), path("cpp_folded.onnx"));
  const auto json = nlohmann::json::parse(explain_json(path("cpp_folded.onnx")));
  ASSERT_EQ(json.at("chains").size(), 1U);
  EXPECT_EQ(json.at("chains")[0].at("nodes").size(), 2U);
}

TEST(Api, RefusalsKeepTheirFields) {
  const Error error = error_of([] { explain_json(path("training.onnx")); });
  EXPECT_EQ(error.outcome(), ONEPASS_REFUSED);
  ASSERT_EQ(error.diagnostics().size(), 1U);
  EXPECT_EQ(error.diagnostics()[0].code, "training_mode_batchnorm");
  EXPECT_EQ(error.diagnostics()[0].node, "bn1");
  EXPECT_THAT(error.what(), HasSubstr("training_mode_batchnorm"));
}

TEST(Api, WarningsComeWithASuccess) {
  const Model model = Model::load_onnx(path("training.onnx"), Options().bn_assume_eval(true));
  ASSERT_FALSE(model.warnings().empty());
  EXPECT_EQ(model.warnings()[0].severity, ONEPASS_WARNING);
}

TEST(Api, AWrongElementTypeIsMisuse) {
  const Model model = Model::load_onnx(path("tiny.onnx"));
  Session session(model);
  EXPECT_EQ(error_of([&] { session.input<double>(0); }).outcome(), ONEPASS_MISUSED);
  EXPECT_EQ(error_of([&] { session.output<float>(1); }).outcome(), ONEPASS_MISUSED);
  EXPECT_EQ(error_of([&] { Session(model, 0); }).outcome(), ONEPASS_MISUSED);
}

}  // namespace
}  // namespace onepass::api
