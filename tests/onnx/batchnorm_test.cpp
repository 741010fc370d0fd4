// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ir/verifier.h"
#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

using testing::HasSubstr;

ModelBuilder batch_norm(int opset, const Names& outputs = {"y"}) {
  ModelBuilder builder(opset);
  builder.input("x", {1, 4, 6, 6}).output("y");
  for (const char* name : {"scale", "bias", "mean", "var"})
    builder.initializer(name, float_tensor({4}, {1, 2, 3, 4}));
  builder.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, outputs).named("bn");
  return builder;
}

TEST(BatchNorm, EveryOpsetHasTheSameForm) {
  for (int opset : {7, 8, 9, 13, 14, 15, 28}) {
    ModelBuilder builder = batch_norm(opset);
    if (opset < 9) first_node(builder).with("spatial", 1);
    if (opset >= 14) first_node(builder).with("training_mode", 0);
    first_node(builder).with("epsilon", 1e-3f).with("momentum", 0.9f);
    const Model model = builder.read();
    const ir::Node& node = only_node(model.graph);
    EXPECT_EQ(node.op, ir::Op::BatchNormalization);
    EXPECT_EQ(node.inputs.size(), 5u);
    EXPECT_EQ(node.outputs.size(), 1u);
    EXPECT_FLOAT_EQ(node.attributes.get_float("epsilon", 0), 1e-3f);
    EXPECT_FALSE(node.attributes.has("spatial") || node.attributes.has("training_mode"));
    EXPECT_EQ(node.opset, opset);
  }
}

TEST(BatchNorm, TrainingModeIsRefusedWithTheWayOut) {
  ModelBuilder attribute = batch_norm(14, {"y", "running_mean", "running_var"});
  first_node(attribute).with("training_mode", 1);
  const ModelBuilder outputs = batch_norm(12, {"y", "mean_out", "var_out", "saved_mean", "saved_var"});
  for (const ModelBuilder* builder : {static_cast<const ModelBuilder*>(&attribute), &outputs}) {
    const Diagnostic refusal = builder->refusal();
    EXPECT_EQ(refusal.code, "training_mode_batchnorm");
    EXPECT_EQ(refusal.node, "bn");
    EXPECT_EQ(refusal.op, "BatchNormalization");
    EXPECT_THAT(refusal.message, HasSubstr("statistics of each batch"));
    EXPECT_THAT(refusal.hint, HasSubstr("model.eval()"));
    EXPECT_THAT(refusal.hint, HasSubstr("--bn=assume-eval"));
  }
}

TEST(BatchNorm, TrainingModeWithOneOutputIsRefusedToo) {
  ModelBuilder builder = batch_norm(15);
  first_node(builder).with("training_mode", 1).with("momentum", 0.f);
  EXPECT_EQ(builder.refusal().code, "training_mode_batchnorm");
}

TEST(BatchNorm, AllTrainingNodesAreListed) {
  ModelBuilder builder = batch_norm(14);
  first_node(builder).with("training_mode", 1);
  builder.node("BatchNormalization", {"y", "scale", "bias", "mean", "var"}, {"z"})
      .named("bn2")
      .with("training_mode", 1);
  const auto refusals = builder.refusals();
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[1].node, "bn2");
}

TEST(BatchNorm, AssumeEvalReadsItAsInferenceAndSaysSo) {
  ModelBuilder builder = batch_norm(14, {"y", "running_mean", "running_var"});
  first_node(builder).with("training_mode", 1);
  const Model model = builder.read({.batch_norm = BatchNormMode::assume_eval});
  EXPECT_EQ(only_node(model.graph).outputs.size(), 1u);
  EXPECT_FALSE(only_node(model.graph).attributes.has("training_mode"));
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_EQ(model.warnings[0].code, "batchnorm_assumed_eval");
  EXPECT_EQ(model.warnings[0].severity, Severity::warning);
  EXPECT_EQ(model.warnings[0].node, "bn");
}

TEST(BatchNorm, AssumeEvalCannotMakeUpStatisticsThatAreRead) {
  ModelBuilder builder = batch_norm(14, {"y", "running_mean", "running_var"});
  first_node(builder).with("training_mode", 1);
  builder.output("running_var");
  const Diagnostic refusal = builder.refusal({.batch_norm = BatchNormMode::assume_eval});
  EXPECT_EQ(refusal.code, "training_mode_batchnorm");
  EXPECT_THAT(refusal.message, HasSubstr("running_var"));
}

TEST(BatchNorm, MissingStatisticsAreNamed) {
  ModelBuilder builder = batch_norm(14);
  first_node(builder).proto().set_input(3, "");
  first_node(builder).proto().set_input(4, "");
  const Diagnostic refusal = builder.refusal();
  EXPECT_EQ(refusal.code, "missing_batchnorm_input");
  EXPECT_THAT(refusal.message, HasSubstr("mean and var"));
  EXPECT_THAT(refusal.hint, HasSubstr("track_running_stats=False"));
  first_node(builder).proto().mutable_input()->DeleteSubrange(1, 4);
  EXPECT_THAT(builder.refusal().message, HasSubstr("scale and B and mean and var"));
}

TEST(BatchNorm, PerElementStatisticsAreArithmetic) {
  ModelBuilder builder(8);
  builder.input("x", {1, 2, 1, 2}).output("y");
  for (const char* name : {"scale", "bias", "mean", "var"})
    builder.initializer(name, float_tensor({2, 1, 2}, {1, 2, 3, 4}));
  builder.node("BatchNormalization", {"x", "scale", "bias", "mean", "var"}, {"y"})
      .named("bn")
      .with("spatial", 0);
  const Model model = builder.read();
  ir::verify(model.graph);
  EXPECT_THAT(ops_of(model.graph), testing::UnorderedElementsAre("Sub", "Add", "Sqrt", "Div", "Mul", "Add"));
  for (ir::NodeId id : model.graph.topological_order())
    EXPECT_THAT(model.graph.node(id).origins, testing::ElementsAre("bn"));
}

}  // namespace
}  // namespace onepass::onnx::test
