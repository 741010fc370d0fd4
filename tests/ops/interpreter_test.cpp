// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::DType;
using ir::Op;

/// y = relu(x + 1) * x, and x itself as a second output.
ir::Graph small_graph() {
  ir::Graph graph;
  const ir::TensorType type{DType::f32, {3}};
  const ir::ValueId x = graph.add_input("x", type);
  const ir::ValueId one = graph.add_constant("one", floats({}, {1}));
  const ir::ValueId sum = graph.add_node(Op::Add, "sum", {x, one}, type);
  const ir::ValueId relu = graph.add_node(Op::Relu, "relu", {sum}, {});
  graph.add_output("y", graph.add_node(Op::Mul, "y", {relu, x}, type));
  graph.add_output("x", x);
  return graph;
}

TEST(Interpreter, RunsAGraphInBothPrecisions) {
  const ir::Graph graph = small_graph();
  const std::vector<ir::Tensor> inputs{floats({3}, {-3, 1, 2})};
  const std::vector<ir::Tensor> outputs = interpret(graph, inputs);
  ASSERT_EQ(outputs.size(), 2U);
  expect_elements(outputs[0], {3}, {0, 2, 6});
  expect_elements(outputs[1], {3}, {-3, 1, 2});
  const std::vector<ir::Tensor> referee = interpret(graph, inputs, {.precision = Precision::f64});
  EXPECT_EQ(referee[0].dtype(), DType::f64);
  EXPECT_EQ(referee[1].dtype(), DType::f64);
  EXPECT_EQ(referee[0].to_doubles(), (std::vector<double>{0, 2, 6}));
}

TEST(Interpreter, ShowsEveryComputedValueInOrder) {
  const ir::Graph graph = small_graph();
  std::vector<std::string> names;
  InterpretOptions options;
  options.on_value = [&](ir::ValueId id, const ir::Tensor& value) {
    EXPECT_EQ(value.shape(), ir::Shape{3});
    names.push_back(graph.value(id).name);
  };
  interpret(graph, {floats({3}, {-3, 1, 2})}, options);
  EXPECT_THAT(names, ::testing::ElementsAre("sum", "relu", "y"));
}

TEST(Interpreter, ChecksItsInputs) {
  const ir::Graph graph = small_graph();
  const auto code = [&](const std::vector<ir::Tensor>& inputs) -> std::string {
    try {
      interpret(graph, inputs);
    } catch (const Error& error) {
      return error.diagnostics().at(0).code;
    }
    return "";
  };
  EXPECT_EQ(code({}), "input_count");
  EXPECT_EQ(code({floats({2}, {1, 2})}), "input_type");
  EXPECT_EQ(code({ints({3}, {1, 2, 3})}), "input_type");
  EXPECT_EQ(code({ir::Tensor{}}), "input_type");
}

TEST(Interpreter, RefereeIsMoreExactThanTheReference) {
  const ir::Node node = node_of(Op::Div);
  const ir::Tensor one = floats({1}, {1});
  const ir::Tensor three = floats({1}, {3});
  EXPECT_EQ(evaluate(node, {&one, &three}, Precision::f64)[0].to_doubles()[0], 1.0 / 3.0);
  EXPECT_EQ(evaluate(node, {&one, &three})[0].to_doubles()[0], double{1.0F / 3.0F});
}

TEST(Interpreter, ComputesF64OfTheFileInDouble) {
  const ir::Node node = node_of(Op::Div);
  const ir::Tensor one = tensor<double>({1}, {1});
  const ir::Tensor three = tensor<double>({1}, {3});
  const ir::Tensor result = evaluate(node, {&one, &three})[0];
  EXPECT_EQ(result.dtype(), DType::f64);
  EXPECT_EQ(result.data<double>()[0], 1.0 / 3.0);
}

TEST(Interpreter, AValueMustHaveItsStaticType) {
  ir::Graph graph;
  const ir::ValueId x = graph.add_input("x", {DType::f32, {2}});
  graph.add_output("y", graph.add_node(Op::Relu, "y", {x}, {DType::f32, {3}}));
  EXPECT_THROW(interpret(graph, {floats({2}, {1, 2})}), InternalError);
}

TEST(Meaning, EveryOperatorHasOne) {
  for (size_t op = 0; op <= static_cast<size_t>(Op::Round); ++op) {
    const Meaning& row = meaning(static_cast<Op>(op));
    EXPECT_NE(row.shape, nullptr) << ir::name(static_cast<Op>(op));
    EXPECT_NE(row.reference_f32, nullptr) << ir::name(static_cast<Op>(op));
    EXPECT_NE(row.reference_f64, nullptr) << ir::name(static_cast<Op>(op));
  }
}

TEST(ShapeSupport, CountedAxisFollowsBroadcasting) {
  const ir::Node node = node_of(Op::Add);
  const ir::TensorType rows{DType::f32, {7, 4}, 0};
  const ir::TensorType scale{DType::f32, {1, 1, 4}};
  EXPECT_EQ(meaning(Op::Add).shape({node, {&rows, &scale}, {nullptr, nullptr}})[0],
            (ir::TensorType{DType::f32, {1, 7, 4}, 1}));
}

}  // namespace
}  // namespace onepass::ops::testing
