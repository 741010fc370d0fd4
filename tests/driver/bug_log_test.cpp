// SPDX-License-Identifier: Apache-2.0
//
// Entries of the bug log that need a file, values of their own or a refusal, from the reader to the compiled
// code.
#include <gmock/gmock.h>

#include "base/files.h"
#include "driver/execute.h"
#include "driver/subject.h"
#include "ir/parser.h"
#include "onnx/model_builder.h"
#include "ops/interpreter.h"
#include "verify/verify.h"

namespace onepass::test {
namespace {

using onnx::test::float_tensor;
using onnx::test::Floats;
using onnx::test::ModelBuilder;
using testing::HasSubstr;
using Tensors = std::vector<ir::Tensor>;

driver::Network network_of_file(const ModelBuilder& builder, const driver::CompileOptions& options) {
  const TemporaryFolder folder;
  write_file(folder.file("model.onnx"), builder.bytes());
  return driver::read_network(folder.file("model.onnx"), options);
}

driver::Network network_of_text(const std::string& body) {
  return driver::network_of(ir::parse("graph g {\n" + body + "\n}"));
}

Tensors run(const driver::Network& network, const Tensors& inputs,
            const driver::CompileOptions& options = {}) {
  const driver::Program program = driver::plan_network(network, options);
  return run_guarded(program, driver::load_program(network, program, options), inputs);
}

int64_t applied(const driver::Program& program, const std::string& pattern) {
  return std::ranges::count(program.journal.applied, pattern, &patterns::Applied::pattern);
}

std::vector<std::string> warnings_of(const driver::Program& program) {
  std::vector<std::string> codes;
  for (const Diagnostic& warning : program.journal.warnings) codes.push_back(warning.code);
  return codes;
}

Diagnostic refusal_of(const std::string& body) {
  try {
    const driver::Network network = network_of_text(body);
    driver::plan_network(network, {});
  } catch (const Error& error) {
    return error.diagnostics().front();
  }
  ADD_FAILURE() << "compiled, but should be refused";
  return {};
}

struct ConvBatchNorm {
  int opset = 14;
  float mean = 0.5f, variance = 2;
  int element = onnx::test::k_float;
};

/// Conv 'conv' (1x1, two channels) -> BatchNormalization 'bn' -> Relu.
ModelBuilder conv_batch_norm(const ConvBatchNorm& c) {
  ModelBuilder builder(c.opset);
  builder.input("x", {1, 2, 3, 3}, c.element).output("y");
  builder.initializer("w", float_tensor({2, 2, 1, 1}, {0.5f, -1, 2, 0.25f}));
  builder.initializer("scale", float_tensor({2}, {1.5f, -2}));
  builder.initializer("bias", float_tensor({2}, {1, 0.5f}));
  builder.initializer("mean", float_tensor({2}, {c.mean, c.mean}));
  builder.initializer("var", float_tensor({2}, {c.variance, c.variance}));
  builder.node("Conv", {"x", "w"}, {"c"}).named("conv");
  builder.node("BatchNormalization", {"c", "scale", "bias", "mean", "var"}, {"n"}).named("bn");
  builder.node("Relu", {"n"}, {"y"});
  return builder;
}

/// Compiled equals the interpreter on the file as read.
void expect_parity(const driver::Network& network) {
  const Tensors inputs = random_inputs(network.model.graph, 7);
  const Tensors expected = ops::interpret(network.model.graph, inputs), actual = run(network, inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t o = 0; o < actual.size(); ++o) EXPECT_LE(error(actual[o], expected[o]), 1e-5) << "output " << o;
}

TEST(BugLog, B001AnOverrideFoldsAndIsRecorded) {
  ModelBuilder builder = conv_batch_norm({});
  onnx::test::NodeBuilder bn(*builder.graph().mutable_node(1));
  bn.with("training_mode", 1).proto().add_output("rm");
  bn.proto().add_output("rv");
  EXPECT_THROW(network_of_file(builder, {}), Error);
  driver::CompileOptions options;
  options.read.batch_norm = onnx::BatchNormMode::assume_eval;
  const driver::Network network = network_of_file(builder, options);
  const driver::Program program = driver::plan_network(network, options);
  EXPECT_EQ(applied(program, "conv_batchnorm"), 1);
  EXPECT_THAT(warnings_of(program), testing::Contains("batchnorm_assumed_eval"));
  expect_parity(network);
}

TEST(BugLog, B004TheReportSaysThatRunningStatisticsAreUsed) {
  const driver::Program program = driver::plan_network(
      network_of_text("x = input f32[3,3]\none = constant f32[3] fill(1)\nzero = constant f32[3] fill(0)\n"
                      "y = BatchNormalization(x, one, zero, zero, one) @\"bn\"\noutput y"),
      {});
  ASSERT_EQ(program.journal.warnings.size(), 1u);
  EXPECT_EQ(program.journal.warnings[0].code, "placeholder_statistics");
  EXPECT_EQ(program.journal.warnings[0].node, "bn");
  EXPECT_THAT(program.journal.warnings[0].message, HasSubstr("running statistics"));
  EXPECT_THAT(program.journal.warnings[0].message, HasSubstr("training mode"));
}

TEST(BugLog, B008StatisticsAreTheInputsWhateverTheMomentum) {
  for (const float momentum : {0.f, 0.5f, 0.9f}) {
    ModelBuilder builder(9);
    builder.input("x", {1, 1, 1, 4}).output("y");
    for (const auto& [name, value] : {std::pair{"s", 1.f}, {"b", 0.f}, {"m", 3.f}, {"v", 4.f}})
      builder.initializer(name, float_tensor({1}, {value}));
    builder.node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"}).with("momentum", momentum);
    const driver::Network network = network_of_file(builder, {});
    ir::Tensor x(ir::DType::f32, {1, 1, 1, 4});
    for (int i = 0; i < 4; ++i) x.data<float>()[i] = static_cast<float>(2 * i);
    const Tensors actual = run(network, {x});
    for (int i = 0; i < 4; ++i)
      EXPECT_NEAR(actual[0].data<float>()[i], (2 * i - 3) / std::sqrt(4 + 1e-5), 1e-6)
          << "momentum " << momentum;
  }
}

TEST(BugLog, B044AnOverridableWeightIsHonoured) {
  ModelBuilder builder = conv_batch_norm({.opset = 8});
  builder.model.set_ir_version(3);
  builder.input("w", {2, 2, 1, 1});
  const driver::Network constant = network_of_file(builder, {});
  EXPECT_EQ(constant.model.graph.inputs().size(), 1u);
  EXPECT_EQ(applied(driver::plan_network(constant, {}), "conv_batchnorm"), 1);
  driver::CompileOptions options;
  options.read.overridable = true;
  const driver::Network fed = network_of_file(builder, options);
  ASSERT_EQ(fed.model.graph.inputs().size(), 2u);
  EXPECT_EQ(applied(driver::plan_network(fed, options), "conv_batchnorm"), 0);
  expect_parity(fed);
}

verify::VerifyReport verified(const driver::Network& network, verify::FrameOptions frames) {
  const driver::Program program = driver::plan_network(network, {});
  const runtime::LoadedModel model = driver::load_program(network, program, {});
  const verify::Subject subject = driver::make_subject(network, program, model);
  return verify::run_verify(subject, verify::Frames(network.model.graph, frames), {.threads = 1});
}

TEST(BugLog, B052UntrainedStatisticsKeepParityAndAreBlamed) {
  const driver::Network network = network_of_file(conv_batch_norm({.mean = 0, .variance = 1}), {});
  EXPECT_TRUE(verified(network, {.count = 2}).parity());
  const driver::Program program = driver::plan_network(network, {});
  EXPECT_THAT(warnings_of(program), testing::ElementsAre("placeholder_statistics"));
  EXPECT_THAT(program.journal.warnings[0].message, HasSubstr("training mode"));
}

TEST(BugLog, B053TheErrorIsRelativeToTheScaleOfTheResult) {
  const driver::Network network = network_of_text(
      "x = input f32[1,3,8,8]\nw = constant f32[4,3,3,3] random(seed=1, lo=100, hi=200)\n"
      "s = constant f32[4] fill(1)\nb = constant f32[4] fill(14)\nm = constant f32[4] random(seed=5)\n"
      "v = constant f32[4] random(seed=6, lo=0.5, hi=1.5)\nc = Conv(x, w)\n"
      "y = BatchNormalization(c, s, b, m, v)\noutput y");
  const verify::VerifyReport report = verified(network, {.count = 3, .low = 0, .high = 1});
  EXPECT_TRUE(report.parity());
  EXPECT_GT(report.outputs[0].worst.reference, 0)
      << "a folded network does not round as the unfolded one does";
  EXPECT_LT(report.outputs[0].worst.reference, 1e-6);
}

TEST(BugLog, B055ProductAndSumAreNotContracted) {
  const driver::Network network = network_of_text(
      "a = input f32[1,1]\nc1 = constant f32[1,1] {1e9}\nc2 = constant f32[1,1] {1.0000001e9}\n"
      "p = Mul(a, c1)\ny = Add(p, c2)\noutput y");
  for (const float value : {-1.6e9f, -0.99999994f, -1.0000001f}) {
    ir::Tensor a(ir::DType::f32, {1, 1});
    a.data<float>()[0] = value;
    EXPECT_TRUE(same_bits(run(network, {a})[0], ops::interpret(network.model.graph, {a})[0])) << value;
  }
}

TEST(BugLog, B056TheReportDoesNotGrowWithTheNumberOfElements) {
  const auto report_of = [](const std::string& extent) {
    return verified(network_of_text("x = input f32[2,3," + extent + "," + extent +
                                    "]\nw = constant f32[8,3,3,3] random(seed=1)\n" +
                                    "s = constant f32[8] random(seed=2)\nm = constant f32[8] random(seed=5)\n"
                                    "v = constant f32[8] random(seed=6, lo=0.5, hi=1.5)\nc = Conv(x, w)\n"
                                    "y = BatchNormalization(c, s, s, m, v)\noutput y"),
                    {.count = 1});
  };
  const verify::VerifyReport small = report_of("6"), large = report_of("40");
  EXPECT_TRUE(small.parity() && large.parity());
  EXPECT_GT(large.outputs[0].most_elements, 50 * small.outputs[0].most_elements);
  EXPECT_LT(large.outputs[0].worst.reference, 1e-6);
}

TEST(BugLog, B061ALargeVarianceInAHalfPrecisionFileStaysFinite) {
  const driver::Network network =
      network_of_file(conv_batch_norm({.opset = 15, .variance = 1e5f, .element = onnx::test::k_float16}), {});
  const driver::Program program = driver::plan_network(network, {});
  EXPECT_EQ(applied(program, "conv_batchnorm"), 1);
  EXPECT_THAT(warnings_of(program), testing::Contains("half_precision_widened"));
  expect_parity(network);
}

TEST(BugLog, B062EveryOpsetFolds) {
  for (const int opset : {7, 9, 14, 15}) {
    const driver::Network network = network_of_file(conv_batch_norm({.opset = opset}), {});
    EXPECT_EQ(applied(driver::plan_network(network, {}), "conv_batchnorm"), 1) << opset;
  }
}

TEST(BugLog, B064AnAbsentEpsilonIsOneInAHundredThousand) {
  const driver::Network network = network_of_file(conv_batch_norm({.mean = 0, .variance = 1e-6f}), {});
  ir::Tensor x(ir::DType::f32, {1, 2, 3, 3});
  std::ranges::fill(x.data<float>(), -1.f);
  EXPECT_NEAR(run(network, {x})[0].data<float>()[0], 0.5 / std::sqrt(1.1e-5) * 1.5 + 1, 1e-3);
}

TEST(BugLog, B085HalfPrecisionConvAddReluLoadsAndRuns) {
  ModelBuilder builder(13);
  builder.input("x", {1, 2, 3, 3}, onnx::test::k_float16).input("r", {1, 2, 3, 3}, onnx::test::k_float16);
  builder.output("y").initializer("w", float_tensor({2, 2, 1, 1}, {0.5f, -1, 2, 0.25f}));
  builder.node("Conv", {"x", "w"}, {"c"});
  builder.node("Add", {"c", "r"}, {"a"});
  builder.node("Relu", {"a"}, {"y"});
  expect_parity(network_of_file(builder, {}));
}

TEST(BugLog, B103SqueezeOfABatchIsRefusedByName) {
  const Diagnostic refusal =
      refusal_of("x = input f32[4,5]\na = constant i64[1] {0}\ny = Squeeze(x, a) @\"sq\"\noutput y");
  EXPECT_EQ(refusal.node, "sq");
  expect_parity(network_of_text("x = input f32[1,5]\na = constant i64[1] {0}\ny = Squeeze(x, a)\noutput y"));
}

TEST(BugLog, B104ABatchThatAReshapeForbidsIsRefused) {
  const std::string rest =
      "w = constant f32[3,2,3,3] random(seed=1)\ns = constant i64[2] {1, 48}\nk = constant f32[48,5] "
      "random(seed=2)\n"
      "c = Conv(x, w) {pads=[1,1,1,1]}\nf = Reshape(c, s) @\"flat\"\ny = Gemm(f, k)\noutput y";
  EXPECT_EQ(refusal_of("x = input f32[4,2,4,4]\n" + rest).node, "flat");
  expect_parity(network_of_text("x = input f32[1,2,4,4]\n" + rest));
}

TEST(BugLog, B112AKernelOfAnotherRankIsRefused) {
  const Diagnostic refusal = refusal_of(
      "x = input f32[1,2,4,4]\nw = constant f32[3,2,3,3,3] random(seed=1)\n"
      "y = Conv(x, w) {dilations=[1,1]} @\"conv\"\noutput y");
  EXPECT_EQ(refusal.node, "conv");
}

TEST(BugLog, B115StatisticsOfAnotherShapeAreRefused) {
  for (const char* shape : {"[3]", "[4,1,1]"})
    for (const char* outputs : {"output y", "output y\noutput c"}) {
      const Diagnostic refusal = refusal_of(
          std::string("x = input f32[1,2,4,4]\nw = constant f32[4,2,1,1] random(seed=1)\nb = constant f32[4] "
                      "fill(1)\ns = constant f32") +
          shape + " fill(1)\nc = Conv(x, w)\ny = BatchNormalization(c, s, b, b, b) @\"bn\"\n" + outputs);
      EXPECT_EQ(refusal.code, "bad_statistics");
      EXPECT_EQ(refusal.node, "bn");
    }
}

}  // namespace
}  // namespace onepass::test
