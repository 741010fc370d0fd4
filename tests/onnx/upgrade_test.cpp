// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "ir/verifier.h"
#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

using testing::ElementsAre;

TEST(UpgradeClip, AttributesBecomeInputs) {
  ModelBuilder builder = one_node(9, "Clip");
  first_node(builder).with("min", 0.f).with("max", 6.f);
  const Model model = builder.read();
  const ir::Node& clip = only_node(model.graph);
  EXPECT_EQ(constant_of(model.graph, clip, 1).to_doubles(), std::vector<double>{0});
  EXPECT_EQ(constant_of(model.graph, clip, 2).to_doubles(), std::vector<double>{6});
  EXPECT_TRUE(clip.attributes.items().empty());
}

TEST(UpgradeClip, AnAbsentBoundStaysAbsent) {
  ModelBuilder builder = one_node(7, "Clip");
  first_node(builder).with("max", 6.f);
  const Model model = builder.read();
  const ir::Node& clip = only_node(model.graph);
  EXPECT_FALSE(clip.inputs.at(1).valid());
  EXPECT_EQ(constant_of(model.graph, clip, 2).to_doubles(), std::vector<double>{6});
}

TEST(UpgradeClip, AnEmptyMinIsAbsent) {
  ModelBuilder builder(11);
  builder.input("x", {1, 4}).output("y").initializer("six", float_tensor({}, {6}));
  builder.node("Clip", {"x", "", "six"}, {"y"});
  const Model model = builder.read();
  EXPECT_FALSE(only_node(model.graph).inputs.at(1).valid());
}

TEST(UpgradePad, AttributesBecomeInputs) {
  ModelBuilder builder = one_node(10, "Pad");
  first_node(builder).with("pads", Ints{0, 0, 1, 1, 0, 0, 2, 2}).with("value", 3.f).with("mode", "constant");
  const Model model = builder.read();
  const ir::Node& pad = only_node(model.graph);
  EXPECT_EQ(ints_of(model.graph, pad, 1), (Ints{0, 0, 1, 1, 0, 0, 2, 2}));
  EXPECT_EQ(constant_of(model.graph, pad, 2).to_doubles(), std::vector<double>{3});
  EXPECT_EQ(pad.attributes.get_string("mode", ""), "constant");
}

TEST(UpgradeSlice, AttributesBecomeInputs) {
  ModelBuilder builder = one_node(9, "Slice");
  first_node(builder).with("starts", Ints{1}).with("ends", Ints{3}).with("axes", Ints{2});
  const Model model = builder.read();
  const ir::Node& slice = only_node(model.graph);
  EXPECT_EQ(ints_of(model.graph, slice, 1), Ints{1});
  EXPECT_EQ(ints_of(model.graph, slice, 2), Ints{3});
  EXPECT_EQ(ints_of(model.graph, slice, 3), Ints{2});
}

TEST(UpgradeAxes, SqueezeUnsqueezeAndReductions) {
  const std::vector<std::pair<const char*, int>> cases = {
      {"Squeeze", 12},   {"Unsqueeze", 12}, {"ReduceSum", 12}, {"ReduceMean", 17},
      {"ReduceMax", 17}, {"ReduceMin", 13}, {"ReduceProd", 7}};
  for (const auto& [op, opset] : cases) {
    ModelBuilder builder = one_node(opset, op);
    first_node(builder).with("axes", Ints{0});
    const Model model = builder.read();
    EXPECT_EQ(ints_of(model.graph, only_node(model.graph), 1), Ints{0}) << op;
    EXPECT_FALSE(only_node(model.graph).attributes.has("axes")) << op;
  }
}

TEST(UpgradeAxes, AReductionOverAllAxesHasNoAxes) {
  const Model model = one_node(13, "ReduceMean").read();
  EXPECT_EQ(only_node(model.graph).inputs.size(), 1u);
}

TEST(UpgradeSplit, SizesBecomeAnInput) {
  ModelBuilder builder(11);
  builder.input("x", {1, 4}).output("a").output("b");
  builder.node("Split", {"x"}, {"a", "b"}).with("axis", 1).with("split", Ints{1, 3});
  const Model model = builder.read();
  EXPECT_EQ(ints_of(model.graph, only_node(model.graph), 1), (Ints{1, 3}));
}

TEST(UpgradeSplit, EqualPartsAreCounted) {
  for (int opset : {11, 13}) {
    ModelBuilder builder(opset);
    builder.input("x", {1, 4}).output("a").output("b");
    builder.node("Split", {"x"}, {"a", "b"}).with("axis", 1);
    const Model model = builder.read();
    EXPECT_EQ(only_node(model.graph).attributes.get_int("num_outputs", 0), 2) << opset;
  }
}

