// SPDX-License-Identifier: Apache-2.0
#include "ops/ops_testing.h"

namespace onepass::ops::testing {
namespace {

using ir::Op;

struct Case {
  Op op;
  std::vector<float> src, dst;
  std::vector<std::pair<const char*, ir::Attribute>> attributes = {};
};

/// Values from the formulas of the standard, computed with more digits than float holds.
std::vector<Case> cases() {
  return {
      {Op::Relu, {-2, 0, 3}, {0, 0, 3}},
      {Op::LeakyRelu, {-2, 0, 3}, {-0.02F, 0, 3}},
      {Op::LeakyRelu, {-2, 3}, {-0.5F, 3}, {{"alpha", 0.25}}},
      {Op::ThresholdedRelu, {0.5, 1, 1.5}, {0, 0, 1.5}},
      {Op::ThresholdedRelu, {-1, -0.25}, {0, -0.25}, {{"alpha", -0.5}}},
      {Op::Sigmoid, {-200, -1, 0, 2}, {0, 0.268941421F, 0.5, 0.880797078F}},
      {Op::HardSigmoid, {-3, -1, 0, 1, 3}, {0, 0.3F, 0.5F, 0.7F, 1}},
      {Op::HardSigmoid, {-1, 1}, {0.25, 0.75}, {{"alpha", 0.25}}},
      {Op::HardSwish, {-4, -1, 0, 1, 4}, {0, -1.0F / 3, 0, 2.0F / 3, 4}},
      {Op::Swish, {-1, 0, 2}, {-0.268941421F, 0, 1.761594156F}},
      {Op::Swish, {1}, {0.880797078F}, {{"alpha", 2.0}}},
      {Op::Tanh, {-1, 0, 20}, {-0.761594156F, 0, 1}},
      {Op::Elu, {-1, 0, 2}, {-0.632120559F, 0, 2}},
      {Op::Elu, {-1}, {-1.264241118F}, {{"alpha", 2.0}}},
      {Op::Celu, {-2, 0, 3}, {-1.264241118F, 0, 3}, {{"alpha", 2.0}}},
      {Op::Selu, {-1, 0, 2}, {-1.111330737F, 0, 2.101402044F}},
      {Op::Gelu, {-1, 0, 2}, {-0.158655254F, 0, 1.954499736F}},
      {Op::Gelu, {-1, 0, 2}, {-0.158808009F, 0, 1.954597694F}, {{"approximate", std::string("tanh")}}},
      {Op::Mish, {-1, 0, 2, 100}, {-0.303401461F, 0, 1.943958926F, 100}},
      {Op::Softplus, {-1, 0, 100}, {0.313261688F, 0.693147181F, 100}},
      {Op::Softsign, {-3, 0, 1}, {-0.75F, 0, 0.5F}},
      {Op::Exp, {-1, 0, 1}, {0.367879441F, 1, 2.718281828F}},
      {Op::Log, {0, 1, 2}, {-k_infinity, 0, 0.693147181F}},
      {Op::Erf, {-1, 0, 0.5}, {-0.842700793F, 0, 0.520499878F}},
      {Op::Sqrt, {0, 4, -1}, {0, 2, k_nan}},
      {Op::Abs, {-2, 0, 3}, {2, 0, 3}},
      {Op::Neg, {-2, 0, 3}, {2, 0, -3}},
      {Op::Reciprocal, {-2, 0, 4}, {-0.5, k_infinity, 0.25}},
      {Op::Floor, {-1.5, 0.5, 2}, {-2, 0, 2}},
      {Op::Ceil, {-1.5, 0.5, 2}, {-1, 1, 2}},
      {Op::Round, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4F, 2.6F, -7}, {-2, -2, 0, 0, 2, 2, 2, 3, -7}},
  };
}

TEST(Activations, HandComputed) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(ir::name(c.op));
    ir::Node node = node_of(c.op);
    for (const auto& [name, value] : c.attributes) node.attributes.set(name, value);
    const ir::Shape shape{static_cast<int64_t>(c.src.size())};
    expect_elements(outputs_of(node, {floats(shape, c.src)})[0], shape, c.dst);
  }
}

