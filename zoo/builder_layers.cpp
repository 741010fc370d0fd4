// SPDX-License-Identifier: Apache-2.0
//
// Layers without random weights.
#include <cmath>

#include "zoo/builder.h"
#include "zoo/builder_attributes.h"

namespace onepass::zoo {

using ir::Op;

namespace {

constexpr double k_pool_share = 0.5;    // of the variance that averaging over a small window leaves
constexpr double k_global_share = 0.1;  // the same over the whole map

/// Channel i * groups + g is channel g * (channels / groups) + i of `moments`.
Moments shuffled(const Moments& moments, int64_t groups) {
  const int64_t width = moments.channels() / groups;
  Moments result;
  for (int64_t i = 0; i < width; ++i)
    for (int64_t group = 0; group < groups; ++group) result.append(moments.slice(group * width + i, 1));
  return result;
}

}  // namespace

ValueId Builder::relu(ValueId x, const std::string& name) {
  return layer(Op::Relu, name, {x}, {}, through(moments_.at(x), zoo::relu));
}

ValueId Builder::relu6(ValueId x, const std::string& name) {
  const std::vector<ValueId> operands = {x, scalar(name + ".min", 0), scalar(name + ".max", 6)};
  return layer(Op::Clip, name, operands, {}, through(moments_.at(x), zoo::relu6));
}

ValueId Builder::silu(ValueId x, const std::string& name) {
  const ValueId gate = node(Op::Sigmoid, name + ".sigmoid", {x});
  return layer(Op::Mul, name + ".mul", {x, gate}, {}, through(moments_.at(x), zoo::silu));
}

ValueId Builder::sigmoid(ValueId x, const std::string& name) {
  return layer(Op::Sigmoid, name, {x}, {}, through(moments_.at(x), zoo::sigmoid));
}

ValueId Builder::hard_sigmoid(ValueId x, const std::string& name) {
  ir::Attributes attributes;
  attributes.set("alpha", static_cast<double>(1 / 6.0F));
  attributes.set("beta", 0.5);
  return layer(Op::HardSigmoid, name, {x}, std::move(attributes), through(moments_.at(x), zoo::hard_sigmoid));
}

ValueId Builder::hard_swish(ValueId x, const std::string& name) {
  return layer(Op::HardSwish, name, {x}, {}, through(moments_.at(x), zoo::hard_swish));
}

ValueId Builder::add(ValueId a, ValueId b, const std::string& name) {
  return layer(Op::Add, name, {a, b}, {}, sum(moments_.at(a), moments_.at(b)));
}

ValueId Builder::scale(ValueId x, ValueId gate, const std::string& name) {
  return layer(Op::Mul, name, {x, gate}, {}, product(moments_.at(x), moments_.at(gate)));
}

ValueId Builder::concat(const std::vector<ValueId>& values, const std::string& name) {
  Moments moments;
  for (const ValueId value : values) moments.append(moments_.at(value));
  return layer(Op::Concat, name, values, axis_attribute(1), std::move(moments));
}

std::vector<ValueId> Builder::split(ValueId x, const std::vector<int64_t>& sizes, const std::string& name,
                                    int64_t axis) {
  const ValueId lengths = constant(name + ".sizes", ir::Tensor::of_ints(sizes));
  const auto before = moments_.find(x);
  std::vector<ValueId> parts;
  int64_t begin = 0;
  for (const int64_t size : sizes) {
    parts.push_back(graph_.add_value(name + ".out" + std::to_string(parts.size())));
    if (axis == 1 && before != moments_.end()) moments_[parts.back()] = before->second.slice(begin, size);
    begin += size;
  }
  graph_.add_node({.op = Op::Split,
                   .name = name,
                   .inputs = {x, lengths},
                   .outputs = parts,
                   .attributes = axis_attribute(axis),
                   .origins = {}});
  return parts;
}

ValueId Builder::maxpool(ValueId x, const std::string& name, Window window, MaxPoolOptions options) {
  Moments moments = moments_.at(x);
  for (size_t c = 0; c < moments.mean.size(); ++c)
    moments.mean[c] += options.shift * std::sqrt(moments.variance[c]);
  ir::Attributes attributes = pool_attributes(window);
  attributes.set("ceil_mode", int64_t{options.ceil});
  return layer(Op::MaxPool, name, {x}, std::move(attributes), std::move(moments));
}

ValueId Builder::avgpool(ValueId x, const std::string& name, Window window) {
  ir::Attributes attributes = pool_attributes(window);
  attributes.set("count_include_pad", int64_t{1});
  return layer(Op::AveragePool, name, {x}, std::move(attributes), moments_.at(x).scaled(k_pool_share));
}

ValueId Builder::global_avgpool(ValueId x, const std::string& name) {
  return layer(Op::GlobalAveragePool, name, {x}, {}, moments_.at(x).scaled(k_global_share));
}

ValueId Builder::spatial_mean(ValueId x, const std::string& name) {
  ir::Attributes attributes;
  attributes.set("keepdims", int64_t{0});
  const int64_t plane[] = {2, 3};
  const ValueId axes = constant(name + ".axes", ir::Tensor::of_ints(plane));
  return layer(Op::ReduceMean, name, {x, axes}, std::move(attributes), moments_.at(x).scaled(k_global_share));
}

ValueId Builder::flatten(ValueId x, const std::string& name, int64_t positions) {
  const Moments& before = moments_.at(x);
  Moments moments;
  for (int64_t c = 0; c < before.channels(); ++c)
    moments.append(Moments::uniform(positions, before.mean[c], before.variance[c]));
  return layer(Op::Flatten, name, {x}, axis_attribute(1), std::move(moments));
}

ValueId Builder::upsample(ValueId x, const std::string& name) {
  const float scales[] = {1, 1, 2, 2};
  ir::Attributes attributes;
  attributes.set("mode", std::string("nearest"));
  attributes.set("nearest_mode", std::string("floor"));
  attributes.set("coordinate_transformation_mode", std::string("asymmetric"));
  const ValueId factors = constant(name + ".scales", ir::Tensor::of<float>({4}, scales));
  return layer(Op::Resize, name, {x, ValueId{}, factors}, std::move(attributes), moments_.at(x));
}

ValueId Builder::reshape(ValueId x, const std::string& name, const std::vector<int64_t>& shape) {
  return node(Op::Reshape, name, {x, constant(name + ".shape", ir::Tensor::of_ints(shape))});
}

ValueId Builder::shuffle(ValueId x, const std::string& name, int64_t groups, int64_t size) {
  const Moments before = moments_.at(x);
  const int64_t width = before.channels() / groups;
  ir::Attributes order;
  order.set("perm", std::vector<int64_t>{0, 2, 1, 3, 4});
  x = reshape(x, name + ".reshape", {1, groups, width, size, size});
  x = node(Op::Transpose, name + ".transpose", {x}, order);
  x = reshape(x, name + ".reshape_1", {1, before.channels(), size, size});
  assume(x, shuffled(before, groups));
  return x;
}

}  // namespace onepass::zoo
