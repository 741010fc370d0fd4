// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::Op;

ir::Tensor wavy(ir::Shape shape, int seed) {
  ir::Tensor result(ir::DType::f32, std::move(shape));
  int64_t i = seed;
  for (float& element : result.data<float>()) element = static_cast<float>((i++ * 37) % 19 - 9) / 8;
  return result;
}

struct PlainConv {
  int64_t groups = 1, stride = 1, dilation = 1;
  Ints pads{0, 0, 0, 0};
};

/// The definition for two spatial axes, element by element.
double plain_conv_at(const PlainConv& c, const ir::Tensor& x, const ir::Tensor& w, const Ints& at) {
  const ir::Shape& xs = x.shape();
  const ir::Shape& ws = w.shape();
  double sum = 0;
  for (int64_t ic = 0; ic < ws[1]; ++ic)
    for (int64_t kh = 0; kh < ws[2]; ++kh)
      for (int64_t kw = 0; kw < ws[3]; ++kw) {
        const int64_t h = at[2] * c.stride + kh * c.dilation - c.pads[0];
        const int64_t v = at[3] * c.stride + kw * c.dilation - c.pads[1];
        if (h < 0 || h >= xs[2] || v < 0 || v >= xs[3]) continue;
        const int64_t channel = at[1] / (ws[0] / c.groups) * ws[1] + ic;
        sum += double{x.data<float>()[((at[0] * xs[1] + channel) * xs[2] + h) * xs[3] + v]} *
               double{w.data<float>()[((at[1] * ws[1] + ic) * ws[2] + kh) * ws[3] + kw]};
      }
  return sum;
}

void expect_plain_conv(const PlainConv& c, ir::Shape x_shape, ir::Shape w_shape) {
  const ir::Tensor x = wavy(std::move(x_shape), 1);
  const ir::Tensor w = wavy(std::move(w_shape), 5);
  const ir::Tensor y = output_of(Op::Conv, {x, w},
                                 {{"group", c.groups},
                                  {"strides", Ints{c.stride, c.stride}},
                                  {"dilations", Ints{c.dilation, c.dilation}},
                                  {"pads", c.pads}});
  const ir::Shape& ys = y.shape();
  size_t i = 0;
  for (int64_t n = 0; n < ys[0]; ++n)
    for (int64_t m = 0; m < ys[1]; ++m)
      for (int64_t h = 0; h < ys[2]; ++h)
        for (int64_t v = 0; v < ys[3]; ++v)
          ASSERT_NEAR(y.data<float>()[i++], plain_conv_at(c, x, w, {n, m, h, v}), 1e-4);
  EXPECT_EQ(i, y.data<float>().size());
}

TEST(Conv, HandComputed) {
  const ir::Tensor x = counting({1, 1, 3, 3}, 1);
  const ir::Tensor w = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  expect_elements(output_of(Op::Conv, {x, w, floats({1}, {100})}), {1, 1, 2, 2}, {137, 147, 167, 177});
  expect_elements(output_of(Op::Conv, {x, w}, {{"pads", Ints{1, 0, 0, 0}}, {"strides", Ints{2, 1}}}),
                  {1, 1, 2, 2}, {11, 18, 67, 77});
}

TEST(Conv, AgreesWithTheDefinition) {
  expect_plain_conv({}, {2, 3, 5, 70}, {5, 3, 3, 3});
  expect_plain_conv({.pads = {1, 2, 0, 1}}, {1, 3, 6, 9}, {4, 3, 3, 3});
  expect_plain_conv({.stride = 2, .pads = {1, 1, 1, 1}}, {1, 2, 9, 40}, {6, 2, 3, 3});
  expect_plain_conv({.stride = 3, .dilation = 2, .pads = {2, 2, 2, 2}}, {2, 2, 11, 13}, {7, 2, 3, 3});
  expect_plain_conv({.groups = 2}, {2, 4, 5, 5}, {6, 2, 3, 3});
  expect_plain_conv({.groups = 6, .pads = {1, 1, 1, 1}}, {1, 6, 7, 18}, {6, 1, 3, 3});
  expect_plain_conv({.groups = 3, .pads = {1, 1, 1, 1}}, {1, 3, 7, 7}, {12, 1, 3, 3});
  expect_plain_conv({}, {2, 9, 7, 11}, {10, 9, 1, 1});
  expect_plain_conv({.pads = {1, 1, 1, 1}}, {1, 3, 4, 4}, {2, 3, 1, 1});
  expect_plain_conv({.stride = 2}, {1, 17, 7, 7}, {3, 17, 1, 1});
  expect_plain_conv({.pads = {6, 6, 6, 6}}, {1, 1, 2, 2}, {1, 1, 3, 3});
}

