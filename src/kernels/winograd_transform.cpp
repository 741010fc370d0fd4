// SPDX-License-Identifier: Apache-2.0
#include "kernels/winograd_transform.h"

#include <cmath>

#include "loops/builder.h"

namespace onepass::kernels {

namespace {

using loops::Binary;
using loops::Value;

Value constant_like(const Value& x, double value) {
  return loops::constant(value, x->type.lanes);
}
Value add(const Value& a, const Value& b) {
  return loops::binary(Binary::add, a, b);
}
Value sub(const Value& a, const Value& b) {
  return loops::binary(Binary::sub, a, b);
}
/// factor * a + c
Value scaled(double factor, const Value& a, const Value& c) {
  return loops::fma(a, constant_like(a, factor), c);
}
Value scaled(double factor, const Value& a) {
  return loops::binary(Binary::mul, a, constant_like(a, factor));
}

double squared(double x) {
  return x * x;
}

/// Coefficients of the product of (x^2 - p^2) over all points but `skip`: entry k belongs to x^(2k).
std::vector<double> even_polynomial(const std::vector<double>& points, size_t skip) {
  std::vector<double> coefficients = {1};
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == skip) continue;
    std::vector<double> next(coefficients.size() + 1, 0);
    for (size_t k = 0; k < coefficients.size(); ++k) {
      next[k] -= squared(points[i]) * coefficients[k];
      next[k + 1] += coefficients[k];
    }
    coefficients = std::move(next);
  }
  return coefficients;
}

/// sum of coefficients[k] * d[first + 2 k]; the last coefficient is 1.
Value dot(const std::vector<double>& coefficients, const std::vector<Value>& d, size_t first) {
  Value sum = d[first + 2 * (coefficients.size() - 1)];
  for (size_t k = coefficients.size() - 1; k-- > 0;) {
    const Value& term = d[first + 2 * k];
    sum = coefficients[k] == 1    ? add(sum, term)
          : coefficients[k] == -1 ? sub(sum, term)
                                  : scaled(coefficients[k], term, sum);
  }
  return sum;
}

/// even + p * odd and even - p * odd.
void push_pair(std::vector<Value>& rows, double p, const Value& even, const Value& odd) {
  rows.push_back(p == 1 ? add(even, odd) : scaled(p, odd, even));
  rows.push_back(p == 1 ? sub(even, odd) : scaled(-p, odd, even));
}

}  // namespace

std::vector<std::array<double, 3>> WinogradTransform::filter_rows() const {
  const size_t none = points.size();
  std::vector<std::array<double, 3>> rows = {{1 / even_polynomial(points, none)[0], 0, 0}};
  for (size_t i = 0; i < points.size(); ++i) {
    double distance = 2 * squared(points[i]);  // to 0 and to the negative point
    for (size_t j = 0; j < points.size(); ++j)
      if (j != i) distance *= squared(points[i]) - squared(points[j]);
    for (double p : {points[i], -points[i]})
      rows.push_back({1 / distance, p / distance, squared(p) / distance});
  }
  rows.push_back({0, 0, 1});
  return rows;
}

std::vector<Value> WinogradTransform::input(const std::vector<Value>& d) const {
  const std::vector<double> all = even_polynomial(points, points.size());
  std::vector<Value> rows = {dot(all, d, 0)};
  for (size_t i = 0; i < points.size(); ++i) {
    const std::vector<double> others = even_polynomial(points, i);
    push_pair(rows, points[i], dot(others, d, 2), dot(others, d, 1));
  }
  rows.push_back(dot(all, d, 1));
  return rows;
}

std::vector<Value> WinogradTransform::output(const std::vector<Value>& x) const {
  std::vector<Value> sums, differences;
  for (size_t i = 0; i < points.size(); ++i) {
    sums.push_back(add(x[1 + 2 * i], x[2 + 2 * i]));
    differences.push_back(sub(x[1 + 2 * i], x[2 + 2 * i]));
  }
  std::vector<Value> rows;
  for (int64_t power = 0; power < m(); ++power) {
    const std::vector<Value>& terms = power % 2 == 0 ? sums : differences;
    Value row = power == 0 ? x.front() : power == m() - 1 ? x.back() : nullptr;
    for (size_t i = 0; i < points.size(); ++i) {
      const double factor = std::pow(points[i], static_cast<double>(power));
      if (row == nullptr) {
        row = factor == 1 ? terms[i] : scaled(factor, terms[i]);
      } else {
        row = factor == 1 ? add(row, terms[i]) : scaled(factor, terms[i], row);
      }
    }
    rows.push_back(row);
  }
  return rows;
}

const WinogradTransform& winograd_f4() {
  static const WinogradTransform transform{{std::sqrt(0.5), std::sqrt(2.0)}};
  return transform;
}

const WinogradTransform& winograd_f2() {
  static const WinogradTransform transform{{1.0}};
  return transform;
}

std::vector<double> transform_filter(const WinogradTransform& transform, const float* filter) {
  const std::vector<std::array<double, 3>> rows = transform.filter_rows();
  std::vector<double> result;
  for (const auto& a : rows)
    for (const auto& b : rows) {
      double sum = 0;
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 3; ++x) sum += a[y] * b[x] * static_cast<double>(filter[3 * y + x]);
      result.push_back(sum);
    }
  return result;
}

}  // namespace onepass::kernels
