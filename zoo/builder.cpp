// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"

#include <cmath>

#include "zoo/builder_attributes.h"

namespace onepass::zoo {

using ir::Op;

ValueId Builder::input(const std::string& name, ir::Shape shape, double mean, double variance) {
  const Moments moments = Moments::uniform(shape.at(1), mean, variance);
  const ValueId value = graph_.add_input(name, {ir::DType::f32, std::move(shape)});
  moments_[value] = moments;
  return value;
}

ValueId Builder::image(int64_t size, double mean, double variance) {
  return input("image", {1, 3, size, size}, mean, variance);
}

ValueId Builder::constant(const std::string& name, ir::Tensor tensor) {
  return graph_.add_constant(name, std::move(tensor));
}

ValueId Builder::scalar(const std::string& name, float value) {
  return constant(name, ir::Tensor::scalar(value));
}

ValueId Builder::node(Op op, const std::string& name, std::vector<ValueId> inputs,
                      ir::Attributes attributes) {
  const ValueId value = graph_.add_value(name + ".out");
  graph_.add_node({.op = op,
                   .name = name,
                   .inputs = std::move(inputs),
                   .outputs = {value},
                   .attributes = std::move(attributes),
                   .origins = {}});
  return value;
}

ValueId Builder::layer(Op op, const std::string& name, std::vector<ValueId> inputs, ir::Attributes attributes,
                       Moments moments) {
  const ValueId value = node(op, name, std::move(inputs), std::move(attributes));
  moments_[value] = std::move(moments);
  return value;
}

// --- random tensors ---

ir::Tensor Builder::filters(const std::string& name, ir::Shape shape, double scale) const {
  ir::Tensor tensor(ir::DType::f32, std::move(shape));
  Random random(seed_, name);
  for (float& weight : tensor.data<float>()) weight = static_cast<float>(random.normal() * scale);
  return tensor;
}

ir::Tensor Builder::normals(const std::string& name, const std::vector<double>& mean,
                            double deviation) const {
  Random random(seed_, name);
  std::vector<float> values;
  for (const double centre : mean) values.push_back(static_cast<float>(centre + deviation * random.normal()));
  return ir::Tensor::of<float>({static_cast<int64_t>(values.size())}, values);
}

ir::Tensor Builder::uniforms(const std::string& name, int64_t count, double low, double high) const {
  Random random(seed_, name);
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random.uniform(low, high)));
  return ir::Tensor::of<float>({count}, values);
}

// --- layers with weights ---

namespace {

/// Of normal weights, so that the squares of the outputs average 1: He's choice behind a ReLU.
double filter_scale(int64_t fan_in, double second_moment) {
  return 1 / std::sqrt(static_cast<double>(fan_in) * second_moment);
}

}  // namespace

ValueId Builder::conv(ValueId x, const std::string& name, int64_t outputs, Window window,
                      const ConvOptions& options) {
  const Moments& before = moments_.at(x);
  const ir::Shape shape = {outputs, before.channels() / options.groups, window.height, window.width};
  const bool is_head = !options.means.empty();
  const double scale =
      options.gain * filter_scale(ir::element_count(shape) / outputs, before.mean_second_moment());
  const ir::Tensor weights = filters(name + ".weight", shape, scale);
  Moments moments = through_filters(before, weights.data<float>(), outputs, options.groups);
  std::vector<ValueId> operands = {x, constant(name + ".weight", weights)};
  if (is_head || options.has_bias) {
    std::vector<double> centres(static_cast<size_t>(outputs));
    for (size_t c = 0; is_head && c < centres.size(); ++c) centres[c] = options.means[c] - moments.mean[c];
    operands.push_back(bias(name + ".bias", centres, moments));
  }
  return layer(Op::Conv, name, std::move(operands), conv_attributes(window, options.groups),
               std::move(moments));
}

ValueId Builder::bias(const std::string& name, const std::vector<double>& centres, Moments& moments) {
  const ir::Tensor tensor = normals(name, centres, 0.1);
  for (size_t c = 0; c < centres.size(); ++c) moments.mean[c] += tensor.data<float>()[c];
  return constant(name, tensor);
}

ValueId Builder::gemm(ValueId x, const std::string& name, int64_t outputs) {
  const Moments& before = moments_.at(x);
  const ir::Tensor weights = filters(name + ".weight", {outputs, before.channels()},
                                     filter_scale(before.channels(), before.mean_second_moment()));
  Moments moments = through_filters(before, weights.data<float>(), outputs, 1);
  const ValueId weight = constant(name + ".weight", weights);
  const ValueId offset = bias(name + ".bias", std::vector<double>(static_cast<size_t>(outputs)), moments);
  return layer(Op::Gemm, name, {x, weight, offset}, gemm_attributes(), std::move(moments));
}

ValueId Builder::batchnorm(ValueId x, const std::string& name, BatchNormOptions options) {
  const Moments& before = moments_.at(x);
  const int64_t count = before.channels();
  const ir::Tensor gamma = uniforms(name + ".weight", count, 0.5 * options.gain, 1.5 * options.gain);
  const ir::Tensor beta = normals(name + ".bias", std::vector<double>(before.mean.size(), 0), 0.1);
  const ir::Tensor mean = normals(name + ".running_mean", std::vector<double>(before.mean.size(), 0), 0.1);
  const ir::Tensor variance = uniforms(name + ".running_var", count, 0.5 * before.mean_second_moment(),
                                       1.5 * before.mean_second_moment());
  Moments after;
  for (size_t c = 0; c < before.mean.size(); ++c) {
    const float spread = variance.data<float>()[c];
    const double factor = gamma.data<float>()[c] /
                          std::sqrt(static_cast<double>(spread) + static_cast<double>(options.epsilon));
    after.mean.push_back((before.mean[c] - mean.data<float>()[c]) * factor + beta.data<float>()[c]);
    after.variance.push_back(before.variance[c] * factor * factor);
  }
  return layer(Op::BatchNormalization, name,
               {x, constant(name + ".weight", gamma), constant(name + ".bias", beta),
                constant(name + ".running_mean", mean), constant(name + ".running_var", variance)},
               batchnorm_attributes(options.epsilon), std::move(after));
}

void Builder::classifier_tail(ValueId x, const std::string& pool, const std::string& linear) {
  x = flatten(global_avgpool(x, pool), "flatten");
  output("logits", gemm(x, linear, 1000));
}

}  // namespace onepass::zoo
