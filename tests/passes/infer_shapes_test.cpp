// SPDX-License-Identifier: Apache-2.0
#include "passes/infer_shapes.h"

#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"

namespace onepass::passes {
namespace {

ir::Graph inferred(const std::string& body) {
  ir::Graph graph = ir::parse("graph t {\n" + body + "\n}");
  infer_shapes(graph);
  ir::verify(graph);
  return graph;
}

std::string output_type(const ir::Graph& graph, size_t output = 0) {
  return ir::to_string(graph.value(graph.outputs().at(output).value).type);
}

std::vector<Diagnostic> errors_of(const std::string& body) {
  ir::Graph graph = ir::parse("graph t {\n" + body + "\n}");
  try {
    infer_shapes(graph);
  } catch (const Error& error) {
    return error.diagnostics();
  }
  return {};
}

std::string code_of(const std::string& body) {
  const std::vector<Diagnostic> errors = errors_of(body);
  return errors.empty() ? "" : errors[0].code;
}

TEST(InferShapes, TypesEveryValue) {
  const ir::Graph graph = inferred(R"(
    x = input f32[1,3,8,8]
    w = constant f32[4,3,3,3] random(seed=1)
    y = Conv(x, w) {pads=[1,1,1,1], strides=[2,2]}
    z = Relu(y)
    a, b = Split(z) {axis=1}
    output a
    output b)");
  EXPECT_EQ(output_type(graph, 0), "f32[1,2,4,4]");
  EXPECT_EQ(output_type(graph, 1), "f32[1,2,4,4]");
}

constexpr const char* k_shape_arithmetic = R"(
    x = input f32[2,3,4,4]
    s = Shape(x)
    i = constant i64[] {0}
    axes = constant i64[1] {0}
    batch = Gather(s, i)
    batch1 = Unsqueeze(batch, axes)
    rest = constant i64[1] {-1}
    target = Concat(batch1, rest) {axis=0}
    y = Reshape(x, target)
    output y)";

TEST(InferShapes, FollowsShapeArithmetic) {
  const ir::Graph graph = inferred(k_shape_arithmetic);
  EXPECT_EQ(output_type(graph), "f32[2,48]");
  // The reader of the computed shape now reads a constant; the nodes that computed it are still there.
  const ir::NodeId reshape = graph.producer(graph.outputs()[0].value);
  ASSERT_NE(graph.constant_input(reshape, 1), nullptr);
  EXPECT_EQ(graph.constant_input(reshape, 1)->to_ints(), (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(graph.live_node_count(), 5U);
}

TEST(InferShapes, IsIdempotent) {
  ir::Graph graph = inferred(k_shape_arithmetic);
  const std::string once = ir::print(graph);
  infer_shapes(graph);
  EXPECT_EQ(ir::print(graph), once);
}

TEST(InferShapes, FollowsFloatArithmeticToResize) {
  const ir::Graph graph = inferred(R"(
    x = input f32[1,3,4,4]
    two = constant f32[] {2}
    four = constant f32[4] {0.5, 0.5, 1, 1}
    scales = Mul(four, two)
    y = Resize(x, _, scales)
    output y)");
  EXPECT_EQ(output_type(graph), "f32[1,3,8,8]");
  const ir::NodeId resize = graph.producer(graph.outputs()[0].value);
  ASSERT_NE(graph.constant_input(resize, 2), nullptr);
  EXPECT_EQ(graph.constant_input(resize, 2)->to_doubles(), (std::vector<double>{1, 1, 2, 2}));
}

TEST(InferShapes, LeavesLargeConstantArithmeticAlone) {
  const ir::Graph graph = inferred(R"(
    x = constant f32[64,64] random(seed=1)
    y = Relu(x)
    z = Add(y, x)
    output z)");
  EXPECT_FALSE(graph.is_constant(graph.node({1}).inputs[0]));
  EXPECT_EQ(output_type(graph), "f32[64,64]");
}

constexpr const char* k_selected = R"(
    boxes = input f32[1,10,4]
    scores = input f32[1,2,10]
    most = constant i64[1] {3}
    picked = NonMaxSuppression(boxes, scores, most)
    column = constant i64[] {2}
    columns = constant i64[1] {2}
    all = constant i64[1] {-1}
    rows = constant i64[2] {-1, 1}
    last = constant i64[1] {1}
    flat = constant i64[2] {0, 4}
    zero = constant i64[1] {0}
)";

TEST(InferShapes, CarriesCountedExtents) {
  const auto type_of = [](const std::string& rest) { return output_type(inferred(k_selected + rest)); };
  EXPECT_EQ(type_of("output picked"), "i64[<=6,3]");
  EXPECT_EQ(type_of("y = Gather(picked, column) {axis=1} output y"), "i64[<=6]");
  EXPECT_EQ(type_of("y = Gather(picked, columns) {axis=1} z = Reshape(y, all) output z"), "i64[<=6]");
  EXPECT_EQ(type_of("y = Gather(picked, column) {axis=1} z = Reshape(y, rows) output z"), "i64[<=6,1]");
  EXPECT_EQ(type_of("y = Reshape(picked, all) output y"), "i64[<=18]");
  EXPECT_EQ(type_of("y = Gather(picked, columns) {axis=1} z = Squeeze(y, last) output z"), "i64[<=6]");
  EXPECT_EQ(type_of("y = Unsqueeze(picked, zero) output y"), "i64[1,<=6,3]");
  EXPECT_EQ(type_of("y = Transpose(picked) output y"), "i64[3,<=6]");
  EXPECT_EQ(type_of("y = Cast(picked) {to=1} z = Identity(y) output z"), "f32[<=6,3]");
  EXPECT_EQ(type_of("y = Concat(picked, picked) {axis=1} output y"), "i64[<=6,6]");
  EXPECT_EQ(type_of("e = constant i64[1] {3} y = Slice(picked, last, e, last) output y"), "i64[<=6,2]");
  EXPECT_EQ(type_of("e = constant i64[1] {4} y = Slice(picked, zero, e, zero) output y"), "i64[<=4,3]");
  EXPECT_EQ(type_of("y = Flatten(picked) {axis=2} output y"), "i64[<=18,1]");
  // The tail of a detector: boxes picked by a data-dependent index list.
  EXPECT_EQ(type_of("c = Squeeze(boxes, zero) i = Gather(picked, column) {axis=1} y = Gather(c, i) output y"),
            "f32[<=6,4]");
}

TEST(InferShapes, RefusesWhatCannotCarryCountedExtents) {
  const auto refused = [](const std::string& rest) { return code_of(k_selected + rest); };
  EXPECT_EQ(refused("y = Concat(picked, picked) {axis=0} output y"), "counted_extent");
  EXPECT_EQ(refused("y = Reshape(picked, flat) output y"), "bad_reshape");
  EXPECT_EQ(refused("t = constant i64[2] {6, 3} y = Reshape(picked, t) output y"), "counted_extent");
  EXPECT_EQ(refused("y = Slice(picked, last, all, zero) output y"), "counted_extent");
  EXPECT_EQ(refused("v, i = TopK(picked, last) {axis=0} output v"), "counted_extent");
  EXPECT_EQ(refused("s = constant f32[2] {2, 1} y = Resize(picked, _, s) output y"), "counted_extent");
  EXPECT_EQ(refused("a, b = Split(picked) {axis=0} output a"), "counted_extent");
}

TEST(InferShapes, ACountedExtentIsNotAKnownShape) {
  const std::string body =
      std::string(k_selected) + "s = Shape(picked) y = ConstantOfShape(s) @\"fill\" output y";
  const std::vector<Diagnostic> errors = errors_of(body);
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].code, "dynamic_operand");
  EXPECT_EQ(errors[0].node, "fill");
  EXPECT_EQ(output_type(inferred(std::string(k_selected) +
                                 "s = Shape(picked) {start=1} y = ConstantOfShape(s) output y")),
            "f32[3]");
}