TEST(UpgradeTopK, KBecomesAnInput) {
  ModelBuilder builder(9);
  builder.input("x", {1, 4}).output("v").output("i");
  builder.node("TopK", {"x"}, {"v", "i"}).with("axis", 1).with("k", 3);
  const Model model = builder.read();
  EXPECT_EQ(ints_of(model.graph, only_node(model.graph), 1), Ints{3});
}

TEST(UpgradeResize, Opset10ReadsRoundedDownPixels) {
  ModelBuilder builder(10);
  builder.input("x", {1, 4, 6, 6}).output("y").initializer("s", float_tensor({4}, {1, 1, 2, 2}));
  builder.node("Resize", {"x", "s"}, {"y"}).with("mode", "nearest");
  const Model model = builder.read();
  const ir::Node& resize = only_node(model.graph);
  EXPECT_FALSE(resize.inputs.at(1).valid());
  EXPECT_EQ(constant_of(model.graph, resize, 2).size(), 4);
  EXPECT_EQ(resize.attributes.get_string("coordinate_transformation_mode", ""), "asymmetric");
  EXPECT_EQ(resize.attributes.get_string("nearest_mode", ""), "floor");
}

TEST(UpgradeResize, Opset10RoundsUpWhereTheMapShrinks) {
  ModelBuilder builder(10);
  builder.input("x", {1, 1, 2, 4}).output("y").initializer("s", float_tensor({4}, {1, 1, 0.6f, 0.6f}));
  builder.node("Resize", {"x", "s"}, {"y"}).with("mode", "nearest");
  EXPECT_EQ(only_node(builder.read().graph).attributes.get_string("nearest_mode", ""), "ceil");
  builder.graph().mutable_initializer(0)->set_float_data(3, 2);
  EXPECT_EQ(builder.refusal().code, "resize_scales");
}

TEST(UpgradeResize, EmptyConstantsAreAbsentInputs) {
  ModelBuilder builder(11);
  builder.input("x", {1, 4, 6, 6}).output("y");
  builder.initializer("none", float_tensor({0}, {})).initializer("sizes", int_tensor({4}, {1, 4, 12, 12}));
  builder.node("Resize", {"x", "none", "none", "sizes"}, {"y"}).with("mode", "linear");
  const Model model = builder.read();
  const ir::Node& resize = only_node(model.graph);
  EXPECT_FALSE(resize.inputs.at(1).valid());
  EXPECT_FALSE(resize.inputs.at(2).valid());
  EXPECT_EQ(ints_of(model.graph, resize, 3), (Ints{1, 4, 12, 12}));
}

TEST(UpgradeUpsample, BothFormsAreAResize) {
  ModelBuilder seven = one_node(7, "Upsample");
  first_node(seven).with("scales", Floats{1, 1, 2, 2}).with("mode", "linear");
  ModelBuilder nine(9);
  nine.input("x", {1, 4, 6, 6}).output("y").initializer("s", float_tensor({4}, {1, 1, 2, 2}));
  nine.node("Upsample", {"x", "s"}, {"y"}).with("mode", "linear");
  for (const ModelBuilder* builder : {&seven, &nine}) {
    const Model model = builder->read();
    const ir::Node& resize = only_node(model.graph);
    EXPECT_EQ(resize.op, ir::Op::Resize);
    EXPECT_EQ(resize.attributes.get_string("mode", ""), "linear");
    EXPECT_EQ(resize.attributes.get_string("coordinate_transformation_mode", ""), "asymmetric");
    EXPECT_EQ(constant_of(model.graph, resize, 2).to_doubles(), (std::vector<double>{1, 1, 2, 2}));
  }
}

TEST(UpgradeSoftmax, OverTheLastAxisIsPlain) {
  ModelBuilder builder = one_node(9, "Softmax", {1, 10});
  const Model model = builder.read();
  EXPECT_EQ(only_node(model.graph).attributes.get_int("axis", 0), -1);
}

TEST(UpgradeSoftmax, OverSeveralAxesGoesThroughAMatrix) {
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    const Model model = one_node(11, op).read();
    EXPECT_THAT(ops_of(model.graph), testing::UnorderedElementsAre("Flatten", op, "Shape", "Reshape"));
    ir::verify(model.graph);
    const ir::Node& reshape = model.graph.node(model.graph.producer(model.graph.outputs().at(0).value));
    EXPECT_EQ(reshape.name, "the_node");
    const ir::Node& softmax = model.graph.node(model.graph.producer(reshape.inputs.at(0)));
    EXPECT_EQ(softmax.attributes.get_int("axis", 0), -1);
    EXPECT_THAT(softmax.origins, ElementsAre("the_node"));
    const ir::Node& flatten = model.graph.node(model.graph.producer(softmax.inputs.at(0)));
    EXPECT_EQ(flatten.attributes.get_int("axis", 0), 1);
  }
}

