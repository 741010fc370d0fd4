// SPDX-License-Identifier: Apache-2.0
#include "budget/sensitivity.h"

#include <gtest/gtest.h>

#include "budget/support.h"
#include "ir/random_tensor.h"

namespace onepass::test {
namespace {

/// Three equal layers; what `tail` makes of the last one is the output.
ir::Graph chain(const std::string& tail) {
  return budget_graph(R"(
    x = input f32[1,16,12,12]
    w = constant f32[16,16,3,3] random(seed=1, lo=-0.15, hi=0.15)
    k = constant f32[1] {64}
    a = Conv(x, w) {pads=[1,1,1,1]}
    b = Conv(a, w) {pads=[1,1,1,1]}
    c = Conv(b, w) {pads=[1,1,1,1]}
)" + tail + "\n    output y\n");
}

std::vector<double> measured(const ir::Graph& graph, const budget::SensitivityOptions& options = {}) {
  const ir::TensorType& type = graph.value(graph.inputs().at(0)).type;
  const budget::Reference reference(graph, {ir::random_tensor(type.dtype, type.dims, 5)});
  return budget::sensitivities(graph, reference,
                               {node_of(graph, "a"), node_of(graph, "b"), node_of(graph, "c")}, options);
}

TEST(Sensitivity, GrowsWithTheGainBehindALayer) {
  const std::vector<double> plain = measured(chain("y = Tanh(c)")),
                            amplified = measured(chain("d = Mul(c, k)\n y = Tanh(d)"));
  for (size_t i = 0; i < plain.size(); ++i) {
    EXPECT_GT(plain[i], 0.02);
    EXPECT_GT(amplified[i], 4 * plain[i]);
  }
}

TEST(Sensitivity, IsThatOfTheMeasureNearOneProduct) {
  // y = x0 * w0: noise of rms e in the product is noise of rms e / max(1, |y|) at the output.
  const ir::Graph graph = budget_graph(R"(
    x = input f32[1,1,64,64]
    w = constant f32[1,1,1,1] {1}
    y = Conv(x, w)
    output y
)");
  const ir::TensorType& type = graph.value(graph.inputs().at(0)).type;
  const budget::Reference reference(graph, {ir::random_tensor(type.dtype, type.dims, 5, 1, 1.0001)});
  const double sensitivity =
      budget::sensitivities(graph, reference, {node_of(graph, "y")}, {.threads = 1}).at(0);
  // One weight: its own noise shifts all outputs, the sources' is near the greatest of 4096 uniform ones.
  EXPECT_GT(sensitivity, 1);
  EXPECT_LT(sensitivity, 4);
}

TEST(Sensitivity, ALayerThatNoOutputFollowsFromHasNone) {
  const ir::Graph graph = chain("z = Relu(c)\n y = Relu(a)");
  const std::vector<double> result = measured(graph);
  EXPECT_GT(result[0], 0);
  EXPECT_EQ(result[1], 0);
  EXPECT_EQ(result[2], 0);
}

TEST(Sensitivity, OfUndecidedScoresDoesNotDependOnTheFrame) {
  // The frame is sure of its class; another one need not be.
  const ir::Graph graph = chain("d = Mul(c, k)\n f = Flatten(d)\n y = Softmax(f) {axis=1}");
  for (double sensitivity : measured(graph)) EXPECT_GT(sensitivity, 1);
}

TEST(Sensitivity, OfUndecidedScoresGrowsWithTheContrastOfPictures) {
  const ir::Graph graph = chain("f = Flatten(c)\n y = Sigmoid(f)");
  const ir::TensorType& type = graph.value(graph.inputs().at(0)).type;
  const std::vector<ir::Tensor> frame = {ir::random_tensor(type.dtype, type.dims, 5)};
  const std::map<ir::NodeId, double> error_of = {{node_of(graph, "c"), 1e-4}};
  const double plain = budget::Reference(graph, frame).effect(error_of, 1);
  EXPECT_GT(plain, 0);
  EXPECT_DOUBLE_EQ(budget::Reference(graph, frame, 3).effect(error_of, 1), 3 * plain);
}

TEST(Sensitivity, OfWhatEntersASelectionIsThatOfItsScores) {
  const ir::Graph graph = chain("f = Flatten(c)\n y = ArgMax(f) {axis=1}");
  for (double sensitivity : measured(graph)) {
    EXPECT_GT(sensitivity, 0);
    EXPECT_LT(sensitivity, 1e3) << "another index is no error of its own";
  }
}

TEST(Sensitivity, DoesNotDependOnThreads) {
  const ir::Graph graph = chain("y = Relu(c)");
  EXPECT_EQ(measured(graph, {.threads = 1}), measured(graph, {.threads = 3}));
}

TEST(Sensitivity, NeighboursShareAProbeWhereEachWouldCostTooMuch) {
  std::string text = "    x = input f32[1,16,12,12]\n    w = constant f32[16,16,3,3] random(seed=1)\n";
  std::string before = "x";
  for (int i = 0; i < 8; ++i) {
    const std::string value = "v" + std::to_string(i);
    text += "    " + value + " = Conv(" + before + ", w) {pads=[1,1,1,1]}\n";
    before = value;
  }
  const ir::Graph graph = budget_graph(text + "    output " + before + "\n");
  const budget::Reference reference(graph, {ir::random_tensor(ir::DType::f32, {1, 16, 12, 12}, 5)});
  std::vector<ir::NodeId> layers;
  for (int i = 0; i < 8; ++i) layers.push_back(node_of(graph, "v" + std::to_string(i)));
  const std::vector<double> shared = budget::sensitivities(graph, reference, layers, {.probe_flops = 1});
  for (size_t i = 0; i < shared.size(); i += 2) EXPECT_EQ(shared[i], shared[i + 1]);
  const std::vector<double> single = budget::sensitivities(graph, reference, layers, {});
  for (size_t i = 0; i < single.size(); ++i) {
    EXPECT_LT(shared[i], 3 * single[i]);
    EXPECT_GT(shared[i], single[i] / 3);
  }
}

TEST(Sensitivity, TwoHundredFramesShowMoreThanOne) {
  EXPECT_NEAR(budget::frames_factor(1), 2.92 / 0.674, 0.1);
  EXPECT_GT(budget::frames_factor(10), budget::frames_factor(1000));
  EXPECT_GT(budget::frames_factor(1000000), 1);
  EXPECT_LT(budget::frames_factor(1000000), 1.3);
}

}  // namespace
}  // namespace onepass::test