TEST(Activations, EveryOperatorKeepsNanUnlessItsFormulaSaysOtherwise) {
  for (Op op : {
#define ONEPASS_ACTIVATION(op, ...) Op::op,
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
       }) {
    const float y = output_of(op, {floats({1}, {k_nan})}).data<float>()[0];
    if (op == Op::ThresholdedRelu)
      EXPECT_EQ(y, 0);
    else
      EXPECT_TRUE(std::isnan(y)) << ir::name(op);
  }
}

TEST(Relu, B073KeepsNan) {
  expect_elements(output_of(Op::Relu, {floats({5}, {k_nan, -1, 0, 1, k_infinity})}), {5},
                  {k_nan, 0, 0, 1, k_infinity});
}

TEST(Clip, B070EmptyLowerBound) {
  expect_elements(output_of(Op::Clip, {floats({3}, {-9, 5, 7}), {}, floats({}, {6})}), {3}, {-9, 5, 6});
  expect_elements(output_of(Op::Clip, {floats({3}, {-9, 5, 7}), floats({}, {0})}), {3}, {0, 5, 7});
  expect_elements(output_of(Op::Clip, {floats({2}, {-9, 5})}), {2}, {-9, 5});
}

TEST(Clip, B071LowAboveHighGivesHigh) {
  expect_elements(output_of(Op::Clip, {floats({3}, {-9, 1.5, 7}), floats({}, {2}), floats({}, {1})}), {3},
                  {1, 1, 1});
}

TEST(Clip, B074KeepsNanAtEveryPosition) {
  std::vector<float> src(13, 9);
  std::vector<float> dst(13, 6);
  src[0] = src[7] = src[12] = dst[0] = dst[7] = dst[12] = k_nan;
  expect_elements(output_of(Op::Clip, {floats({13}, src), floats({}, {0}), floats({}, {6})}), {13}, dst);
}

TEST(Clip, IntegersAndRefusals) {
  const ir::Tensor clipped = output_of(Op::Clip, {ints({3}, {-5, 2, 9}), ints({}, {0}), ints({}, {4})});
  EXPECT_EQ(values<int64_t>(clipped), (Ints{0, 2, 4}));
  EXPECT_EQ(refusal(Op::Clip, {floats({1}, {1}), floats({2}, {1, 2})}), "bad_bound");
  EXPECT_EQ(refusal(Op::Clip, {floats({1}, {1}), ints({}, {1})}), "unsupported_type");
}

TEST(Activations, IntegersWhereTheStandardHasThem) {
  EXPECT_EQ(values<int64_t>(output_of(Op::Neg, {ints({2}, {-5, 7})})), (Ints{5, -7}));
  EXPECT_EQ(values<int64_t>(output_of(Op::Abs, {ints({2}, {-5, 7})})), (Ints{5, 7}));
  const int64_t smallest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(values<int64_t>(
                evaluate(node_of(Op::Abs), {&static_cast<const ir::Tensor&>(ints({1}, {smallest}))})[0]),
            (Ints{smallest}));
  EXPECT_EQ(refusal(Op::Exp, {ints({1}, {1})}), "unsupported_type");
  EXPECT_EQ(refusal(Op::Abs, {bools({1}, {true})}), "unsupported_type");
  EXPECT_EQ(refusal(Op::Gelu, {floats({1}, {1})}, {{"approximate", std::string("fast")}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Celu, {floats({1}, {1})}, {{"alpha", 0.0}}), "bad_attribute");
  EXPECT_EQ(refusal(Op::Relu, {{}}), "missing_input");
}

TEST(Round, KeepsTheSignOfZeroAndLargeValues) {
  const ir::Tensor y = output_of(Op::Round, {floats({3}, {-0.5, 1e30F, -k_infinity})});
  EXPECT_TRUE(std::signbit(y.data<float>()[0]));
  expect_elements(y, {3}, {0, 1e30F, -k_infinity});
}

}  // namespace
}  // namespace onepass::ops::testing
