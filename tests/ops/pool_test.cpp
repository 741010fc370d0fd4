// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::Op;

TEST(MaxPool, HandComputed) {
  const ir::Tensor x = counting({1, 1, 4, 4});
  expect_elements(output_of(Op::MaxPool, {x}, {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
                  {1, 1, 2, 2}, {5, 7, 13, 15});
  expect_elements(output_of(Op::MaxPool, {x}, {{"kernel_shape", Ints{2, 2}}, {"dilations", Ints{3, 2}}}),
                  {1, 1, 1, 2}, {14, 15});
}

TEST(MaxPool, PaddingNeverWins) {
  const AttributeList padded{{"kernel_shape", Ints{3}}, {"pads", Ints{1, 1}}};
  expect_elements(output_of(Op::MaxPool, {floats({1, 1, 3}, {-5, -2, -9})}, padded), {1, 1, 3}, {-2, -2, -2});
}

TEST(MaxPool, CeilModeLeavesOutWindowsThatStartInTheEndPads) {
  const ir::Tensor x = counting({1, 1, 4});
  const AttributeList sticks_out{{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}};
  expect_elements(output_of(Op::MaxPool, {x}, sticks_out), {1, 1, 2}, {2, 3});
  const AttributeList left_out{
      {"kernel_shape", Ints{2}}, {"strides", Ints{3}}, {"pads", Ints{1, 1}}, {"ceil_mode", int64_t{1}}};
  expect_elements(output_of(Op::MaxPool, {counting({1, 1, 5})}, left_out), {1, 1, 2}, {0, 3});
}

TEST(MaxPool, IndicesAreFlatOverTheWholeTensor) {
  const ir::Tensor x = floats({1, 2, 2, 3}, {1, 5, 5, 2, 0, 5, 9, 0, 0, 0, 0, 8});
  const ir::Node rows = node_of(Op::MaxPool, {{"kernel_shape", Ints{2, 2}}}, 2);
  const std::vector<ir::Tensor> by_rows = outputs_of(rows, {x});
  expect_elements(by_rows[0], {1, 2, 1, 2}, {5, 5, 9, 8});
  EXPECT_EQ(values<int64_t>(by_rows[1]), (Ints{1, 1, 6, 11}));
  const ir::Node columns =
      node_of(Op::MaxPool, {{"kernel_shape", Ints{2, 2}}, {"storage_order", int64_t{1}}}, 2);
  EXPECT_EQ(values<int64_t>(outputs_of(columns, {x})[1]), (Ints{2, 2, 6, 11}));
}

TEST(MaxPool, BytesAndNan) {
  const ir::Tensor bytes = tensor<int8_t>({1, 1, 3}, {-7, -128, -9});
  EXPECT_EQ(values<int8_t>(output_of(Op::MaxPool, {bytes}, {{"kernel_shape", Ints{2}}})),
            (std::vector<int8_t>{-7, -9}));
  expect_elements(output_of(Op::MaxPool, {floats({1, 1, 4}, {1, k_nan, 3, 4})}, {{"kernel_shape", Ints{2}}}),
                  {1, 1, 3}, {k_nan, k_nan, 4});
}

TEST(MaxPool, Refusals) {
  const ir::Tensor x = counting({1, 1, 4, 4});
  EXPECT_EQ(refusal(Op::MaxPool, {x}), "missing_attribute");
  EXPECT_EQ(refusal(Op::MaxPool, {x}, {{"kernel_shape", Ints{2}}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::MaxPool, {x}, {{"kernel_shape", Ints{5, 5}}}), "window_too_large");
  EXPECT_EQ(refusal(Op::MaxPool, {x}, {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{2, 0, 0, 0}}}),
            "bad_attribute");
  EXPECT_EQ(refusal(Op::MaxPool, {x}, {{"kernel_shape", Ints{2, 2}}, {"storage_order", int64_t{2}}}),
            "bad_attribute");
  EXPECT_EQ(refusal(Op::MaxPool, {counting({4, 4})}, {{"kernel_shape", Ints{2, 2}}}), "bad_rank");
  EXPECT_EQ(refusal(Op::MaxPool, {x}, {{"kernel_shape", Ints{2, 2}}}, 3), "too_many_outputs");
}

TEST(AveragePool, PadsCountOnlyWhenAsked) {
  const ir::Tensor x = floats({1, 1, 3}, {3, 6, 9});
  expect_elements(output_of(Op::AveragePool, {x}, {{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}}),
                  {1, 1, 4}, {3, 4.5, 7.5, 9});
  const AttributeList include{
      {"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}, {"count_include_pad", int64_t{1}}};
  expect_elements(output_of(Op::AveragePool, {x}, include), {1, 1, 4}, {1.5, 4.5, 7.5, 4.5});
}

TEST(AveragePool, CeilModeCountsWhatLiesInThePaddedMap) {
  const ir::Tensor x = floats({1, 1, 4}, {1, 2, 3, 5});
  const AttributeList exclude{{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}};
  expect_elements(output_of(Op::AveragePool, {x}, exclude), {1, 1, 2}, {2, 4});
  const AttributeList include{{"kernel_shape", Ints{3}},
                              {"strides", Ints{2}},
                              {"ceil_mode", int64_t{1}},
                              {"count_include_pad", int64_t{1}},
                              {"pads", Ints{1, 0}}};
  expect_elements(output_of(Op::AveragePool, {x}, include), {1, 1, 2}, {1, 10.0F / 3});
}

TEST(AveragePool, ThreeAxesAndSame) {
  expect_elements(output_of(Op::AveragePool, {counting({1, 1, 2, 2, 2})}, {{"kernel_shape", Ints{2, 2, 2}}}),
                  {1, 1, 1, 1, 1}, {3.5});
  const AttributeList same{{"kernel_shape", Ints{2}}, {"auto_pad", std::string("SAME_LOWER")}};
  expect_elements(output_of(Op::AveragePool, {floats({1, 1, 3}, {2, 4, 6})}, same), {1, 1, 3}, {2, 3, 5});
}

TEST(GlobalPool, HandComputed) {
  const ir::Tensor x = floats({1, 2, 2, 2}, {1, 2, 3, 4, -1, -2, -3, -8});
  expect_elements(output_of(Op::GlobalAveragePool, {x}), {1, 2, 1, 1}, {2.5, -3.5});
  expect_elements(output_of(Op::GlobalMaxPool, {x}), {1, 2, 1, 1}, {4, -1});
  expect_elements(output_of(Op::GlobalMaxPool, {floats({1, 1, 3}, {1, k_nan, 2})}), {1, 1, 1}, {k_nan});
  EXPECT_EQ(refusal(Op::GlobalAveragePool, {counting({2, 2})}), "bad_rank");
  EXPECT_EQ(refusal(Op::GlobalMaxPool, {ir::Tensor(ir::DType::f32, {1, 2, 0})}), "bad_extent");
}

TEST(GlobalAveragePool, IsExactEnoughOverALargeMap) {
  const ir::Tensor y = output_of(Op::GlobalAveragePool, {filled({1, 1, 640, 640}, 0.1F)});
  EXPECT_NEAR(y.data<float>()[0], 0.1F, 1e-7);
}

}  // namespace
}  // namespace onepass::ops::testing
