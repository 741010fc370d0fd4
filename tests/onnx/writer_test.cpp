// SPDX-License-Identifier: Apache-2.0
#include "onnx/writer.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ir/verifier.h"
#include "onnx/model_builder.h"
#include "onnx/parse_file.h"
#include "onnx/write_file.h"
#include "support/data.h"

namespace onepass::onnx::test {
namespace {

namespace fs = std::filesystem;
using ir::Op;
using ir::ValueId;
using testing::ElementsAre;

const ir::TensorType k_map = {ir::DType::f32, {1, 4, 6, 6}};

class WriterTest : public testing::Test {
 protected:
  WriterTest() : folder_(fs::temp_directory_path() / ("onepass_writer_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
  }
  ~WriterTest() override { fs::remove_all(folder_); }

  std::string path() const { return (folder_ / "out.onnx").string(); }
  pb::ModelProto written(const ir::Graph& graph) const {
    write_model(graph, path());
    return parse_model(read_file(path()));
  }
  Model again(const ir::Graph& graph) const {
    write_model(graph, path());
    return read_model(path());
  }

  fs::path folder_;
};

/// x -> op -> y
ir::Graph one(Op op, ir::Attributes attributes = {}) {
  ir::Graph graph;
  const ValueId x = graph.add_input("x", k_map);
  graph.add_output("y", graph.add_node(op, "y", {x}, k_map, std::move(attributes)));
  return graph;
}

template <class T>
ir::Attributes with(const char* name, T value) {
  ir::Attributes attributes;
  attributes.set(name, value);
  return attributes;
}

TEST(WriterOpset, IsTheLowestThatHasAll) {
  EXPECT_EQ(lowest_opset(one(Op::Relu)), 13);
  EXPECT_EQ(lowest_opset(one(Op::HardSwish)), 14);
  EXPECT_EQ(lowest_opset(one(Op::Mish)), 18);
  EXPECT_EQ(lowest_opset(one(Op::Gelu)), 20);
  EXPECT_EQ(lowest_opset(one(Op::Swish)), 24);
  EXPECT_EQ(lowest_opset(one(Op::Split, with("num_outputs", int64_t{1}))), 18);
  EXPECT_EQ(lowest_opset(one(Op::AveragePool, with("dilations", Ints{2, 2}))), 19);
  EXPECT_EQ(lowest_opset(one(Op::Shape, with("start", int64_t{1}))), 15);
  EXPECT_EQ(lowest_opset(one(Op::Pad, with("mode", std::string("wrap")))), 19);
}

TEST(WriterOpset, AxesOfAReductionAreAnInputFrom18) {
  for (const auto& [op, opset] : {std::pair{Op::ReduceMean, 18}, {Op::ReduceMax, 18}, {Op::ReduceSum, 13}}) {
    ir::Graph graph;
    const ValueId x = graph.add_input("x", k_map);
    const ValueId axes = graph.add_constant("axes", ir::Tensor::of_ints(Ints{1}));
    graph.add_output("y", graph.add_node(op, "y", {x, axes}, k_map));
    EXPECT_EQ(lowest_opset(graph), opset);
  }
}

TEST_F(WriterTest, NamesTypesAttributesAndWeightsComeBack) {
  ir::Graph graph;
  graph.name = "net";
  const ValueId x = graph.add_input("x", k_map);
  const Floats weights(16, 0.5f);
  const ValueId w = graph.add_constant("w", ir::Tensor::of<float>({4, 4, 1, 1}, weights));
  ir::Attributes attributes = with("strides", Ints{1, 1});
  attributes.set("auto_pad", std::string("VALID"));
  attributes.set("group", int64_t{1});
  const ValueId c = graph.add_node(Op::Conv, "conv", {x, w}, k_map, attributes);
  graph.add_output("result", graph.add_node(Op::LeakyRelu, "act", {c}, k_map, with("alpha", 0.25)));
  const Model model = again(graph);
  ir::verify(model.graph);
  EXPECT_EQ(model.opset, 13);
  EXPECT_EQ(model.graph.name, "net");
  EXPECT_THAT(ops_of(model.graph), ElementsAre("Conv", "LeakyRelu"));
  EXPECT_EQ(model.graph.outputs().at(0).name, "result");
  EXPECT_EQ(model.graph.value(model.graph.inputs().at(0)).type, k_map);
  const ir::Node& leaky = model.graph.node(model.graph.producer(model.graph.outputs().at(0).value));
  EXPECT_EQ(leaky.name, "act");
  EXPECT_EQ(leaky.attributes.get_float("alpha", 0), 0.25);
  const ir::Node& conv = model.graph.node(model.graph.producer(leaky.inputs.at(0)));
  EXPECT_EQ(conv.attributes.get_ints("strides"), (Ints{1, 1}));
  EXPECT_EQ(conv.attributes.get_string("auto_pad", ""), "VALID");
  EXPECT_EQ(constant_of(model.graph, conv, 1).to_doubles(), std::vector<double>(16, 0.5));
}

TEST_F(WriterTest, OneValueUnderTwoNamesInputsAndConstantsAsOutputs) {
  ir::Graph graph;
  const ValueId x = graph.add_input("x", k_map);
  const ValueId k = graph.add_constant("k", ir::Tensor::scalar(2.f));
  const ValueId r = graph.add_node(Op::Relu, "r", {x}, k_map);
  graph.add_output("a", r);
  graph.add_output("b", r);
  graph.add_output("x", x);
  graph.add_output("x_copy", x);
  graph.add_output("two", k);
  graph.add_output("k", k);
  const Model model = again(graph);
  Names names;
  for (const ir::GraphOutput& output : model.graph.outputs()) names.push_back(output.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "x", "x_copy", "two", "k"));
  EXPECT_THAT(ops_of(model.graph), testing::UnorderedElementsAre("Relu", "Identity", "Identity", "Identity"));
}

TEST_F(WriterTest, AnOutputsNameBeatsAnInteriorOneButNotAnInputs) {
  ir::Graph graph;
  const ValueId x = graph.add_input("x", k_map);
  const ValueId first = graph.add_node(Op::Relu, "y", {x}, k_map);
  graph.add_output("y", graph.add_node(Op::Abs, "other", {first}, k_map));
  const pb::ModelProto proto = written(graph);
  EXPECT_EQ(proto.graph().node(1).output(0), "y");
  EXPECT_EQ(proto.graph().node(0).output(0), "y_1");
  graph.add_output("x", first);
  EXPECT_THROW(write_model(graph, path()), Error);
}

TEST_F(WriterTest, UnusedConstantsStayAwayAndRawDataIsUsed) {
  ir::Graph graph = one(Op::Relu);
  graph.add_constant("unused", ir::Tensor::scalar(1.f));
  const ValueId used = graph.add_constant("used", ir::Tensor::scalar(1.f));
  graph.add_output("sum", graph.add_node(Op::Add, "sum", {graph.inputs()[0], used}, k_map));
  const pb::ModelProto proto = written(graph);
  ASSERT_EQ(proto.graph().initializer_size(), 1);
  EXPECT_EQ(proto.graph().initializer(0).name(), "used");
  EXPECT_EQ(proto.graph().initializer(0).raw_data().size(), 4u);
}

TEST_F(WriterTest, ACountedAxisIsASymbol) {
  ir::Graph graph;
  const ValueId b = graph.add_input("b", {ir::DType::f32, {1, 4, 4}});
  const ValueId s = graph.add_input("s", {ir::DType::f32, {1, 1, 4}});
  const ir::TensorType selected = {ir::DType::i64, {4, 3}, 0};
  graph.add_output("sel", graph.add_node(Op::NonMaxSuppression, "sel", {b, s}, selected));
  const pb::ModelProto proto = written(graph);
  const auto& shape = proto.graph().output(0).type().tensor_type().shape();
  EXPECT_FALSE(shape.dim(0).dim_param().empty());
  EXPECT_EQ(shape.dim(1).dim_value(), 3);
}

TEST_F(WriterTest, ASplitWithoutSizesIsCountedFrom18) {
  ir::Graph graph;
  const ValueId x = graph.add_input("x", k_map);
  const ValueId m = graph.add_node(Op::Mish, "m", {x}, k_map);
  const ValueId a = graph.add_value("a", k_map), b = graph.add_value("b", k_map);
  graph.add_node({.op = Op::Split,
                  .name = "split",
                  .inputs = {m},
                  .outputs = {a, b},
                  .attributes = with("axis", int64_t{1})});
  graph.add_output("a", a);
  graph.add_output("b", b);
  const Model model = again(graph);
  EXPECT_EQ(model.graph.node(model.graph.producer(model.graph.outputs()[0].value))
                .attributes.get_int("num_outputs", 0),
            2);
}

TEST_F(WriterTest, LargeWeightsGoBesideTheModel) {
  ir::Graph graph;
  const ValueId x = graph.add_input("x", {ir::DType::f32, {1, 3}});
  const ValueId a = graph.add_constant("a", ir::Tensor::of<float>({3}, Floats{1, 2, 3}));
  const ValueId b = graph.add_constant("b", ir::Tensor::of<float>({3}, Floats{4, 5, 6}));
  const ValueId sum = graph.add_node(Op::Add, "sum", {x, a}, {ir::DType::f32, {1, 3}});
  graph.add_output("y", graph.add_node(Op::Mul, "y", {sum, b}, {ir::DType::f32, {1, 3}}));
  write_model(graph, path(), {.external_from_bytes = 24});
  EXPECT_TRUE(fs::exists(path() + ".data"));
  const Model model = read_model(path());
  const ir::Node& mul = model.graph.node(model.graph.producer(model.graph.outputs().at(0).value));
  EXPECT_EQ(constant_of(model.graph, mul, 1).to_doubles(), (std::vector<double>{4, 5, 6}));
}

TEST_F(WriterTest, NothingIsLeftBehindWhereItCannotWrite) {
  const ir::Graph graph = one(Op::Relu);
  try {
    write_model(graph, (folder_ / "missing" / "out.onnx").string());
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().front().code, "cannot_write");
    EXPECT_THAT(error.diagnostics().front().message, testing::HasSubstr("missing/out.onnx"));
  }
  fs::create_directory(folder_ / "taken");
  EXPECT_THROW(write_model(graph, (folder_ / "taken").string()), Error);
  write_model(graph, path());
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 2);
}

TEST_F(WriterTest, TheSameGraphGivesTheSameBytes) {
  const ir::Graph graph = one(Op::Relu);
  write_model(graph, path());
  const auto first = read_file(path());
  write_model(graph, path());
  EXPECT_EQ(first, read_file(path()));
}

}  // namespace
}  // namespace onepass::onnx::test
