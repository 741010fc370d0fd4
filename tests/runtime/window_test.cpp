// SPDX-License-Identifier: Apache-2.0
#include "runtime/routine_cases.h"

namespace onepass::test {
namespace {

std::string conv(const std::string& src, const std::string& weight, const std::string& attributes,
                 int64_t bias = 0, const std::string& op = "Conv") {
  std::string types = src + " " + weight;
  if (bias > 0) types += " f32[" + std::to_string(bias) + "]";
  return one_node(types, op + (bias > 0 ? "(x0, x1, x2) {" : "(x0, x1) {") + attributes + "}");
}

TEST(Window, Conv) {
  expect_cases(
      {{conv("f32[2,3,7,9]", "f32[4,3,3,3]", "pads=[1,1,1,1]", 4)},
       {conv("f32[1,4,8,8]", "f32[6,2,3,2]", "group=2, strides=[2,3], pads=[0,1,2,0], dilations=[2,1]", 6)},
       {conv("f32[1,5,11,6]", "f32[5,1,5,5]", "group=5, auto_pad=\"SAME_UPPER\", strides=[2,2]")},
       {conv("f32[1,5,11,6]", "f32[5,1,4,4]", "group=5, auto_pad=\"SAME_LOWER\", strides=[1,2]")},
       {conv("f32[1,2,9]", "f32[3,2,4]", "dilations=[2], pads=[3,0]", 3)},
       {conv("f32[2,2,4,5,6]", "f32[3,2,2,3,3]", "pads=[1,0,1,0,1,1], strides=[1,2,1]", 3)},
       {conv("f32[1,2,2,2]", "f32[1,2,3,3]", "pads=[4,4,4,4]")},
       {conv("f32[1,8,40,40]", "f32[8,8,1,1]", "", 8)}});
}

TEST(Window, ConvTranspose) {
  const auto transposed = [](const char* src, const char* weight, const char* attributes, int64_t bias = 0) {
    return conv(src, weight, attributes, bias, "ConvTranspose");
  };
  expect_cases(
      {{transposed("f32[2,3,4,5]", "f32[3,4,3,3]", "strides=[2,2], pads=[1,1,1,1], output_padding=[1,1]", 4)},
       {transposed("f32[1,4,3,3]", "f32[4,3,2,3]", "group=2, dilations=[2,1], strides=[3,1]", 6)},
       {transposed("f32[1,2,3,3]", "f32[2,2,4,4]", "auto_pad=\"SAME_UPPER\", strides=[2,3]")},
       {transposed("f32[1,2,3,3]", "f32[2,2,3,3]", "auto_pad=\"SAME_LOWER\", strides=[2,2]")},
       {transposed("f32[1,2,3,3]", "f32[2,1,3,3]", "strides=[2,2], output_shape=[8,6]")},
       {transposed("f32[1,2,5]", "f32[2,3,4]", "strides=[2], pads=[1,2]", 3)},
       {transposed("f32[1,2,3,4,2]", "f32[2,3,2,2,3]", "strides=[2,1,2]", 3)}});
}

TEST(Window, MaxPool) {
  expect_cases(
      {{one_node("f32[2,3,7,9]", "MaxPool(x0) {kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]}")},
       {one_node("f32[1,2,7,9]",
                 "MaxPool(x0) {kernel_shape=[3,2], strides=[2,2], ceil_mode=1, dilations=[2,1]}")},
       {one_node("f32[1,2,7,9]", "MaxPool(x0) {kernel_shape=[2,2], pads=[1,0,0,1]}", "", "y,i")},
       {one_node("f32[1,2,5,6]", "MaxPool(x0) {kernel_shape=[2,2], storage_order=1}", "", "y,i")},
       {one_node("i8[1,2,8]", "MaxPool(x0) {kernel_shape=[3], strides=[2]}"), 0, -99, 99},
       {one_node("u8[1,2,6,6]", "MaxPool(x0) {kernel_shape=[3,3], auto_pad=\"SAME_UPPER\"}"), 0, 0, 99},
       {one_node("f32[1,2,4,5,6]", "MaxPool(x0) {kernel_shape=[2,2,2], pads=[1,0,1,0,1,0]}", "", "y,i")},
       {one_node("f32[1,1,9,9]", "MaxPool(x0) {kernel_shape=[2,2]}"), 0, -2, 2, true}});
}

TEST(Window, AveragePool) {
  expect_cases(
      {{one_node("f32[2,3,7,9]", "AveragePool(x0) {kernel_shape=[3,3], strides=[2,2], pads=[1,1,1,1]}")},
       {one_node("f32[2,3,7,9]",
                 "AveragePool(x0) {kernel_shape=[3,3], pads=[1,1,1,1], count_include_pad=1}")},
       {one_node("f32[1,2,7,8]",
                 "AveragePool(x0) {kernel_shape=[3,3], strides=[2,2], pads=[1,0,0,1], ceil_mode=1, "
                 "count_include_pad=1}")},
       {one_node("f32[1,2,8]", "AveragePool(x0) {kernel_shape=[3], dilations=[2], pads=[1,1]}")},
       {one_node("f32[1,2,5,5]",
                 "AveragePool(x0) {kernel_shape=[4,4], auto_pad=\"SAME_LOWER\", strides=[2,2]}")},
       {one_node("f32[1,2,4,5,6]", "AveragePool(x0) {kernel_shape=[2,3,2], strides=[1,2,2]}")}});
}

TEST(Window, MatMul) {
  expect_cases({{one_node("f32[5,7] f32[7,9]", "MatMul(x0, x1)")},
                {one_node("f32[2,3,5,7] f32[3,7,4]", "MatMul(x0, x1)")},
                {one_node("f32[2,1,5,7] f32[3,7,4]", "MatMul(x0, x1)")},
                {one_node("f32[7] f32[3,7,4]", "MatMul(x0, x1)")},
                {one_node("f32[3,5,7] f32[7]", "MatMul(x0, x1)")},
                {one_node("f32[7] f32[7]", "MatMul(x0, x1)")},
                {one_node("f32[90,40] f32[40,70]", "MatMul(x0, x1)")},
                {one_node("f32[2,0] f32[0,3]", "MatMul(x0, x1)")}});
}

TEST(Window, Gemm) {
  expect_cases({{one_node("f32[5,7] f32[7,9] f32[9]", "Gemm(x0, x1, x2)")},
                {one_node("f32[7,5] f32[7,9] f32[5,1]", "Gemm(x0, x1, x2) {transA=1, alpha=0.5, beta=2.0}")},
                {one_node("f32[5,7] f32[29,7] f32[5,29]", "Gemm(x0, x1, x2) {transB=1}")},
                {one_node("f32[7,5] f32[9,7] f32[]", "Gemm(x0, x1, x2) {transA=1, transB=1, beta=0.25}")},
                {one_node("f32[1,256] f32[100,256]", "Gemm(x0, x1) {transB=1}")}});
}

}  // namespace
}  // namespace onepass::test
