// SPDX-License-Identifier: Apache-2.0
//
// Every row of activations.def, as compiled code, against the reference operators in double.
#include "ir/activation.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/pointwise.h"
#include "kernels/support.h"
#include "ops/interpreter.h"

namespace onepass::kernels::test {

namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

struct Row {
  ir::Activation activation;
  std::string label;
};

/// Parameters as the float attributes of a file hold them.
double as_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  const auto add = [&](ir::Op op, double alpha, double beta) {
    rows.push_back(
        {{op, as_float(alpha), as_float(beta)},
         std::string(ir::name(op)) + "(" + std::to_string(alpha) + ", " + std::to_string(beta) + ")"});
  };
#define ONEPASS_ACTIVATION(op, formula, alpha_name, alpha, beta_name, beta, ...) add(ir::Op::op, alpha, beta);
#include "ir/activations.def"
#undef ONEPASS_ACTIVATION
  add(ir::Op::Clip, 0, 6);
  add(ir::Op::Clip, -1.5, k_infinity);
  add(ir::Op::Clip, -k_infinity, 0.25);
  add(ir::Op::Clip, 2, -2);  // low above high: all values are high
  add(ir::Op::Gelu, 1, 0);
  add(ir::Op::LeakyRelu, 0.2, 0);
  add(ir::Op::ThresholdedRelu, -0.5, 0);
  add(ir::Op::HardSigmoid, 1.0 / 6, 0.5);
  add(ir::Op::Swish, 1.702, 0);
  add(ir::Op::Swish, -0.3, 0);
  add(ir::Op::Elu, 0.5, 0);
  add(ir::Op::Celu, 0.7, 0);
  return rows;
}

std::vector<double> evaluate_in_double(const ir::Activation& activation, std::span<const float> x) {
  ir::Node node{.op = activation.op, .name = "f", .outputs = {ir::ValueId{0}}};
  const ir::ActivationInfo& info = ir::activation_info(activation.op);
  if (*info.alpha_name != 0) node.attributes.set(info.alpha_name, activation.alpha);
  if (*info.beta_name != 0) node.attributes.set(info.beta_name, activation.beta);
  const std::vector<double> values(x.begin(), x.end());
  const ir::Tensor src = ir::Tensor::of<double>({static_cast<int64_t>(x.size())}, values);
  const ir::Tensor low = ir::Tensor::scalar(activation.alpha), high = ir::Tensor::scalar(activation.beta);
  std::vector<const ir::Tensor*> inputs{&src};
  if (activation.op == ir::Op::Clip)
    inputs.insert(inputs.end(), {std::isinf(activation.alpha) ? nullptr : &low,
                                 std::isinf(activation.beta) ? nullptr : &high});
  return ops::evaluate(node, inputs, ops::Precision::f64).at(0).to_doubles();
}

/// The reference of Gelu is 1 + erf or 1 + tanh, which loses its digits in the lower tail even in double.
double exact_gelu(double x, bool with_tanh) {
  if (!with_tanh) return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  return x / (1 + std::exp(-std::sqrt(8 / M_PI) * (x + 0.044715 * x * x * x)));
}

std::vector<double> exact_values(const ir::Activation& activation, std::span<const float> x) {
  std::vector<double> values = evaluate_in_double(activation, x);
  if (activation.op == ir::Op::Gelu)
    for (size_t i = 0; i < x.size(); ++i)
      if (!std::isnan(values[i])) values[i] = exact_gelu(x[i], activation.alpha == 1);
  return values;
}

/// NaN, infinities, zeros, denormals, the ends of the normal range, and both sides of every integer to 128.
std::vector<float> special_values() {
  using Limits = std::numeric_limits<float>;
  std::vector<float> values{0.0f, -0.0f, Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()};
  for (float magnitude :
       {Limits::denorm_min(), 1e-40f, Limits::min(), Limits::max(), 1e30f, 1e-30f, 0.5f, 1.5f, 2.5f})
    values.insert(values.end(), {magnitude, -magnitude});
  for (int i = 1; i <= 128; ++i)
    for (float at : {std::nextafter(float(i), 0.0f), float(i), std::nextafter(float(i), 1000.0f)})
      values.insert(values.end(), {at, -at});
  return values;
}

/// Bit patterns of all exponents and signs, then values where functions bend.
std::vector<float> sample_values() {
  std::vector<float> values;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 16411)
    values.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (double limit : {0.5, 4.0, 20.0, 110.0}) {
    const std::vector<float> more = random_values(50'000, 7, -limit, limit);
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

Case activation_case(const Row& row, const std::vector<float>& x, const targets::Target& target,
                     bool interpret, std::function<void(const Operands&)> check) {
  const FeatureMap map = plain_map(1, 1, 1, static_cast<int64_t>(x.size()));
  ElementwiseSpec spec{map, map, {{{.kind = EpilogueStep::Kind::activation, .activation = row.activation}}}};
  return {row.label, elementwise("f", spec, target), {x, empty_map(map)}, std::move(check), interpret};
}

void expect_within_bound(const Row& row, std::span<const float> x, std::span<const float> y) {
  const std::vector<double> exact = exact_values(row.activation, x);
  double worst = 0;
  size_t worst_at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (const double distance = ulp_distance(exact[i], y[i]); !(distance <= worst)) {
      worst = distance;
      worst_at = i;
    }
  const int bound = ir::activation_info(row.activation.op).ulp;
  EXPECT_LE(worst, bound) << row.label << " at " << x[worst_at] << ": " << y[worst_at] << ", exact "
                          << exact[worst_at];
  ::testing::Test::RecordProperty(row.label, std::to_string(worst));
  if (getenv("ONEPASS_SHOW_ULP")) printf("%-40s %6.2f at %g\n", row.label.c_str(), worst, x[worst_at]);
}

}  // namespace

TEST(Activation, special_values_agree_bit_by_bit_and_with_the_reference) {
  const std::vector<float> x = special_values();
  std::vector<Case> cases;
  for (const Row& row : rows())
    cases.push_back(activation_case(row, x, targets::all().front(), true, [&x, row](const Operands& after) {
      expect_within_bound(row, x, after[1].values);
    }));
  run_cases(std::move(cases));
}

TEST(Activation, error_is_within_the_stated_bound) {
  const std::vector<float> x = sample_values();
  std::vector<Case> cases;
  for (const Row& row : rows())
    cases.push_back(activation_case(row, x, targets::find("native"), false, [&x, row](const Operands& after) {
      expect_within_bound(row, x, after[1].values);
    }));
  run_cases(std::move(cases));
}

TEST(Activation, zero_stays_zero_where_the_table_says_so) {
  std::vector<Case> cases;
  for (const Row& row : rows())
    cases.push_back(activation_case(row, {0.0f}, targets::all().front(), true, [row](const Operands& after) {
      EXPECT_EQ(ir::keeps_zero(row.activation), after[1].values[0] == 0.0f) << row.label;
    }));
  run_cases(std::move(cases));
}

}  // namespace onepass::kernels::test
