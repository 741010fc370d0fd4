// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::Op;

TEST(BatchNormalization, HandComputed) {
  const ir::Tensor x = floats({1, 2, 1, 2}, {1, 3, 10, 20});
  const std::vector<ir::Tensor> inputs{x, floats({2}, {2, -1}), floats({2}, {0.5, 0}), floats({2}, {1, 10}),
                                       floats({2}, {4, 25})};
  expect_elements(output_of(Op::BatchNormalization, inputs, {{"epsilon", 0.0}}), {1, 2, 1, 2},
                  {0.5, 2.5, 0, -2});
  expect_elements(output_of(Op::BatchNormalization, inputs, {{"epsilon", 12.0}}), {1, 2, 1, 2},
                  {0.5, 1.5, 0, -10 / std::sqrt(37.0F)});
  const ir::Tensor y = output_of(Op::BatchNormalization, inputs);
  EXPECT_NEAR(y.data<float>()[3], -10 / std::sqrt(25.00001), 1e-6);
}

TEST(BatchNormalization, B068RankTwo) {
  const ir::Tensor x = floats({2, 2}, {1, 2, 3, 4});
  const ir::Tensor one = filled({2}, 1);
  expect_elements(output_of(Op::BatchNormalization, {x, one, floats({2}, {0, 10}), filled({2}, 0), one},
                            {{"epsilon", 0.0}}),
                  {2, 2}, {1, 12, 3, 14});
}

TEST(BatchNormalization, B067NonSpatialIsComputedPerElement) {
  const ir::Tensor x = counting({1, 2, 3, 3});
  const ir::Shape parameters{2, 3, 3};
  const std::vector<ir::Tensor> inputs{x, filled(parameters, 2), counting(parameters), counting(parameters),
                                       filled(parameters, 4)};
  const ir::Tensor y = output_of(Op::BatchNormalization, inputs, {{"spatial", int64_t{0}}, {"epsilon", 0.0}});
  expect_elements(y, {1, 2, 3, 3}, values(x));
  EXPECT_EQ(refusal(Op::BatchNormalization, inputs), "bad_statistics");
}

TEST(BatchNormalization, TrainingModeUsesTheBatch) {
  const ir::Tensor x = floats({2, 1, 2}, {1, 3, 5, 7});
  const std::vector<ir::Tensor> inputs{x, floats({1}, {1}), floats({1}, {0}), floats({1}, {10}),
                                       floats({1}, {20})};
  const ir::Node node = node_of(Op::BatchNormalization,
                                {{"training_mode", int64_t{1}}, {"epsilon", 0.0}, {"momentum", 0.75}}, 3);
  const std::vector<ir::Tensor> outputs = outputs_of(node, inputs);
  const float deviation = std::sqrt(5.0F);
  expect_elements(outputs[0], {2, 1, 2}, {-3 / deviation, -1 / deviation, 1 / deviation, 3 / deviation});
  expect_elements(outputs[1], {1}, {8.5});
  expect_elements(outputs[2], {1}, {16.25});
}

TEST(BatchNormalization, Refusals) {
  const ir::Tensor x = filled({1, 2, 3}, 1);
  const ir::Tensor p = filled({2}, 1);
  const ir::Tensor bad = filled({3}, 1);
  EXPECT_EQ(refusal(Op::BatchNormalization, {x, p, p, p}), "missing_input");
  EXPECT_EQ(refusal(Op::BatchNormalization, {x, p, p, p, bad}), "bad_statistics");
  EXPECT_EQ(refusal(Op::BatchNormalization, {p, p, p, p, p}), "bad_rank");
  EXPECT_EQ(refusal(Op::BatchNormalization, {x, p, p, p, p}, {}, 5), "too_many_outputs");
  EXPECT_EQ(refusal(Op::BatchNormalization, {x, p, p, p, p},
                    {{"training_mode", int64_t{1}}, {"spatial", int64_t{0}}}),
            "bad_attribute");
}

TEST(Lrn, HandComputed) {
  const ir::Tensor x = floats({1, 4, 1}, {1, 2, 3, 4});
  const AttributeList odd{{"size", int64_t{3}}, {"alpha", 3.0}, {"beta", 1.0}, {"bias", 1.0}};
  expect_elements(output_of(Op::LRN, {x}, odd), {1, 4, 1}, {1.0F / 6, 2.0F / 15, 3.0F / 30, 4.0F / 26});
  const AttributeList even{{"size", int64_t{2}}, {"alpha", 2.0}, {"beta", 0.5}, {"bias", 4.0}};
  expect_elements(output_of(Op::LRN, {x}, even), {1, 4, 1},
                  {1 / std::sqrt(9.0F), 2 / std::sqrt(17.0F), 3 / std::sqrt(29.0F), 4 / std::sqrt(20.0F)});
  EXPECT_EQ(refusal(Op::LRN, {x}), "bad_attribute");
}

TEST(Softmax, HandComputed) {
  const float e = std::exp(1.0F);
  const ir::Tensor x = floats({2, 2}, {0, 1, 1000, 1001});
  expect_elements(output_of(Op::Softmax, {x}), {2, 2}, {1 / (1 + e), e / (1 + e), 1 / (1 + e), e / (1 + e)});
  expect_elements(output_of(Op::Softmax, {x}, {{"axis", int64_t{0}}}), {2, 2}, {0, 0, 1, 1});
  expect_elements(output_of(Op::LogSoftmax, {x}), {2, 2},
                  {-1.313261688F, -0.313261688F, -1.313261688F, -0.313261688F});
  EXPECT_EQ(refusal(Op::Softmax, {x}, {{"axis", int64_t{2}}}), "bad_axis");
}

}  // namespace
}  // namespace onepass::ops::testing
