// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "ops/interpreter.h"
#include "ops/meaning.h"

namespace onepass::ops::testing {

constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float k_infinity = std::numeric_limits<float>::infinity();

using AttributeList = std::initializer_list<std::pair<const char*, ir::Attribute>>;
using Ints = std::vector<int64_t>;

inline ir::Node node_of(ir::Op op, AttributeList attributes = {}, int outputs = 1) {
  ir::Node node{.op = op, .name = "node", .opset = 13};
  for (int i = 0; i < outputs; ++i) node.outputs.push_back({i});
  for (const auto& [name, value] : attributes) node.attributes.set(name, value);
  return node;
}

template <class T>
ir::Tensor tensor(ir::Shape shape, const std::vector<T>& values) {
  return ir::Tensor::of<T>(std::move(shape), std::span<const T>(values));
}

inline ir::Tensor floats(ir::Shape shape, const std::vector<float>& values) {
  return tensor<float>(std::move(shape), values);
}
inline ir::Tensor ints(ir::Shape shape, const Ints& values) {
  return tensor<int64_t>(std::move(shape), values);
}
inline ir::Tensor bools(ir::Shape shape, std::initializer_list<bool> values) {
  ir::Tensor result(ir::DType::boolean, std::move(shape));
  std::copy(values.begin(), values.end(), result.data<bool>().begin());
  return result;
}

/// first, first + 1, ...
inline ir::Tensor counting(ir::Shape shape, float first = 0) {
  ir::Tensor result(ir::DType::f32, std::move(shape));
  for (float& element : result.data<float>()) element = first++;
  return result;
}

inline ir::Tensor filled(ir::Shape shape, float value) {
  ir::Tensor result(ir::DType::f32, std::move(shape));
  for (float& element : result.data<float>()) element = value;
  return result;
}

/// Outputs of one node; an empty tensor stands for an absent input. Both precisions run and must agree.
inline std::vector<ir::Tensor> outputs_of(const ir::Node& node, const std::vector<ir::Tensor>& inputs) {
  std::vector<const ir::Tensor*> pointers;
  for (const ir::Tensor& input : inputs) pointers.push_back(input.empty() ? nullptr : &input);
  std::vector<ir::Tensor> outputs = evaluate(node, pointers);
  const std::vector<ir::Tensor> referee = evaluate(node, pointers, Precision::f64);
  for (size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_EQ(outputs[i].shape(), referee[i].shape());
    const std::vector<double> single = outputs[i].to_doubles();
    const std::vector<double> twice = referee[i].to_doubles();
    for (size_t k = 0; k < single.size(); ++k) {
      if (std::isfinite(twice[k]))
        EXPECT_NEAR(single[k], twice[k], 1e-5 * (1 + std::abs(twice[k]))) << "element " << k;
    }
  }
  return outputs;
}

inline ir::Tensor output_of(ir::Op op, const std::vector<ir::Tensor>& inputs, AttributeList attributes = {}) {
  return outputs_of(node_of(op, attributes), inputs).at(0);
}

template <class T = float>
std::vector<T> values(const ir::Tensor& tensor) {
  return {tensor.data<T>().begin(), tensor.data<T>().end()};
}

/// Elements equal up to rounding; NaN matches NaN.
inline void expect_elements(const ir::Tensor& actual, const ir::Shape& shape,
                            const std::vector<float>& expected) {
  EXPECT_EQ(actual.shape(), shape);
  EXPECT_THAT(values(actual), ::testing::Pointwise(::testing::NanSensitiveFloatNear(1e-5F), expected));
}

/// Code of the error that evaluating the node throws; "" when it does not.
inline std::string refusal(ir::Op op, const std::vector<ir::Tensor>& inputs, AttributeList attributes = {},
                           int outputs = 1) {
  std::vector<const ir::Tensor*> pointers;
  for (const ir::Tensor& input : inputs) pointers.push_back(input.empty() ? nullptr : &input);
  try {
    evaluate(node_of(op, attributes, outputs), pointers);
  } catch (const Error& error) {
    const Diagnostic& diagnostic = error.diagnostics().at(0);
    EXPECT_EQ(diagnostic.node, "node");
    EXPECT_EQ(diagnostic.op, ir::name(op));
    EXPECT_EQ(diagnostic.opset, 13);
    EXPECT_NE(diagnostic.accepted, "");
    return diagnostic.code;
  }
  return "";
}

}  // namespace onepass::ops::testing
