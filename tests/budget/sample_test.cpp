// SPDX-License-Identifier: Apache-2.0
#include "budget/sample.h"

#include <gtest/gtest.h>

#include "budget/algorithm.h"
#include "budget/layers.h"
#include "budget/support.h"
#include "ir/random_tensor.h"

namespace onepass::test {
namespace {

using budget::Algorithm;

constexpr const char* k_conv = R"(
    x = input f32[1,64,14,14]
    w = constant f32[48,64,3,3] random(seed=1)
    y = Conv(x, w) {pads=[1,1,1,1]}
    output y
)";

/// Sampled errors of every kernel of the only layer, by algorithm.
std::map<Algorithm, double> sampled(const ir::Graph& graph, uint64_t seed) {
  const std::vector<budget::ProductLayer> layers = budget::product_layers(graph, amx_target(), true);
  const budget::ProductLayer& layer = layers.at(0);
  const ir::TensorType& type = graph.value(graph.inputs().at(0)).type;
  const ir::Tensor src = ir::random_tensor(type.dtype, type.dims, seed);
  const budget::Operands operands = budget::operands_of(graph, layer.node, layer.family, src);
  std::map<Algorithm, double> errors;
  for (const kernels::KernelChoice& kernel : layer.kernels)
    errors[budget::algorithm_of(kernel)] = budget::sampled_error(kernel, operands, amx_target()).value_or(-1);
  return errors;
}

void expect_near_declared(const std::map<Algorithm, double>& errors, int64_t reduction) {
  for (const auto& [algorithm, error] : errors) {
    EXPECT_GT(error, 0) << name(algorithm);
    EXPECT_LT(error, 3 * budget::declared_error(algorithm, reduction)) << name(algorithm);
    if (budget::is_loose(algorithm)) {
      EXPECT_GT(error, budget::declared_error(algorithm, reduction) / 2) << name(algorithm);
    }
  }
}

TEST(SampledError, OfAConvolutionIsNearTheDeclaredOne) {
  EXPECT_TRUE(sampled(budget_graph(k_conv), 7).contains(Algorithm::winograd));
  expect_near_declared(sampled(budget_graph(k_conv), 7), 64 * 9);
  const std::map<Algorithm, double> errors = sampled(budget_graph(R"(
    x = input f32[1,64,14,14]
    w = constant f32[48,64,5,5] random(seed=1)
    y = Conv(x, w) {pads=[2,2,2,2]}
    output y
)"),
                                                     7);
  ASSERT_EQ(errors.size(), 4U) << "direct, amx6, amx3 and bf16";
  expect_near_declared(errors, 64 * 25);
  EXPECT_GT(errors.at(Algorithm::bf16), 100 * errors.at(Algorithm::amx3));
  EXPECT_GT(errors.at(Algorithm::amx3), 5 * errors.at(Algorithm::amx6));
}

TEST(SampledError, OfGroupsIsNearTheDeclaredOne) {
  const std::map<Algorithm, double> errors = sampled(budget_graph(R"(
    x = input f32[1,104,28,28]
    w = constant f32[104,8,3,3] random(seed=1)
    y = Conv(x, w) {pads=[1,1,1,1], group=13}
    output y
)"),
                                                     7);
  EXPECT_EQ(errors.at(Algorithm::direct), -1) << "is not sampled";
  EXPECT_LT(errors.at(Algorithm::amx3), 3 * budget::declared_error(Algorithm::amx3, 8 * 9));
  EXPECT_GT(errors.at(Algorithm::amx3), budget::declared_error(Algorithm::amx3, 8 * 9) / 2);
}

TEST(SampledError, OfAMatrixProductIsNearTheDeclaredOneEitherWayRound) {
  const std::map<Algorithm, double> errors = sampled(budget_graph(R"(
    x = input f32[40,128]
    w = constant f32[128,64] random(seed=1)
    y = MatMul(x, w)
    output y
)"),
                                                     7);
  EXPECT_GE(errors.size(), 2U);
  expect_near_declared(errors, 128);
  expect_near_declared(sampled(budget_graph(R"(
    x = input f32[40,128]
    w = constant f32[64,128] random(seed=1)
    y = Gemm(x, w) {transB=1}
    output y
)"),
                               7),
                       128);
}

TEST(SampledError, IsTheSameTwice) {
  const ir::Graph graph = budget_graph(k_conv);
  EXPECT_EQ(sampled(graph, 3), sampled(graph, 3));
  EXPECT_NE(sampled(graph, 3), sampled(graph, 4)) << "it is taken on the frame";
}

TEST(SampledError, OfStridesAndDilations) {
  expect_near_declared(sampled(budget_graph(R"(
    x = input f32[1,32,15,15]
    w = constant f32[32,32,3,3] random(seed=1)
    y = Conv(x, w) {pads=[2,2,2,2], strides=[2,2], dilations=[2,2]}
    output y
)"),
                               7),
                       32 * 9);
}

TEST(SampledError, IsNothingWhereAllProductsAreZero) {
  const ir::Graph graph = budget_graph(R"(
    x = input f32[1,64,14,14]
    w = constant f32[48,64,3,3] fill(0.0)
    y = Conv(x, w) {pads=[1,1,1,1]}
    output y
)");
  EXPECT_EQ(sampled(graph, 7).at(Algorithm::direct), -1);
}

}  // namespace
}  // namespace onepass::test
