// SPDX-License-Identifier: Apache-2.0
//
// The elementary functions by themselves; activation_test.cpp holds them to the bounds of activations.def.
#include "kernels/vector_math.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

struct Function {
  const char* name;
  loops::Value (*build)(loops::Value);
  double (*exact)(double);
  double ulp;  ///< measured maximum, rounded up
};

const Function k_functions[] = {
    {"exp", exp, [](double x) { return std::exp(x); }, 1},
    {"expm1", expm1, [](double x) { return std::expm1(x); }, 1.5},
    {"log", log, [](double x) { return std::log(x); }, 1},
    {"tanh", tanh, [](double x) { return std::tanh(x); }, 3},
    {"erf", erf, [](double x) { return std::erf(x); }, 1.5},
    {"log1p_of_exp", log1p_of_exp, [](double x) { return x > 700 ? x : std::log1p(std::exp(x)); }, 3},
    {"normal_cdf", normal_cdf, [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }, 8},
};

loops::LoopNest nest_of(const Function& function, int64_t count, int lanes) {
  loops::Builder b("f");
  const loops::BufferId src = b.input("src", count);
  const loops::BufferId dst = b.output("dst", count);
  const int64_t whole = count / lanes * lanes;
  b.loop("i", 0, whole, lanes,
         [&](loops::Affine i) { b.store(dst, i, function.build(b.load(src, i, lanes))); });
  const int tail = static_cast<int>(count - whole);
  if (tail > 0) b.store(dst, whole, function.build(b.load(src, whole, lanes, tail)), tail);
  return b.finish();
}

void expect_within(const Function& function, std::span<const float> x, std::span<const float> y) {
  double worst = 0;
  size_t at = 0;
  for (size_t i = 0; i < x.size(); ++i)
    if (const double ulp = ulp_distance(function.exact(x[i]), y[i]); !(ulp <= worst)) {
      worst = ulp;
      at = i;
    }
  EXPECT_LE(worst, function.ulp) << function.name << " at " << x[at] << ": " << y[at];
}

void expect_functions(const std::vector<float>& x, bool interpret) {
  std::vector<Case> cases;
  for (const Function& function : k_functions)
    cases.push_back({function.name,
                     nest_of(function, static_cast<int64_t>(x.size()), 16),
                     {x, nan_values(static_cast<int64_t>(x.size()))},
                     [&](const Operands& after) { expect_within(function, x, after[1].values); },
                     interpret});
  run_cases(std::move(cases));
}

}  // namespace

TEST(VectorMath, a_million_floats_of_all_exponents) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 4297)
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  EXPECT_GT(x.size(), 990'000);
  expect_functions(x, false);
}

TEST(VectorMath, the_range_where_the_functions_bend) {
  for (double limit : {1.2, 16.0, 110.0}) {
    const std::vector<float> x = random_values(200'000, 11, -limit, limit);
    expect_functions(x, false);
  }
}

TEST(VectorMath, values_at_the_ends) {
  std::vector<float> x{0.0f, -0.0f, k_infinity, -k_infinity, k_nan, 1.0f, -1.0f};
  for (float at :
       {88.7228f, 88.72284f, -87.3366f, -103.972f, -103.9721f, -104.0f, 127.0f, 128.0f, 9.01f, 10.0f, 4.0f,
        14.5f, 1e-45f, 1.1754942e-38f, 1.17549435e-38f, 3.4028235e38f, 0.70710677f, 0.70710678f, 1.4142135f})
    x.insert(x.end(), {at, -at});
  expect_functions(x, true);
}

TEST(VectorMath, special_results) {
  struct Point {
    loops::Value (*function)(loops::Value);
    float x, y;
  };
  const Point points[] = {{exp, 88.73f, k_infinity},      {exp, -100.0f, 0x1p-149f * 27},
                          {exp, -104.0f, 0.0f},           {log, 0.0f, -k_infinity},
                          {log, -0.0f, -k_infinity},      {log, -1.0f, k_nan},
                          {log, -k_infinity, k_nan},      {tanh, -0.0f, -0.0f},
                          {tanh, k_infinity, 1.0f},       {erf, -0.0f, -0.0f},
                          {expm1, -k_infinity, -1.0f},    {normal_cdf, -k_infinity, 0.0f},
                          {log1p_of_exp, -k_infinity, 0}, {log1p_of_exp, 100.0f, 100.0f}};
  std::vector<Case> cases;
  for (const Point& point : points)
    cases.push_back({"special",
                     nest_of({"f", point.function, nullptr, 0}, 1, 8),
                     {std::vector<float>{point.x}, nan_values(1)},
                     [point](const Operands& after) {
                       expect_same_bits(std::vector<float>{point.y}, after[1].values,
                                        "at " + std::to_string(point.x));
                     }});
  run_cases(std::move(cases));
}

}  // namespace onepass::kernels::test
