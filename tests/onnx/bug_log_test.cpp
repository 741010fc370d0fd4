// SPDX-License-Identifier: Apache-2.0
//
// Entries of the bug log that end at the reader: what must be refused, or be read in one form.
#include <gmock/gmock.h>

#include "ir/verifier.h"
#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

using testing::HasSubstr;

/// X[n,c,...] -> BatchNormalization 'bn', whose parameters have as many elements as X has channels.
ModelBuilder batch_norm(int opset, const std::vector<Dim>& dims, const Names& outputs) {
  ModelBuilder builder(opset);
  builder.input("x", dims).output(outputs.front());
  const int64_t channels = dims.at(1).number;
  for (const char* name : {"scale", "bias", "mean", "var"})
    builder.initializer(name, float_tensor({channels}, Floats(static_cast<size_t>(channels), 1)));
  builder.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, outputs).named("bn");
  return builder;
}

void expect_training_refusal(const ModelBuilder& builder, const char* explanation) {
  const Diagnostic refusal = builder.refusal();
  EXPECT_EQ(refusal.code, "training_mode_batchnorm");
  EXPECT_EQ(refusal.node, "bn");
  EXPECT_THAT(refusal.message, HasSubstr(explanation));
  EXPECT_THAT(refusal.hint, HasSubstr("--bn=assume-eval"));
}

TEST(BugLog, B001TrainingModeInsideANetworkIsRefusedByName) {
  ModelBuilder builder(14);
  builder.input("x", {2, 3, 8, 8})
      .output("y")
      .initializer("w", float_tensor({4, 3, 3, 3}, Floats(108, 0.5f)));
  for (const char* name : {"scale", "bias", "mean", "var"})
    builder.initializer(name, float_tensor({4}, {1, 2, 3, 4}));
  builder.node("Conv", {"x", "w"}, {"c"}).with("pads", Ints{1, 1, 1, 1});
  builder.node("BatchNormalization", {"c", "scale", "bias", "mean", "var"}, {"n", "rm", "rv"})
      .named("bn")
      .with("training_mode", 1);
  builder.node("Relu", {"n"}, {"y"});
  expect_training_refusal(builder, "training_mode");
}

TEST(BugLog, B002TrainingModeWithOneOutputIsRefusedWhateverTheMomentum) {
  for (const float momentum : {0.f, 0.5f, 1.f}) {
    ModelBuilder builder = batch_norm(15, {2, 4, 3}, {"y"});
    first_node(builder).with("training_mode", 1).with("momentum", momentum);
    first_node(builder).proto().set_input(4, "scale");
    expect_training_refusal(builder, "training_mode");
  }
}

TEST(BugLog, B002SharedInitializersAreReadOnly) {
  ModelBuilder builder = batch_norm(15, {2, 4, 3}, {"y"});
  first_node(builder).proto().set_input(4, "scale");
  const Model model = builder.read();
  const ir::Node& node = only_node(model.graph);
  EXPECT_EQ(node.inputs[1], node.inputs[4]);
  EXPECT_EQ(constant_of(model.graph, node, 1).to_doubles(), std::vector<double>(4, 1));
}

TEST(BugLog, B005MoreThanOneOutputBeforeOpset14MeansTraining) {
  for (const int opset : {7, 9, 12, 13})
    expect_training_refusal(
        batch_norm(opset, {1, 8, 9, 1}, {"y", "mean_out", "var_out", "saved_mean", "saved_var"}), "output");
}

TEST(BugLog, B007MissingStatisticsAreNamed) {
  ModelBuilder builder = batch_norm(14, {1, 4, 6, 6}, {"y"});
  first_node(builder).proto().set_input(3, "");
  first_node(builder).proto().set_input(4, "");
  const Diagnostic refusal = builder.refusal();
  EXPECT_EQ(refusal.code, "missing_batchnorm_input");
  EXPECT_EQ(refusal.node, "bn");
  EXPECT_THAT(refusal.message, HasSubstr("mean and var"));
}

TEST(BugLog, B044OverridableInitializersAreConstantsUnlessAskedFor) {
  ModelBuilder builder = batch_norm(8, {1, 4, 6, 6}, {"y"});
  builder.model.set_ir_version(3);
  for (const char* name : {"scale", "bias", "mean", "var"}) builder.input(name, {4});
  const Model constant = builder.read();
  EXPECT_EQ(constant.graph.inputs().size(), 1u);
  EXPECT_EQ(constant_of(constant.graph, only_node(constant.graph), 1).size(), 4);
  ASSERT_EQ(constant.warnings.size(), 1u);
  EXPECT_EQ(constant.warnings[0].code, "overridable_initializers");
  EXPECT_EQ(builder.read({.overridable = true}).graph.inputs().size(), 5u);
}