TEST(Conv, OneAndThreeSpatialAxes) {
  expect_elements(
      output_of(Op::Conv, {counting({1, 1, 5}), floats({1, 1, 2}, {1, 10})}, {{"dilations", Ints{2}}}),
      {1, 1, 3}, {20, 31, 42});
  expect_elements(output_of(Op::Conv, {counting({1, 1, 2, 2, 3}), filled({1, 1, 2, 2, 2}, 1)}),
                  {1, 1, 1, 1, 2}, {40, 48});
}

TEST(Conv, B076SameUsesTheDilatedKernel) {
  const ir::Tensor y = output_of(Op::Conv, {filled({1, 4, 22, 27}, 1), filled({2, 4, 3, 3}, 1)},
                                 {{"auto_pad", std::string("SAME_UPPER")}, {"dilations", Ints{2, 2}}});
  EXPECT_EQ(y.shape(), (ir::Shape{1, 2, 22, 27}));
  EXPECT_EQ(y.data<float>()[0], 16);
  EXPECT_EQ(y.data<float>()[2 * 27 + 2], 36);
}

TEST(Conv, B077SameWithStride) {
  const ir::Tensor x = filled({1, 1, 7, 5}, 1);
  const ir::Tensor w = filled({1, 1, 3, 3}, 1);
  const AttributeList upper{{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}};
  expect_elements(output_of(Op::Conv, {x, w}, upper), {1, 1, 4, 3}, {4, 6, 4, 6, 9, 6, 6, 9, 6, 4, 6, 4});
}

TEST(Conv, SameUpperAndLowerPutTheOddPadApart) {
  const ir::Tensor x = counting({1, 1, 3}, 1);
  const ir::Tensor w = floats({1, 1, 2}, {1, 10});
  expect_elements(output_of(Op::Conv, {x, w}, {{"auto_pad", std::string("SAME_UPPER")}}), {1, 1, 3},
                  {21, 32, 3});
  expect_elements(output_of(Op::Conv, {x, w}, {{"auto_pad", std::string("SAME_LOWER")}}), {1, 1, 3},
                  {10, 21, 32});
  expect_elements(output_of(Op::Conv, {x, w}, {{"auto_pad", std::string("VALID")}}), {1, 1, 2}, {21, 32});
}

TEST(Conv, KeepsNan) {
  const ir::Tensor y = output_of(Op::Conv, {floats({1, 1, 3}, {1, k_nan, 3}), floats({1, 1, 1}, {2})});
  expect_elements(y, {1, 1, 3}, {2, k_nan, 6});
}

