// SPDX-License-Identifier: Apache-2.0
#include "verify/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "ops/interpreter.h"

namespace onepass::verify {

namespace {

constexpr double k_infinity = std::numeric_limits<double>::infinity();

bool only_moves(ir::Op op) {
  using ir::Op;
  constexpr Op k_ops[] = {Op::Transpose, Op::Slice, Op::Split, Op::DepthToSpace, Op::SpaceToDepth};
  return std::find(std::begin(k_ops), std::end(k_ops), op) != std::end(k_ops);
}

bool only_renames(ir::Op op) {
  using ir::Op;
  constexpr Op k_ops[] = {Op::Reshape, Op::Flatten, Op::Squeeze, Op::Unsqueeze, Op::Identity, Op::Dropout};
  return std::find(std::begin(k_ops), std::end(k_ops), op) != std::end(k_ops);
}

/// Carries segment numbers, one per element, from Concat operands to a value.
class Labels {
 public:
  explicit Labels(const ir::Graph& graph) : graph_(graph) {}

  /// Nothing where the value is one segment.
  std::optional<ir::Tensor> of(ir::ValueId value);
  int64_t used() const { return next_; }

 private:
  ir::Tensor fresh(ir::ValueId value);
  std::optional<ir::Tensor> concatenated(const ir::Node& node);
  std::optional<ir::Tensor> moved(const ir::Node& node, int output);

  const ir::Graph& graph_;
  int64_t next_ = 0;
};

ir::Tensor Labels::fresh(ir::ValueId value) {
  ir::Tensor labels(ir::DType::i64, graph_.value(value).type.dims);
  std::fill(labels.data<int64_t>().begin(), labels.data<int64_t>().end(), next_++);
  return labels;
}

std::optional<ir::Tensor> Labels::concatenated(const ir::Node& node) {
  std::vector<ir::Tensor> pieces;
  std::vector<const ir::Tensor*> inputs;
  for (const ir::ValueId input : node.inputs) {
    std::optional<ir::Tensor> piece = of(input);
    pieces.push_back(piece ? std::move(*piece) : fresh(input));
  }
  for (const ir::Tensor& piece : pieces) inputs.push_back(&piece);
  return ops::evaluate(node, inputs)[0];
}

std::optional<ir::Tensor> Labels::moved(const ir::Node& node, int output) {
  std::vector<const ir::Tensor*> inputs(node.inputs.size(), nullptr);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.inputs[i].valid()) continue;
    if (!graph_.is_constant(node.inputs[i])) return std::nullopt;
    inputs[i] = &graph_.value(node.inputs[i]).constant;
  }
  const std::optional<ir::Tensor> src = of(node.inputs[0]);
  if (!src) return std::nullopt;
  inputs[0] = &*src;
  return ops::evaluate(node, inputs)[static_cast<size_t>(output)];
}

std::optional<ir::Tensor> Labels::of(ir::ValueId id) {
  const ir::Value& value = graph_.value(id);
  if (!value.producer.valid() || value.type.counted_axis >= 0) return std::nullopt;
  const ir::Node& node = graph_.node(value.producer);
  if (node.op == ir::Op::Concat) return concatenated(node);
  if (only_moves(node.op)) return moved(node, value.output);
  if (!only_renames(node.op) || value.output != 0) return std::nullopt;
  std::optional<ir::Tensor> src = of(node.inputs[0]);
  if (src) src = src->reshaped(value.type.dims);
  return src;
}

/// |a - b| where both are finite; 0 for equals, NaN and NaN included; else infinity.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  return std::isfinite(a) && std::isfinite(b) ? std::fabs(a - b) : k_infinity;
}

template <class A, class B>
double error_of(std::span<const A> a, std::span<const B> b, const Segments& segments) {
  const bool whole = segments.of_element.size() != a.size();
  const size_t count = whole ? 1 : static_cast<size_t>(segments.count);
  std::vector<double> worst(count, 0), scale(count, 1);
  for (size_t i = 0; i < a.size(); ++i) {
    const size_t segment = whole ? 0 : static_cast<size_t>(segments.of_element[i]);
    worst[segment] = std::max(worst[segment], distance(a[i], b[i]));
    if (std::isfinite(b[i])) scale[segment] = std::max(scale[segment], std::fabs(static_cast<double>(b[i])));
  }
  double result = 0;
  for (size_t s = 0; s < count; ++s) result = std::max(result, worst[s] / scale[s]);
  return result;
}

template <class A>
double error_from(std::span<const A> a, const ir::Tensor& b, const Segments& segments) {
  if (b.dtype() == ir::DType::f32) return error_of(a, b.data<float>(), segments);
  return error_of(a, b.data<double>(), segments);
}

bool is_float(ir::DType dtype) {
  return dtype == ir::DType::f32 || dtype == ir::DType::f64;
}

}  // namespace

Segments segments_of(const ir::Graph& graph, ir::ValueId value) {
  Labels labels(graph);
  const std::optional<ir::Tensor> result = labels.of(value);
  if (!result) return {};
  const auto numbers = result->data<int64_t>();
  return {{numbers.begin(), numbers.end()}, static_cast<int32_t>(labels.used())};
}

double error(const ir::Tensor& a, const ir::Tensor& b, const Segments& segments) {
  if (a.shape() != b.shape() || is_float(a.dtype()) != is_float(b.dtype())) return k_infinity;
  if (!is_float(a.dtype())) return a.to_ints() == b.to_ints() ? 0 : k_infinity;
  if (a.dtype() == ir::DType::f32) return error_from(a.data<float>(), b, segments);
  return error_from(a.data<double>(), b, segments);
}

bool holds(const Errors& errors, double tolerance) {
  return errors.reference <= tolerance || (errors.referee <= tolerance && errors.referee < errors.own);
}

bool holds_at_own_accuracy(const Errors& errors, double own) {
  constexpr double k_float_evaluations = 2;
  return std::isfinite(own) && errors.referee <= k_float_evaluations * own;
}

}  // namespace onepass::verify
