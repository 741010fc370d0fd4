// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "ir/lexer.h"
#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/random_tensor.h"
#include "ir/tensor_text.h"
#include "ir/verifier.h"

namespace onepass::ir {
namespace {

std::string message_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).code, "parse_error");
    return error.diagnostics().at(0).message;
  }
  return "no error";
}

constexpr const char* k_example = R"(
# A comment, then every feature of the form.
graph example {
  x = input f32[1,3,8,8]
  w = constant f32[4,3,3,3] random(seed=1)
  hi = constant f32[] {6}
  s = constant i64[2] {2, 2}
  y = Conv(x, w) {pads=[1,1,1,1], strides=[1, 1], auto_pad="NOTSET"} @"conv1" @opset(13) @from("conv1", "bn1")
  a: f32[1,2,8,8], "b/1" = Split(y, s) {axis=1}
  z = Clip(a, _, hi)
  m = LeakyRelu("b/1") {alpha=0.25}
  output z
  output "final name" = m
}
)";

TEST(Text, ReadsEveryFeature) {
  const Graph graph = parse(k_example);
  EXPECT_EQ(graph.name, "example");
  ASSERT_EQ(graph.live_node_count(), 4U);
  const Node& conv = graph.node({0});
  EXPECT_EQ(conv.name, "conv1");
  EXPECT_EQ(conv.opset, 13);
  EXPECT_EQ(conv.origins, (std::vector<std::string>{"conv1", "bn1"}));
  EXPECT_EQ(conv.attributes.get_ints("pads"), (std::vector<int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(conv.attributes.get_string("auto_pad", ""), "NOTSET");
  EXPECT_EQ(graph.node({2}).inputs.size(), 3U);
  EXPECT_FALSE(graph.node({2}).inputs[1].valid());
  EXPECT_EQ(graph.constant_input({2}, 2)->to_doubles(), std::vector<double>{6});
  EXPECT_DOUBLE_EQ(graph.node({3}).attributes.get_float("alpha", 0), 0.25);
  EXPECT_EQ(graph.outputs()[1].name, "final name");
  EXPECT_EQ(graph.node({1}).name, "Split_a");
  EXPECT_EQ(to_string(graph.value(graph.node({1}).outputs[0]).type), "f32[1,2,8,8]");
}

TEST(Text, RoundTripsExactly) {
  const std::string once = print(parse(k_example));
  EXPECT_EQ(print(parse(once)), once);
  EXPECT_NE(once.find(R"(@"conv1" @opset(13) @from("conv1", "bn1"))"), std::string::npos) << once;
  EXPECT_NE(once.find("hex(\""), std::string::npos);
}

TEST(Text, PrintsWhatAHumanWouldWrite) {
  const char* const text = R"(graph small {
  x = input i64[<=10,3]
  "output" = constant f32[3] {0.1, -0.0, nan}
  y: f32[2] = Relu("output") {f=1.0, fs=[1.0, 2.5], i=1, is=[1, 2], none=[], nothing=floats [], t=f32[1] {0.5}}
  output y
  output "123/\"x\"" = x
}
)";
  EXPECT_EQ(print(parse(text)), text);
}

TEST(Text, TellsEqualNamesApart) {
  Graph graph;
  const ValueId x = graph.add_input("x", {DType::f32, {1}});
  const ValueId a = graph.add_value("x");
  graph.add_node(
      {.op = Op::Relu, .name = "n", .inputs = {x}, .outputs = {a}, .attributes = {}, .origins = {}});
  graph.add_output("x", a);
  const std::string once = print(graph);
  EXPECT_EQ(once, "graph {\n  x = input f32[1]\n  x_1 = Relu(x) @\"n\"\n  output \"x\" = x_1\n}\n");
  EXPECT_EQ(print(parse(once)), once);
}

TEST(Text, KeepsFloatBits) {
  for (const float value : {0.1F, 1e-40F, 3.4028235e38F, -0.0F, 16777216.0F, 1.17549435e-38F}) {
    const Tensor tensor = Tensor::scalar(value);
    const std::string text = tensor_text(tensor);
    Lexer lexer(text);
    const Tensor back = expect_tensor(lexer);
    EXPECT_EQ(std::signbit(back.data<float>()[0]), std::signbit(value));
    EXPECT_EQ(back.data<float>()[0], value);
  }
}

TEST(Text, KeepsLargeConstantsOfEveryType) {
  for (const DType dtype : {DType::f32, DType::f64, DType::i64, DType::i32, DType::i8, DType::u8}) {
    const Tensor tensor = random_tensor(dtype, {5, 13}, 7, 0, 100);
    const std::string text = tensor_text(tensor);
    Lexer lexer(text);
    EXPECT_EQ(tensor_text(expect_tensor(lexer)), text);
    EXPECT_EQ(lexer.peek().kind, TokenKind::end);
  }
}

TEST(Text, RandomIsTheDocumentedGenerator) {
  // One step from seed 1: 6364136223846793005 + 1442695040888963407 = 7806831264735756412; its top 24 bits
  // are 7100271, so the element is -1 + 2 * 7100271 / 2^24.
  const Tensor tensor = random_tensor(DType::f64, {1}, 1);
  EXPECT_DOUBLE_EQ(tensor.data<double>()[0], -1 + 2 * (7100271.0 / 16777216.0));
}

TEST(Text, ErrorsNameThePlaceAndWhatWasExpected) {
  EXPECT_EQ(message_of("grph"), "1:1: expected 'graph', found 'grph'");
  EXPECT_EQ(message_of("graph g {\n  y = Relu(x)\n}"), "2:12: expected a value that stands above, found 'x'");
  EXPECT_EQ(message_of("graph g {\n  x = input q7[1]\n}"), "2:13: expected an element type, found 'q7'");
  EXPECT_EQ(message_of("graph g {\n x = input f32[1]\n y = Rleu(x)\n}"),
            "3:6: expected input, constant or an operator, found 'Rleu'");
  EXPECT_EQ(message_of("graph g { x = input f32[1] y = Add(x) }"),
            "1:32: expected 2 to 2 inputs of Add, found 1");
  EXPECT_EQ(message_of("graph g { x = input f32[1] x = input f32[1] }"), "1:28: value 'x' is defined twice");
  EXPECT_EQ(message_of("graph g { x = constant f32[2] {1} }"), "1:33: expected ',', found '}'");
  EXPECT_EQ(message_of("graph g { x = constant i64[1] {1.5} }"), "1:32: '1.5' is not a number of this type");
  EXPECT_EQ(message_of("graph g { x = constant u8[1] {256} }"), "1:31: '256' is outside the type's range");
  EXPECT_EQ(message_of("graph g { x = constant f32[9999999,9999999] iota }"),
            "1:24: a constant of more than 2^28 elements");
  EXPECT_EQ(message_of("graph g { x = constant f32[1] hex(\"00\") }"),
            "1:35: 8 hexadecimal digits expected, 2 found");
  EXPECT_EQ(message_of("graph g { \"x"), "1:11: a string without closing quote");
  EXPECT_EQ(message_of("graph g { "), "1:11: expected a statement or '}', found the end of the text");
}

}  // namespace
}  // namespace onepass::ir