TEST(Conv, Refusals) {
  const ir::Tensor x = filled({1, 4, 5, 5}, 1);
  const ir::Tensor w = filled({2, 4, 3, 3}, 1);
  EXPECT_EQ(refusal(Op::Conv, {x}), "missing_input");
  EXPECT_EQ(refusal(Op::Conv, {x, filled({2, 3, 3, 3}, 1)}), "bad_weight");
  EXPECT_EQ(refusal(Op::Conv, {x, filled({3, 2, 3, 3}, 1)}, {{"group", int64_t{2}}}), "bad_weight");
  EXPECT_EQ(refusal(Op::Conv, {x, filled({2, 4, 3}, 1)}), "bad_rank");
  EXPECT_EQ(refusal(Op::Conv, {x, ints({2, 4, 1, 1}, Ints(8, 1))}), "unsupported_type");
  EXPECT_EQ(refusal(Op::Conv, {x, w, filled({3}, 1)}), "bad_bias");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"group", int64_t{0}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"strides", Ints{0, 1}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"strides", Ints{1}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"dilations", Ints{1, -1}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"pads", Ints{-1, 0, 0, 0}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"pads", Ints{0, int64_t{1} << 60, 0, 0}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"pads", Ints{60000, 60000, 60000, 60000}}}), "too_large");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"kernel_shape", Ints{3, 1}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"auto_pad", std::string("SAME")}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Conv, {x, w}, {{"dilations", Ints{3, 3}}}), "window_too_large");
}

TEST(ConvTranspose, HandComputed) {
  const ir::Tensor x = counting({1, 1, 2, 2}, 1);
  const ir::Tensor w = floats({1, 1, 2, 2}, {1, 2, 3, 4});
  expect_elements(output_of(Op::ConvTranspose, {x, w, floats({1}, {100})}), {1, 1, 3, 3},
                  {101, 104, 104, 106, 120, 116, 109, 124, 116});
  expect_elements(output_of(Op::ConvTranspose, {x, w}, {{"strides", Ints{2, 2}}, {"pads", Ints{1, 0, 0, 1}}}),
                  {1, 1, 3, 3}, {3, 4, 6, 3, 6, 4, 9, 12, 12});
}

TEST(ConvTranspose, GroupsAndOutputExtents) {
  const ir::Tensor x = floats({1, 2, 2}, {1, 2, 3, 4});
  const ir::Tensor w = floats({2, 2, 1}, {1, 10, 100, 1000});
  expect_elements(output_of(Op::ConvTranspose, {x, w}, {{"group", int64_t{2}}}), {1, 4, 2},
                  {1, 2, 10, 20, 300, 400, 3000, 4000});
  const ir::Tensor one = floats({1, 1, 2}, {1, 2});
  const ir::Tensor kernel = floats({1, 1, 3}, {1, 10, 100});
  const AttributeList padded{{"strides", Ints{2}}, {"output_padding", Ints{1}}};
  expect_elements(output_of(Op::ConvTranspose, {one, kernel}, padded), {1, 1, 6}, {1, 10, 102, 20, 200, 0});
  const AttributeList shaped{{"strides", Ints{2}}, {"output_shape", Ints{4}}};
  expect_elements(output_of(Op::ConvTranspose, {one, kernel}, shaped), {1, 1, 4}, {10, 102, 20, 200});
  const AttributeList same{{"strides", Ints{2}}, {"auto_pad", std::string("SAME_UPPER")}};
  expect_elements(output_of(Op::ConvTranspose, {one, kernel}, same), {1, 1, 4}, {1, 10, 102, 20});
}

TEST(ConvTranspose, Refusals) {
  const ir::Tensor x = filled({1, 4, 5, 5}, 1);
  EXPECT_EQ(refusal(Op::ConvTranspose, {x, filled({3, 2, 3, 3}, 1)}), "bad_weight");
  EXPECT_EQ(refusal(Op::ConvTranspose, {x, filled({4, 2, 3, 3}, 1)}, {{"group", int64_t{3}}}), "bad_weight");
  EXPECT_EQ(refusal(Op::ConvTranspose, {x, filled({4, 2, 3, 3}, 1), filled({4}, 1)}), "bad_bias");
  EXPECT_EQ(refusal(Op::ConvTranspose, {x, filled({4, 2, 1, 1}, 1)}, {{"pads", Ints{3, 3, 3, 3}}}),
            "bad_extent");
  EXPECT_EQ(refusal(Op::ConvTranspose, {x, filled({4, 2, 1, 1}, 1)}, {{"output_shape", Ints{9}}}),
            "bad_attribute");
}

}  // namespace
}  // namespace onepass::ops::testing
