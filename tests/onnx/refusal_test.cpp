// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

using testing::HasSubstr;

TEST(Refusal, AllUnsupportedOperatorsAreListedAtOnce) {
  ModelBuilder builder(13);
  builder.input("x", {1, 4}).output("y");
  builder.node("Relu", {"x"}, {"a"});
  builder.node("Hardmax", {"a"}, {"b"}).named("first");
  builder.node("GroupNormalization", {"b"}, {"c"}).named("second");
  builder.node("If", {"c"}, {"y"}).named("third");
  const auto refusals = builder.refusals();
  ASSERT_EQ(refusals.size(), 3u);
  for (const Diagnostic& refusal : refusals) {
    EXPECT_EQ(refusal.code, "unsupported_operator");
    EXPECT_EQ(refusal.opset, 13);
  }
  EXPECT_EQ(refusals[0].node, "first");
  EXPECT_EQ(refusals[1].op, "GroupNormalization");
  EXPECT_EQ(refusals[2].node, "third");
}

TEST(Refusal, AnOperatorOfALaterOrEarlierOpsetSaysSo) {
  EXPECT_THAT(one_node(13, "Gelu").refusal().hint, HasSubstr("from opset 20"));
  EXPECT_THAT(one_node(10, "Upsample").refusal().hint, HasSubstr("after opset 9"));
}

TEST(Refusal, AForeignDomainIsNamed) {
  ModelBuilder builder = one_node(13, "FusedConv");
  first_node(builder).proto().set_domain("com.microsoft");
  const Diagnostic refusal = builder.refusal();
  EXPECT_EQ(refusal.code, "unsupported_domain");
  EXPECT_THAT(refusal.message, HasSubstr("FusedConv"));
  EXPECT_THAT(refusal.message, HasSubstr("com.microsoft"));
  EXPECT_EQ(refusal.node, "the_node");
}

TEST(Refusal, OpsetsOutsideTheRangeAreNotGuessed) {
  for (int opset : {0, 1, 6, 29, 1000}) {
    const Diagnostic refusal = one_node(opset, "Relu").refusal();
    EXPECT_EQ(refusal.code, "unsupported_opset");
    EXPECT_EQ(refusal.accepted, "opset 7 to 28");
  }
  EXPECT_NO_THROW(one_node(7, "Relu").read());
  EXPECT_NO_THROW(one_node(28, "Relu").read());
}

TEST(Refusal, AMissingOrDoubleOpset) {
  ModelBuilder builder = one_node(13, "Relu");
  builder.model.mutable_opset_import(0)->set_domain("com.example");
  EXPECT_EQ(builder.refusal().code, "missing_opset");
  builder.model.mutable_opset_import(0)->set_domain("ai.onnx");
  EXPECT_NO_THROW(builder.read());
  builder.model.add_opset_import()->set_version(14);
  EXPECT_EQ(builder.refusal().code, "unsupported_opset");
}

TEST(Refusal, FutureIrVersionsFunctionsAndSparseWeights) {
  ModelBuilder future = one_node(13, "Relu");
  future.model.set_ir_version(99);
  EXPECT_EQ(future.refusal().code, "unsupported_ir_version");
  ModelBuilder function = one_node(13, "Relu");
  function.model.add_functions()->set_name("f");
  EXPECT_EQ(function.refusal().code, "unsupported_function");
  ModelBuilder sparse = one_node(13, "Relu");
  sparse.graph().add_sparse_initializer();
  EXPECT_EQ(sparse.refusal().code, "unsupported_sparse_tensor");
}

TEST(Refusal, SelectionThresholdsAreInputs) {
  ModelBuilder builder(11);
  builder.input("b", {1, 4, 4}).input("s", {1, 1, 4}).output("y");
  builder.node("NonMaxSuppression", {"b", "s"}, {"y"}).named("nms").with("max_output_boxes_per_class", 10);
  const Diagnostic refusal = builder.refusal();
  EXPECT_EQ(refusal.code, "unknown_attribute");
  EXPECT_EQ(refusal.node, "nms");
  EXPECT_EQ(refusal.accepted, "center_point_box");
  EXPECT_THAT(refusal.hint, HasSubstr("is an input of NonMaxSuppression (number 2)"));
}

TEST(Refusal, AttributesOutsideTheirOpsetSayWhere) {
  ModelBuilder late = one_node(11, "Clip");
  first_node(late).with("max", 6.f);
  EXPECT_EQ(late.refusal().code, "unknown_attribute");
  EXPECT_THAT(late.refusal().hint, HasSubstr("from opset 11"));
  ModelBuilder early = one_node(9, "MaxPool");
  first_node(early).with("kernel_shape", Ints{2, 2}).with("ceil_mode", 1);
  EXPECT_THAT(early.refusal().hint, HasSubstr("came with opset 10"));
  ModelBuilder never = one_node(13, "Relu");
  first_node(never).with("slope", 0.1f);
  EXPECT_EQ(never.refusal().accepted, "no attributes");
}