TEST(UpgradeSoftmax, FromOpset13AxisIsOneAxis) {
  ModelBuilder builder = one_node(13, "Softmax");
  first_node(builder).with("axis", 1);
  const Model model = builder.read();
  EXPECT_EQ(only_node(model.graph).attributes.get_int("axis", 0), 1);
}

TEST(UpgradeSum, IsAChainOfAdds) {
  for (size_t count = 1; count <= 4; ++count) {
    ModelBuilder builder(8);
    builder.input("x", {1, 4}).output("y");
    builder.node("Sum", Names(count, "x"), {"y"}).named("the_sum");
    const Model model = builder.read();
    const Names wanted = count == 1 ? Names{"Identity"} : Names(count - 1, "Add");
    EXPECT_EQ(ops_of(model.graph), wanted);
    EXPECT_EQ(model.graph.node(model.graph.producer(model.graph.outputs().at(0).value)).name, "the_sum");
  }
}

TEST(UpgradeDropout, LosesItsUnreadMask) {
  ModelBuilder builder = one_node(7, "Dropout");
  first_node(builder).with("ratio", 0.5f).proto().add_output("mask");
  const Model model = builder.read();
  EXPECT_EQ(only_node(model.graph).outputs.size(), 1u);
  EXPECT_TRUE(only_node(model.graph).attributes.items().empty());
}

TEST(UpgradeDropout, InTrainingModeIsRefused) {
  ModelBuilder builder(12);
  pb::TensorProto flag;
  flag.set_data_type(pb::TensorProto::BOOL);
  flag.add_int32_data(1);
  builder.input("x", {1, 4}).output("y").initializer("t", flag).initializer("r", float_tensor({}, {0.5f}));
  builder.node("Dropout", {"x", "r", "t"}, {"y"}).named("drop");
  EXPECT_EQ(builder.refusal().code, "training_mode_dropout");
  builder.graph().mutable_initializer(0)->set_int32_data(0, 0);
  EXPECT_EQ(only_node(builder.read().graph).inputs.size(), 2u);
}

TEST(UpgradeCast, HalfIsFloat) {
  ModelBuilder builder = one_node(13, "Cast");
  first_node(builder).with("to", k_float16);
  EXPECT_EQ(only_node(builder.read().graph).attributes.get_int("to", 0), k_float);
}

TEST(UpgradeCast, TypesThatWrapAreRefused) {
  ModelBuilder builder = one_node(13, "Cast");
  first_node(builder).with("to", 4);
  EXPECT_EQ(builder.refusal().code, "unsupported_type");
}

TEST(UpgradeConstant, EveryDenseFormIsAConstant) {
  ModelBuilder builder(13);
  builder.input("x", {1}).output("a").output("b").output("c").output("d").output("e");
  builder.node("Constant", {}, {"a"}).with("value", float_tensor({2}, {1, 2}));
  builder.node("Constant", {}, {"b"}).with("value_float", 3.f);
  builder.node("Constant", {}, {"c"}).with("value_floats", Floats{4, 5});
  builder.node("Constant", {}, {"d"}).with("value_int", 6);
  builder.node("Constant", {}, {"e"}).with("value_ints", Ints{7, 8});
  const Model model = builder.read();
  const auto constant = [&](size_t i) {
    return model.graph.value(model.graph.outputs().at(i).value).constant;
  };
  EXPECT_EQ(model.graph.live_node_count(), 0u);
  EXPECT_EQ(constant(0).to_doubles(), (std::vector<double>{1, 2}));
  EXPECT_EQ(constant(1).to_doubles(), std::vector<double>{3});
  EXPECT_EQ(constant(1).shape(), ir::Shape{});
  EXPECT_EQ(constant(2).to_doubles(), (std::vector<double>{4, 5}));
  EXPECT_EQ(constant(3).to_ints(), Ints{6});
  EXPECT_EQ(constant(4).to_ints(), (Ints{7, 8}));
}

TEST(UpgradeConstant, StringsAreRefused) {
  ModelBuilder builder(13);
  builder.input("x", {1}).output("a");
  builder.node("Constant", {}, {"a"}).with("value_string", "text");
  EXPECT_EQ(builder.refusal().code, "unsupported_attribute");
}

TEST(Upgrade, AttributesThatOnlyNarrowTypesKnowAreDropped) {
  ModelBuilder builder = one_node(28, "SpaceToDepth");
  first_node(builder).with("blocksize", 2).with("mode", "DCR");
  EXPECT_FALSE(only_node(builder.read().graph).attributes.has("mode"));
  first_node(builder).proto().mutable_attribute(1)->set_s("CRD");
  EXPECT_EQ(builder.refusal().code, "space_to_depth_mode");
}

}  // namespace
}  // namespace onepass::onnx::test
