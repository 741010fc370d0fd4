// SPDX-License-Identifier: Apache-2.0
//
// The whole of verify on small networks, right ones and ones that were compiled from other weights.
#include "verify/verify.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/subject.h"
#include "ir/parser.h"
#include "passes/infer_shapes.h"

namespace onepass::verify::test {
namespace {

/// A network compiled from `compiled`, to be compared with the one read from `reference`.
struct Compiled {
  Compiled(const std::string& reference, const std::string& compiled, driver::CompileOptions options = {})
      : network(read(reference)),
        other(read(compiled)),
        program(driver::plan_network(other, options)),
        model(driver::load_program(other, program, options)),
        subject(driver::make_subject(network, program, model)) {}

  static driver::Network read(const std::string& text) {
    driver::Network network;
    network.model.graph = ir::parse(text);
    passes::infer_shapes(network.model.graph);
    return network;
  }

  VerifyReport report(const VerifyOptions& options = {}, int count = 3) const {
    return run_verify(subject, Frames(network.model.graph, {.count = count}), options);
  }

  driver::Network network, other;
  driver::Program program;
  runtime::LoadedModel model;
  Subject subject;
};

/// Two convolutions; `shift` is added to the second one's BatchNorm.
std::string chain(double shift) {
  return fmt::format(R"(graph g {{
    x = input f32[1,3,9,7]
    w1 = constant f32[20,3,3,3] random(seed=1)
    w2 = constant f32[8,20,1,1] random(seed=2)
    s = constant f32[8] random(seed=3, lo=0.5, hi=1.5)
    b = constant f32[8] fill({})
    m = constant f32[8] random(seed=5)
    v = constant f32[8] random(seed=6, lo=0.5, hi=1.5)
    c1 = Conv(x, w1) {{pads=[1,1,1,1]}} @"conv1"
    r1 = Relu(c1) @"relu1"
    c2 = Conv(r1, w2) @"conv2"
    n2 = BatchNormalization(c2, s, b, m, v) @"bn2"
    r2 = Relu(n2) @"relu2"
    y = MaxPool(r2) {{kernel_shape=[2,2], strides=[2,2]}} @"pool"
    output y
  }})",
                     shift);
}

TEST(Verify, ARightNetworkKeepsParityInEveryGroup) {
  for (const driver::Fusion fusion : {driver::Fusion::on, driver::Fusion::folded, driver::Fusion::off}) {
    const Compiled compiled(chain(0.5), chain(0.5), {.fusion = fusion});
    const VerifyReport report = compiled.report({.per_group = true});
    EXPECT_TRUE(report.parity());
    EXPECT_EQ(report.frames, 3);
    ASSERT_EQ(report.outputs.size(), 1u);
    EXPECT_GT(report.outputs[0].worst.referee, 0);
    EXPECT_GE(report.groups.size(), 3u);
    for (const TensorReport& group : report.groups) EXPECT_EQ(group.failing_frames, 0) << group.name;
  }
}

TEST(Verify, TheFirstWrongGroupIsNamed) {
  const Compiled compiled(chain(0.5), chain(0.5 + 1e-3));
  const VerifyReport report = compiled.report();
  EXPECT_FALSE(report.parity());
  EXPECT_EQ(report.failing_frames, 3);
  EXPECT_EQ(report.first_failing_frame, 0);
  EXPECT_EQ(report.first_diverging_group, "conv2 + bn2 + relu2");
  EXPECT_FALSE(compiled.report({.tolerance = 1e-7}).parity());
  EXPECT_TRUE(compiled.report({.tolerance = 1e-2}).parity());
}

TEST(Verify, TheReportDoesNotDependOnThreads) {
  const Compiled compiled(chain(0.5), chain(0.5 + 1e-3));
  const VerifyReport one = compiled.report({.threads = 1}, 7), four = compiled.report({.threads = 4}, 7);
  EXPECT_EQ(one.outputs[0].worst.reference, four.outputs[0].worst.reference);
  EXPECT_EQ(one.outputs[0].worst_frame, four.outputs[0].worst_frame);
}

TEST(Verify, ProgressCountsEveryFrame) {
  const Compiled compiled(chain(0), chain(0));
  std::vector<int> seen;
  compiled.report({.on_progress =
                       [&](int done, int total) {
                         seen.push_back(done);
                         EXPECT_EQ(total, 5);
                       }},
                  5);
  EXPECT_THAT(seen, ::testing::ElementsAre(1, 2, 3, 4, 5));
}

/// Three boxes, of which the first two are the same; scores come with the input, `bias` is added to the
/// second.
std::string detector(const std::string& bias, double threshold = 0.3) {
  return fmt::format(R"(graph g {{
    x = input f32[1,1,3]
    bias = constant f32[1,1,3] {{0, {}, 0}}
    boxes = constant f32[1,3,4] {{0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6}}
    most = constant i64[1] {{3}}
    iou = constant f32[1] {{0.5}}
    least = constant f32[1] {{{}}}
    scores = Add(x, bias) @"add"
    rows = NonMaxSuppression(boxes, scores, most, iou, least) @"nms"
    one = constant i64[1] {{2}}
    box = Gather(rows, one) {{axis=1}} @"gather"
    output rows
    output box
  }})",
                     bias, threshold);
}

FrameResult check(const Compiled& compiled, const std::vector<float>& scores) {
  const Checker checker(compiled.subject, 1e-5);
  runtime::Session session(compiled.model, 1, true);
  return checker.check(session, {ir::Tensor::of<float>({1, 1, 3}, scores)}, false);
}

TEST(Verify, EqualSelectionsAreNoTies) {
  const FrameResult result = check(Compiled(detector("0"), detector("0")), {0.5F, 0.4F, 0.9F});
  EXPECT_TRUE(result.holds(1e-5));
  EXPECT_TRUE(result.ties.empty());
  EXPECT_EQ(result.outputs[0].elements, 6);
  EXPECT_EQ(result.inputs.size(), 1u);  // the boxes are constant
}

TEST(Verify, AFlipBetweenEqualsIsATieAndItsConsequencesFollow) {
  const FrameResult result = check(Compiled(detector("0"), detector("4e-6")), {0.5F, 0.499998F, 0.9F});
  EXPECT_TRUE(result.holds(1e-5));
  EXPECT_EQ(result.ties.size(), 1u);
  EXPECT_EQ(result.outputs[1].errors.reference, 0);  // box 1, as the compiled model chose
}

TEST(Verify, AFlipBetweenUnequalsIsNoTie) {
  const FrameResult result = check(Compiled(detector("0"), detector("4e-3")), {0.5F, 0.498F, 0.9F});
  EXPECT_FALSE(result.holds(1e-5));
  ASSERT_EQ(result.broken.size(), 1u);
  EXPECT_NE(result.broken[0].find("'nms'"), std::string::npos);
  EXPECT_GT(result.inputs[0].errors.reference, 1e-3);
}

TEST(Verify, AnOutputThatIsEmptyInEveryFrameIsNotExercised) {
  const Compiled compiled(detector("0", 2), detector("0", 2));
  const VerifyReport report = compiled.report();
  EXPECT_EQ(report.failing_frames, 0);
  EXPECT_FALSE(report.exercised());
  EXPECT_FALSE(report.parity());
}

TEST(Verify, AnArtefactOfAnotherModelIsRefused) {
  const Compiled one(chain(0), chain(0)), other(detector("0"), detector("0"));
  EXPECT_THROW(driver::make_subject(one.network, one.program, other.model), Error);
}

}  // namespace
}  // namespace onepass::verify::test
