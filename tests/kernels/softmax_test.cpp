// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "base/diagnostic.h"
#include "kernels/pointwise.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

/// [outer, extent, inner], softmax over the second.
struct Shape {
  int64_t outer, extent, inner;
  int64_t elems() const { return outer * extent * inner; }
};

SoftmaxSpec spec_of(const Shape& shape, bool log) {
  const FeatureMap map = plain_map(shape.outer, shape.extent, 1, shape.inner);
  return {map, map, log};
}

/// In double, from the definition.
std::vector<double> exact(const Shape& shape, std::span<const float> x, bool log) {
  std::vector<double> result(x.size());
  for (int64_t line = 0; line < shape.outer * shape.inner; ++line) {
    const int64_t first = line / shape.inner * shape.extent * shape.inner + line % shape.inner;
    double greatest = x[first], sum = 0;
    for (int64_t i = 1; i < shape.extent; ++i)
      greatest = std::max(greatest, double{x[first + i * shape.inner]});
    for (int64_t i = 0; i < shape.extent; ++i) sum += std::exp(x[first + i * shape.inner] - greatest);
    for (int64_t i = 0; i < shape.extent; ++i) {
      const double shifted = x[first + i * shape.inner] - greatest;
      result[first + i * shape.inner] = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
  return result;
}

/// How far a result may be off: exp and the sum by a few ulp, and x - greatest by half an ulp of itself,
/// which is what the logarithm of the result tells.
double allowed(double exact, bool log) {
  constexpr double k_tiny = 1e-37;  // exp may be zero there
  if (log) return 1e-6 * std::max(1.0, std::abs(exact));
  return exact == 0 ? k_tiny : (6e-7 + 6e-8 * std::abs(std::log(exact))) * exact + k_tiny;
}

void expect_close(std::span<const double> expected, std::span<const float> actual, bool log,
                  const std::string& label) {
  ASSERT_EQ(expected.size(), actual.size()) << label;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (std::isnan(expected[i]) || std::isinf(static_cast<float>(expected[i]))) {
      const float special = static_cast<float>(expected[i]);
      expect_same_bits({&special, 1}, actual.subspan(i, 1), label);
    } else {
      ASSERT_LE(std::abs(expected[i] - actual[i]), allowed(expected[i], log))
          << label << " at " << i << ": " << actual[i] << " for " << expected[i];
    }
  }
}

Case softmax_case(const Shape& shape, bool log, std::vector<float> x, const targets::Target& target) {
  const std::string label = std::to_string(shape.outer) + "x" + std::to_string(shape.extent) + "x" +
                            std::to_string(shape.inner) + (log ? " log" : "") + " " + target.name;
  const std::vector<double> expected = exact(shape, x, log);
  return {label,
          softmax("f", spec_of(shape, log), target),
          {std::move(x), nan_values(shape.elems())},
          [=](const Operands& after) { expect_close(expected, after[1].values, log, label); }};
}

}  // namespace

TEST(Softmax, extents_and_strides) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (bool log : {false, true}) {
      for (int64_t extent : {1, 2, 16, 17})
        for (int64_t inner : {1, 3, 400}) {
          const Shape shape{2, extent, inner};
          cases.push_back(softmax_case(shape, log, random_values(shape.elems(), 1, -9, 9), target));
        }
      for (const Shape& shape : {Shape{1, 1000, 1}, Shape{1, 1000, 3}, Shape{1, 130, 17}, Shape{67, 2, 1},
                                 Shape{16, 8, 1}, Shape{19, 9, 1}, Shape{700, 6, 1}, Shape{3, 64, 1}})
        cases.push_back(softmax_case(shape, log, random_values(shape.elems(), 2, -30, 30), target));
    }
  run_cases(std::move(cases));
}

TEST(Softmax, work_is_shared) {
  const targets::Target& target = targets::all().front();
  EXPECT_GT(softmax("f", spec_of({1, 16, 8400}, false), target).slices, 4);
  EXPECT_GT(softmax("f", spec_of({8400, 4, 1}, false), target).slices, 1);
  EXPECT_GT(softmax("f", spec_of({100, 1000, 1}, false), target).slices, 4);
  EXPECT_EQ(softmax("f", spec_of({1, 1000, 1}, false), target).slices, 1);
}

TEST(Softmax, infinities_and_nans) {
  const std::vector<std::array<float, 3>> lines = {
      {1, -k_infinity, 2},     {-k_infinity, -k_infinity, -k_infinity},
      {k_infinity, 0, 1},      {k_nan, 0, 1},
      {0, 1, k_nan},           {3e38F, -3e38F, 0},
      {-100, 0, -87.5F},       {-0.0F, 0, -0.0F},
      {k_infinity, k_nan, 1},  {1, 2, 3},
      {-3e38F, -3e38F, -3e38F}};
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (bool log : {false, true})
      for (int64_t inner : {1, 5}) {
        const Shape shape{static_cast<int64_t>(lines.size()), 3, inner};
        std::vector<float> x = random_values(shape.elems(), 3);
        for (int64_t outer = 0; outer < shape.outer; ++outer)
          for (int64_t i = 0; i < 3; ++i) x[(outer * 3 + i) * inner + inner / 2] = lines[outer][i];
        cases.push_back(softmax_case(shape, log, std::move(x), target));
      }
  run_cases(std::move(cases));
}

TEST(Softmax, long_lines_with_a_nan) {
  constexpr Shape k_shape{4, 100, 1};
  std::vector<float> x = random_values(k_shape.elems(), 4);
  for (int64_t at : {100 + 0, 200 + 40, 300 + 99}) x[at] = k_nan;
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    cases.push_back(softmax_case(k_shape, false, x, target));
  run_cases(std::move(cases));
}

TEST(Softmax, in_place) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (bool log : {false, true})
      for (const Shape& shape : {Shape{1, 16, 70}, Shape{2, 100, 1}, Shape{40, 3, 1}}) {
        Case test = softmax_case(shape, log, random_values(shape.elems(), 5, -5, 5), target);
        test.operands[1].same_memory_as = 0;
        cases.push_back(std::move(test));
      }
  run_cases(std::move(cases));
}

TEST(Softmax, maps_with_gaps_are_refused) {
  const targets::Target& target = targets::all().front();
  const FeatureMap gaps = plain_map(1, 4, 1, 5, {0, 1, 0, 1});
  EXPECT_THROW(softmax("f", {gaps, gaps}, target), InternalError);
  EXPECT_THROW(softmax("f", {plain_map(1, 4, 1, 5), plain_map(1, 4, 1, 6)}, target), InternalError);
}

TEST(Softmax, estimate) {
  const Estimate estimate = estimate_softmax(spec_of({2, 3, 5}, false));
  EXPECT_EQ(estimate.bytes_read, 30 * 4);
  EXPECT_EQ(estimate.bytes_written, 30 * 4);
  EXPECT_GE(estimate.pointwise_flops, 30 * 20);
}

}  // namespace onepass::kernels::test