TEST(BugLog, B062EveryOpsetHasOneForm) {
  for (const int opset : {7, 9, 14, 15}) {
    const Model model = batch_norm(opset, {1, 4, 6, 6}, {"y"}).read();
    const ir::Node& node = only_node(model.graph);
    EXPECT_EQ(node.op, ir::Op::BatchNormalization) << opset;
    EXPECT_EQ(node.inputs.size(), 5u);
    EXPECT_EQ(node.outputs.size(), 1u);
    EXPECT_EQ(node.attributes.get_int("training_mode", 0), 0);
    EXPECT_EQ(node.attributes.get_int("spatial", 1), 1);
  }
}

TEST(BugLog, B064AnAbsentEpsilonIsNotWrittenDownAsAnother) {
  for (const int opset : {7, 9, 14, 15}) {
    const Model model = batch_norm(opset, {1, 4, 6, 6}, {"y"}).read();
    EXPECT_FLOAT_EQ(only_node(model.graph).attributes.get_float("epsilon", 1e-5), 1e-5f) << opset;
  }
}

TEST(BugLog, B088AForeignFusedOperatorIsNamed) {
  ModelBuilder builder(13);
  builder.model.add_opset_import()->set_domain("com.microsoft");
  builder.model.mutable_opset_import(1)->set_version(1);
  builder.input("x", {1, 1, 4, 4}).output("y").initializer("w", float_tensor({1, 1, 1, 1}, {2}));
  builder.node("FusedConv", {"x", "w"}, {"y"}).named("conv").with("activation", "Relu");
  builder.graph().mutable_node(0)->set_domain("com.microsoft");
  const Diagnostic refusal = builder.refusal();
  EXPECT_EQ(refusal.node, "conv");
  EXPECT_THAT(to_string(refusal), HasSubstr("com.microsoft"));
}

TEST(BugLog, B101ThresholdsOfASelectionAreInputs) {
  ModelBuilder builder(11);
  builder.input("b", {1, 4, 4}).input("s", {1, 1, 4}).output("y");
  builder.node("NonMaxSuppression", {"b", "s"}, {"y"}).named("nms").with("max_output_boxes_per_class", 10);
  const Diagnostic refusal = builder.refusal();
  EXPECT_EQ(refusal.code, "unknown_attribute");
  EXPECT_THAT(refusal.hint, HasSubstr("is an input of NonMaxSuppression"));
}

TEST(BugLog, B106ADynamicMapNeedsAShape) {
  ModelBuilder builder(13);
  builder.input("x", {1, 3, -1, 224}).output("y").initializer("w", float_tensor({1, 3, 3, 3}, Floats(27, 1)));
  builder.node("Conv", {"x", "w"}, {"y"}).with("auto_pad", "SAME_UPPER").with("strides", Ints{2, 2});
  EXPECT_EQ(builder.refusal().code, "unbound_dimension");
  const Model model = builder.read({.input_shapes = {{"x", {1, 3, 97, 224}}}});
  EXPECT_EQ(model.graph.value(model.graph.inputs()[0]).type.dims, (ir::Shape{1, 3, 97, 224}));
}

TEST(BugLog, B110ExternalDataOutsideTheFolderIsRefused) {
  for (const char* location : {"../secret.bin", "../../../etc/passwd", "/etc/passwd"}) {
    pb::TensorProto tensor;
    tensor.set_data_type(pb::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value(location);
    ModelBuilder builder(13);
    builder.input("x", {1}).output("y").initializer("w", tensor);
    builder.node("Mul", {"x", "w"}, {"y"});
    const Diagnostic refusal = builder.refusal({}, testing::TempDir());
    EXPECT_EQ(refusal.code, "external_data");
    EXPECT_THAT(refusal.message, HasSubstr(location));
  }
}

TEST(BugLog, B113NodesWithoutInputsAndInputsWithoutTypes) {
  ModelBuilder none(13);
  none.input("x", {1, 4}).output("y");
  none.node("Conv", {}, {"y"}).named("conv");
  EXPECT_EQ(none.refusal().code, "input_count");
  ModelBuilder untyped = one_node(13, "Relu");
  untyped.graph().add_value_info()->set_name("y");
  EXPECT_NO_THROW(untyped.read());
  untyped.graph().mutable_input(0)->clear_type();
  EXPECT_EQ(untyped.refusal().code, "missing_type");
}

}  // namespace
}  // namespace onepass::onnx::test