TEST(InferShapes, ReportsEveryFaultOnceAndNoConsequences) {
  const std::vector<Diagnostic> errors = errors_of(R"(
    x = input f32[1,3,8,8]
    n = input i64[2]
    w = constant f32[4,5,3,3] random(seed=1)
    y = Conv(x, w) @"narrow" @opset(13)
    z = Relu(y) @"behind"
    r = Reshape(x, n) @"dynamic"
    output z
    output r)");
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].node, "narrow");
  EXPECT_EQ(errors[0].op, "Conv");
  EXPECT_EQ(errors[0].opset, 13);
  EXPECT_EQ(errors[1].node, "dynamic");
  EXPECT_EQ(errors[1].code, "dynamic_operand");
  EXPECT_NE(errors[1].hint.find("--shape"), std::string::npos);
}

TEST(InferShapes, NamesInputsWithoutAShape) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("image", {});
  graph.add_output("y", graph.add_node(ir::Op::Relu, "y", {x}, {}));
  try {
    infer_shapes(graph);
    FAIL() << "an untyped input was accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, "unknown_shape");
    EXPECT_EQ(error.diagnostics().at(0).hint, "bind it with --shape image=1x3x320x320");
  }
}

TEST(InferShapes, RefusesKnownIndicesThatAreOutOfRange) {
  EXPECT_EQ(code_of("x = input f32[3] i = constant i64[1] {3} y = Gather(x, i) output y"),
            "index_out_of_range");
}

}  // namespace
}  // namespace onepass::passes