TEST(Refusal, AttributesOfTheWrongTypeMissingOrTwice) {
  ModelBuilder type = one_node(13, "Softmax");
  first_node(type).with("axis", 1.f);
  EXPECT_EQ(type.refusal().code, "attribute_type");
  EXPECT_EQ(type.refusal().accepted, "INT");
  EXPECT_EQ(one_node(13, "DepthToSpace").refusal().code, "missing_attribute");
  ModelBuilder twice = one_node(13, "Softmax");
  first_node(twice).with("axis", 1).with("axis", 2);
  EXPECT_EQ(twice.refusal().code, "duplicate_attribute");
}

TEST(Refusal, WrongCountsOfInputsAndOutputs) {
  ModelBuilder none(13);
  none.input("x", {1, 4}).output("y");
  none.node("Conv", {}, {"y"}).named("conv");
  EXPECT_EQ(none.refusal().code, "input_count");
  EXPECT_EQ(none.refusal().node, "conv");
  EXPECT_EQ(none.refusal().accepted, "2 to 3");
  ModelBuilder many = one_node(13, "Relu");
  first_node(many).proto().add_input("x");
  EXPECT_EQ(many.refusal().code, "input_count");
  ModelBuilder absent = one_node(13, "Add");
  first_node(absent).proto().add_input("");
  first_node(absent).proto().add_input("x");
  EXPECT_EQ(absent.refusal().code, "input_count");
  ModelBuilder empty(13);
  empty.input("x", {1, 4}).output("y");
  empty.node("Concat", {"x", ""}, {"y"}).with("axis", 0);
  EXPECT_EQ(empty.refusal().code, "missing_input");
  ModelBuilder outputs = one_node(13, "Relu");
  first_node(outputs).proto().add_output("z");
  EXPECT_EQ(outputs.refusal().code, "output_count");
  ModelBuilder dead = one_node(13, "Relu");
  dead.node("Relu", {"x"}, {""});
  EXPECT_EQ(dead.refusal().code, "output_count");
}

TEST(Refusal, OldFormsTakeNoNewInputs) {
  for (const char* op : {"Clip", "Squeeze", "Softmax", "Dropout", "ReduceSum"}) {
    ModelBuilder builder = one_node(9, op);
    first_node(builder).proto().add_input("x");
    EXPECT_EQ(builder.refusal().code, "input_count") << op;
  }
}

TEST(Refusal, ValuesDefinedTwiceNowhereOrInACircle) {
  ModelBuilder twice = one_node(13, "Relu");
  twice.node("Abs", {"x"}, {"y"}).named("again");
  EXPECT_EQ(twice.refusal().code, "duplicate_value");
  EXPECT_EQ(twice.refusal().node, "again");
  ModelBuilder shadow = one_node(13, "Relu");
  shadow.node("Abs", {"x"}, {"x"});
  EXPECT_EQ(shadow.refusal().code, "duplicate_value");
  ModelBuilder nowhere = one_node(13, "Relu");
  first_node(nowhere).proto().set_input(0, "ghost");
  EXPECT_EQ(nowhere.refusal().code, "undefined_value");
  EXPECT_THAT(nowhere.refusal().message, HasSubstr("ghost"));
  ModelBuilder circle = one_node(13, "Relu");
  first_node(circle).proto().set_input(0, "z");
  circle.node("Abs", {"y"}, {"z"});
  EXPECT_EQ(circle.refusal().code, "cyclic_graph");
  ModelBuilder output = one_node(13, "Relu");
  output.output("ghost");
  EXPECT_EQ(output.refusal().code, "undefined_value");
  ModelBuilder same = one_node(13, "Relu");
  same.output("y");
  EXPECT_EQ(same.refusal().code, "duplicate_value");
  ModelBuilder silent = one_node(13, "Relu");
  silent.graph().clear_output();
  EXPECT_EQ(silent.refusal().code, "no_output");
}

TEST(Order, NodesMayStandInAnyOrder) {
  ModelBuilder builder(13);
  builder.input("x", {1, 4}).output("y");
  builder.node("Abs", {"z"}, {"y"});
  builder.node("Relu", {"x"}, {"z"});
  EXPECT_EQ(ops_of(builder.read().graph), (Names{"Relu", "Abs"}));
}

TEST(Refusal, ReadersOfARefusedNodeAreNotBlamed) {
  ModelBuilder builder = one_node(13, "DepthToSpace");
  builder.node("Relu", {"y"}, {"z"});
  builder.node("SpaceToDepth", {"z"}, {"w"}).named("other");
  const auto refusals = builder.refusals();
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[1].node, "other");
}

}  // namespace
}  // namespace onepass::onnx::test
