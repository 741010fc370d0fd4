// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <random>

#include "ir/verifier.h"
#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

/// A small model that goes through most of the reader.
std::string small_model() {
  ModelBuilder builder(9);
  builder.input("x", {1, 2, 4, 4}).output("y").output("z");
  builder.initializer("w", float_tensor({2, 2, 1, 1}, {1, 2, 3, 4}))
      .initializer("shape", int_tensor({2}, {1, -1}));
  for (const char* name : {"scale", "bias", "mean", "var"})
    builder.initializer(name, float_tensor({2}, {1, 2}));
  builder.node("Conv", {"x", "w"}, {"c"}).with("kernel_shape", Ints{1, 1}).with("auto_pad", "SAME_UPPER");
  builder.node("BatchNormalization", {"c", "scale", "bias", "mean", "var"}, {"b"}).with("epsilon", 1e-3f);
  builder.node("Clip", {"b"}, {"r"}).with("min", 0.f).with("max", 6.f);
  builder.node("Upsample", {"r", "s"}, {"u"}).with("mode", "nearest");
  builder.node("Constant", {}, {"s"}).with("value", float_tensor({4}, {1, 1, 2, 2}));
  builder.node("Slice", {"u"}, {"q"}).with("starts", Ints{0}).with("ends", Ints{1}).with("axes", Ints{1});
  builder.node("Reshape", {"q", "shape"}, {"f"});
  builder.node("Softmax", {"f"}, {"y"}).with("axis", 1);
  builder.node("Sum", {"u", "u", "u"}, {"z"});
  return builder.bytes();
}

/// Reads bytes that may be anything: a graph in order, or an Error.
bool is_read(const std::string& text) {
  try {
    const Model model = read_model(std::as_bytes(std::span(text)), "");
    ir::verify(model.graph);
    return true;
  } catch (const Error& error) {
    EXPECT_FALSE(error.diagnostics().empty());
    for (const Diagnostic& diagnostic : error.diagnostics())
      EXPECT_FALSE(diagnostic.code.empty() || diagnostic.message.empty());
    return false;
  }
}

TEST(Robustness, TheSmallModelIsRead) {
  EXPECT_TRUE(is_read(small_model()));
}

TEST(Robustness, EveryCutIsRefused) {
  const std::string whole = small_model();
  size_t truncated = 0;
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string text = whole.substr(0, size);
    try {
      read_model(std::as_bytes(std::span(text)), "");
      ADD_FAILURE() << "cut after " << size << " bytes, yet read";
    } catch (const Error& error) {
      const std::string& code = error.diagnostics().front().code;
      EXPECT_TRUE(code == "truncated" || code == "not_onnx" || code == "missing_opset" ||
                  code == "unsupported_opset")
          << code;
      truncated += code == "truncated" ? 1 : 0;
    }
  }
  EXPECT_GT(truncated, whole.size() * 9 / 10);
}

TEST(Robustness, FlippedBytesNeverDoWorseThanAnError) {
  const std::string whole = small_model();
  std::mt19937 random(20240229);
  int read = 0, refused = 0;
  for (int round = 0; round < 4000; ++round) {
    std::string text = whole;
    const int flips = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < flips; ++i) text[random() % text.size()] = static_cast<char>(random());
    is_read(text) ? ++read : ++refused;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 10);
}

TEST(Robustness, RandomBytesAndTextAreNoModel) {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string text(random() % 200, '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    EXPECT_FALSE(is_read(text));
  }
  const std::string html = "<html><body>404 not found</body></html>";
  try {
    read_model(std::as_bytes(std::span(html)), "");
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "not_onnx");
  }
}

TEST(Robustness, DeepNestingIsRefused) {
  pb::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(13);
  pb::GraphProto* graph = model.mutable_graph();
  for (int depth = 0; depth < 300; ++depth) {
    auto& node = *graph->add_node();
    node.set_op_type("If");
    graph = node.add_attribute()->mutable_g();
  }
  EXPECT_FALSE(is_read(model.SerializeAsString()));
}

TEST(Robustness, ALongChainIsReadInGoodTime) {
  ModelBuilder builder(13);
  builder.input("x", {1, 4}).output("v20000");
  for (int i = 0; i < 20000; ++i) {
    const std::string from = i == 0 ? "x" : "v" + std::to_string(i);
    builder.node("Add", {from, from}, {"v" + std::to_string(i + 1)});
  }
  EXPECT_EQ(builder.read().graph.live_node_count(), 20000u);
}

TEST(Files, WhatCannotBeReadIsNamed) {
  for (const char* path : {"/nonexistent/model.onnx", "/", "/dev/null", ""}) {
    try {
      read_model(std::string(path));
      ADD_FAILURE() << path;
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostics().front().code, "cannot_read") << path;
    }
  }
}

}  // namespace
}  // namespace onepass::onnx::test
