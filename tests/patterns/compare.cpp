// SPDX-License-Identifier: Apache-2.0
#include "patterns/compare.h"

#include <fmt/format.h>

#include <cmath>

#include "ir/random_tensor.h"

namespace onepass::test {

namespace {

double largest_magnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values)
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  return largest;
}

bool same(double expected, double actual, double allowed) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual);
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(expected - actual) <= allowed;
}

}  // namespace

std::vector<ir::Tensor> random_inputs(const ir::Graph& graph, uint64_t seed) {
  std::vector<ir::Tensor> inputs;
  for (const ir::ValueId id : graph.inputs()) {
    const ir::TensorType& type = graph.value(id).type;
    const bool is_float = type.dtype == ir::DType::f32 || type.dtype == ir::DType::f64;
    inputs.push_back(ir::random_tensor(type.dtype, type.dims, seed++, is_float ? -2 : 0, is_float ? 2 : 3));
  }
  return inputs;
}

std::string difference(const ir::Tensor& expected, const ir::Tensor& actual, double tolerance) {
  if (expected.type() != actual.type())
    return fmt::format("expected {}, got {}", to_string(expected.type()), to_string(actual.type()));
  const std::vector<double> a = expected.to_doubles(), b = actual.to_doubles();
  const double allowed = tolerance * largest_magnitude(a);
  for (size_t i = 0; i < a.size(); ++i)
    if (!same(a[i], b[i], allowed)) return fmt::format("element {}: expected {}, got {}", i, a[i], b[i]);
  return "";
}

}  // namespace onepass::test
