// SPDX-License-Identifier: Apache-2.0
#include "verify/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/interpreter.h"

namespace onepass::verify::test {
namespace {

constexpr double k_tolerance = 1e-5;

/// Boxes 0 and 1 overlap by `iou`, box 2 stands alone.
struct Nms {
  explicit Nms(std::vector<float> scores, float iou = 0.8F, int64_t most = 10) {
    node.op = ir::Op::NonMaxSuppression;
    node.outputs = {ir::ValueId{0}};
    const float shift = (1 - iou) / (1 + iou);
    const std::vector<float> corners = {0, 0, 1, 1, 0, shift, 1, 1 + shift, 5, 5, 6, 6};
    tensors = {ir::Tensor::of<float>({1, 3, 4}, corners), ir::Tensor::of<float>({1, 1, 3}, scores),
               ir::Tensor::of_ints(std::vector<int64_t>{most}), ir::Tensor::scalar(0.5F),
               ir::Tensor::scalar(0.3F)};
    for (const ir::Tensor& tensor : tensors) inputs.push_back(&tensor);
  }

  std::string wrong(const std::vector<int64_t>& boxes) const {
    std::vector<int64_t> rows;
    for (const int64_t box : boxes) rows.insert(rows.end(), {0, 0, box});
    const ir::Tensor choice = ir::Tensor::of<int64_t>({static_cast<int64_t>(boxes.size()), 3}, rows);
    return wrong_choice(node, inputs, choice, k_tolerance);
  }

  ir::Node node;
  std::vector<ir::Tensor> tensors;
  std::vector<const ir::Tensor*> inputs;
};

TEST(Selection, TheOwnChoiceIsRight) {
  const Nms nms({0.9F, 0.8F, 0.7F});
  const ir::Tensor own = ops::evaluate(nms.node, nms.inputs)[0];
  EXPECT_EQ(wrong_choice(nms.node, nms.inputs, own, k_tolerance), "");
  EXPECT_EQ(nms.wrong({0, 2}), "");
}

TEST(Selection, EqualScoresMayChangePlaces) {
  EXPECT_EQ(Nms({0.9F, 0.8F, 0.899995F}).wrong({2, 0}), "");
  EXPECT_NE(Nms({0.9F, 0.8F, 0.8999F}).wrong({2, 0}), "");
  EXPECT_EQ(Nms({0.9F, 0.899995F, 0.5F}).wrong({1, 2}), "");
  EXPECT_NE(Nms({0.9F, 0.8999F, 0.5F}).wrong({1, 2}), "");
}

TEST(Selection, AScoreAtItsThresholdMayGoEitherWay) {
  EXPECT_EQ(Nms({0.9F, 0.8F, 0.300005F}).wrong({0}), "");
  EXPECT_NE(Nms({0.9F, 0.8F, 0.3001F}).wrong({0}), "");
  EXPECT_EQ(Nms({0.9F, 0.8F, 0.299995F}).wrong({0, 2}), "");
  EXPECT_NE(Nms({0.9F, 0.8F, 0.2999F}).wrong({0, 2}), "");
}

TEST(Selection, AnOverlapAtItsThresholdMayGoEitherWay) {
  EXPECT_EQ(Nms({0.9F, 0.8F, 0.7F}, 0.500005F).wrong({0, 1, 2}), "");
  EXPECT_NE(Nms({0.9F, 0.8F, 0.7F}, 0.5001F).wrong({0, 1, 2}), "");
  EXPECT_EQ(Nms({0.9F, 0.8F, 0.7F}, 0.499995F).wrong({0, 2}), "");
  EXPECT_NE(Nms({0.9F, 0.8F, 0.7F}, 0.4999F).wrong({0, 2}), "");
}

TEST(Selection, WrongBoxesAreNamed) {
  const Nms nms({0.9F, 0.8F, 0.7F});
  EXPECT_NE(nms.wrong({0}).find("box 2"), std::string::npos);
  EXPECT_NE(nms.wrong({0, 0, 2}).find("twice"), std::string::npos);
  EXPECT_NE(nms.wrong({0, 7}).find("outside"), std::string::npos);
  EXPECT_NE(nms.wrong({}).find("left out"), std::string::npos);
  EXPECT_NE(nms.wrong({0, 1, 2}).find("covers"), std::string::npos);
}

TEST(Selection, AFullListLeavesBoxesOut) {
  EXPECT_EQ(Nms({0.9F, 0.8F, 0.7F}, 0.8F, 1).wrong({0}), "");
  EXPECT_NE(Nms({0.9F, 0.8F, 0.7F}, 0.8F, 1).wrong({2}), "");
  EXPECT_NE(Nms({0.9F, 0.8F, 0.7F}, 0.8F, 1).wrong({0, 2}), "");
}

ir::Tensor scores() {
  return ir::Tensor::of<float>({1, 4}, std::vector<float>{0.1F, 0.5F, 0.500005F, 0.9F});
}

ir::Tensor positions(std::vector<int64_t> values) {
  return ir::Tensor::of<int64_t>({1, static_cast<int64_t>(values.size())}, values);
}

TEST(Selection, TopK) {
  ir::Node node;
  node.op = ir::Op::TopK;
  const ir::Tensor src = scores();
  const ir::Tensor k = ir::Tensor::of_ints(std::vector<int64_t>{2});
  const auto wrong = [&](std::vector<int64_t> p) {
    return wrong_choice(node, {&src, &k}, positions(std::move(p)), k_tolerance);
  };
  EXPECT_EQ(wrong({3, 2}), "");
  EXPECT_EQ(wrong({3, 1}), "");
  EXPECT_NE(wrong({2, 3}), "");
  EXPECT_NE(wrong({3, 0}), "");
  EXPECT_NE(wrong({3, 3}), "");
  EXPECT_NE(wrong({3, 9}), "");
  const std::vector<ir::Tensor> outputs = outputs_for(node, {&src, &k}, positions({3, 1}));
  EXPECT_THAT(outputs[0].data<float>(), ::testing::ElementsAre(0.9F, 0.5F));
  EXPECT_THAT(outputs[1].data<int64_t>(), ::testing::ElementsAre(3, 1));
}

TEST(Selection, ArgMaxAlongAnInnerAxis) {
  ir::Node node;
  node.op = ir::Op::ArgMax;
  node.attributes.set("axis", int64_t{0});
  const ir::Tensor src = ir::Tensor::of<float>({2, 2}, std::vector<float>{1, 5, 1.000001F, 2});
  EXPECT_EQ(wrong_choice(node, {&src}, positions({0, 0}), k_tolerance), "");
  EXPECT_EQ(wrong_choice(node, {&src}, positions({1, 0}), k_tolerance), "");
  EXPECT_NE(wrong_choice(node, {&src}, positions({1, 1}), k_tolerance), "");
}

}  // namespace
}  // namespace onepass::verify::test
