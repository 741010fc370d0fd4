// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

using testing::HasSubstr;

ir::Shape shape_of(const Model& model, size_t input) {
  return model.graph.value(model.graph.inputs().at(input)).type.dims;
}

TEST(Inputs, ALeadingBatchBecomesOne) {
  EXPECT_EQ(shape_of(one_node(13, "Relu", {"N", 3, 8, 8}).read(), 0), (ir::Shape{1, 3, 8, 8}));
  EXPECT_EQ(shape_of(one_node(13, "Relu", {-1, 3, 8, 8}).read(), 0), (ir::Shape{1, 3, 8, 8}));
}

TEST(Inputs, OtherDimensionsNeedAShapeThatTheMessageShows) {
  const Diagnostic refusal = one_node(13, "Relu", {"batch", 3, "height", "width"}).refusal();
  EXPECT_EQ(refusal.code, "unbound_dimension");
  EXPECT_THAT(refusal.message, HasSubstr("2 ('height') and 3 ('width')"));
  EXPECT_THAT(refusal.hint, HasSubstr("--shape x=1x3x<height>x<width>"));
  EXPECT_THAT(one_node(13, "Relu", {1, 3, -1, 224}).refusal().hint, HasSubstr("--shape x=1x3x<?>x224"));
}

TEST(Inputs, AShapeBinds) {
  const ModelBuilder builder = one_node(13, "Relu", {"batch", 3, "height", "width"});
  EXPECT_EQ(shape_of(builder.read({.input_shapes = {{"x", {2, 3, 320, 640}}}}), 0),
            (ir::Shape{2, 3, 320, 640}));
}

TEST(Inputs, ANameBindsInAllInputs) {
  ModelBuilder builder(13);
  builder.input("a", {"N", "len"}).input("b", {"N", "len"}).output("y");
  builder.node("Add", {"a", "b"}, {"y"});
  EXPECT_EQ(shape_of(builder.read({.input_shapes = {{"b", {4, 7}}}}), 0), (ir::Shape{4, 7}));
  const ReadOptions clash = {.input_shapes = {{"a", {4, 6}}, {"b", {4, 7}}}};
  EXPECT_EQ(builder.refusal(clash).code, "shape_mismatch");
}

TEST(Inputs, AShapeThatContradictsIsRefused) {
  const ModelBuilder builder = one_node(13, "Relu", {"batch", 3, "height", "width"});
  for (const ir::Shape& shape :
       {ir::Shape{1, 4, 8, 8}, {1, 3, 8}, {1, 3, 0, 8}, {1, 3, -8, 8}, {1, 3, int64_t{1} << 40, 8}}) {
    const Diagnostic refusal = builder.refusal({.input_shapes = {{"x", shape}}});
    EXPECT_EQ(refusal.code, "shape_mismatch") << ir::to_string(shape);
  }
  EXPECT_THAT(builder.refusal({.input_shapes = {{"x", {1, 4, 8, 8}}}}).message,
              HasSubstr("[batch,3,height,width]"));
  const Diagnostic unknown = builder.refusal({.input_shapes = {{"images", {1, 3, 8, 8}}}});
  EXPECT_EQ(unknown.code, "unknown_input");
  EXPECT_EQ(unknown.accepted, "x");
}

TEST(Inputs, MissingTypesShapesAndOddTypes) {
  ModelBuilder builder = one_node(13, "Relu");
  auto& tensor = *builder.graph().mutable_input(0)->mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(8);
  EXPECT_EQ(builder.refusal().code, "unsupported_type");
  tensor.set_elem_type(k_float);
  tensor.clear_shape();
  EXPECT_EQ(builder.refusal().code, "unbound_dimension");
  EXPECT_EQ(shape_of(builder.read({.input_shapes = {{"x", {5}}}}), 0), ir::Shape{5});
  builder.graph().mutable_input(0)->clear_type();
  EXPECT_EQ(builder.refusal().code, "missing_type");
}

TEST(Inputs, HalfPrecisionIsReadAsFloat) {
  ModelBuilder builder(13);
  builder.input("x", {1, 4}, k_float16).output("y");
  builder.node("Relu", {"x"}, {"y"});
  const Model model = builder.read();
  EXPECT_EQ(model.graph.value(model.graph.inputs()[0]).type.dtype, ir::DType::f32);
  ASSERT_EQ(model.warnings.size(), 1u);
  EXPECT_EQ(model.warnings[0].code, "half_precision_widened");
}

TEST(Inputs, AnInitializerAmongTheInputsIsAConstantUnlessOverridable) {
  ModelBuilder builder(8);
  builder.model.set_ir_version(3);
  builder.input("w", {4}).input("x", {1, 4}).output("y").initializer("w", float_tensor({4}, {1, 2, 3, 4}));
  builder.node("Mul", {"x", "w"}, {"y"});
  const Model constant = builder.read();
  EXPECT_EQ(constant.graph.inputs().size(), 1u);
  ASSERT_EQ(constant.warnings.size(), 1u);
  EXPECT_EQ(constant.warnings[0].code, "overridable_initializers");
  const Model exposed = builder.read({.overridable = true});
  ASSERT_EQ(exposed.graph.inputs().size(), 2u);
  EXPECT_EQ(exposed.graph.value(exposed.graph.inputs()[0]).name, "w");
  EXPECT_FALSE(exposed.graph.is_constant(exposed.graph.inputs()[0]));
}

}  // namespace
}  // namespace onepass::onnx::test
