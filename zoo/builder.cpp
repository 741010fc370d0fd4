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

/// Filters that give a variance of about 1 on a source whose squares average `second_moment`.
ir::Tensor Builder::filters(const std::string& name, ir::Shape shape, double second_moment,
                            bool is_centred) const {
  const int64_t fan_in = ir::element_count(shape) / shape[0];
  const double scale = 1 / std::sqrt(static_cast<double>(fan_in) * second_moment);
  ir::Tensor tensor(ir::DType::f32, std::move(shape));
  Random random(seed_, name);
  std::vector<double> filter(static_cast<size_t>(fan_in));
  float* element = tensor.data<float>().data();
  for (int64_t output = 0; output < tensor.shape()[0]; ++output) {
    double total = 0;
    for (double& weight : filter) total += weight = random.normal();
    const double centre = is_centred ? total / static_cast<double>(fan_in) : 0;
    for (const double weight : filter) *element++ = static_cast<float>((weight - centre) * scale);
  }
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

/// Adds a bias that brings the means of the outputs near to `wanted`.
ValueId Builder::bias(const std::string& name, const std::vector<double>& wanted, Moments& moments) {
  std::vector<double> centres;
  for (size_t c = 0; c < moments.mean.size(); ++c)
    centres.push_back(wanted[wanted.size() == 1 ? 0 : c] - moments.mean[c]);
  const ir::Tensor tensor = normals(name, centres, 0.1);
  for (size_t c = 0; c < moments.mean.size(); ++c) moments.mean[c] += tensor.data<float>()[c];
  return constant(name, tensor);
}

ValueId Builder::conv(ValueId x, const std::string& name, int64_t outputs, Window window,
                      const ConvOptions& options) {
  const Moments& before = moments_.at(x);
  const bool is_centred = options.groups == 1 && !graph_.value(x).is_input;
  const ir::Tensor weights =
      filters(name + ".weight", {outputs, before.channels() / options.groups, window.height, window.width},
              before.mean_variance(), is_centred);
  Moments moments = through_filters(before, weights.data<float>(), outputs, options.groups);
  std::vector<ValueId> operands = {x, constant(name + ".weight", weights)};
  if (!options.bias.empty()) operands.push_back(bias(name + ".bias", options.bias, moments));
  return layer(Op::Conv, name, std::move(operands), conv_attributes(window, options.groups),
               std::move(moments));
}

ValueId Builder::linear(ValueId x, const std::string& name, int64_t outputs, bool is_centred) {
  const Moments& before = moments_.at(x);
  const ir::Tensor weights =
      filters(name + ".weight", {outputs, before.channels()},
              is_centred ? before.mean_variance() : before.mean_second_moment(), is_centred);
  Moments moments = through_filters(before, weights.data<float>(), outputs, 1);
  const std::vector<double> wanted = is_centred ? std::vector<double>{0} : moments.mean;
  const ValueId offset = bias(name + ".bias", wanted, moments);
  return layer(Op::Gemm, name, {x, constant(name + ".weight", weights), offset}, gemm_attributes(),
               std::move(moments));
}

ValueId Builder::gemm(ValueId x, const std::string& name, int64_t outputs) {
  return linear(x, name, outputs, true);
}

ValueId Builder::classifier(ValueId x, const std::string& name, int64_t outputs) {
  return linear(x, name, outputs, false);
}

ValueId Builder::batchnorm(ValueId x, const std::string& name, BatchNormOptions options) {
  const Moments& before = moments_.at(x);
  const int64_t count = before.channels();
  const ir::Tensor gamma = uniforms(name + ".weight", count, 0.5 * options.gain, 1.5 * options.gain);
  const ir::Tensor beta = normals(name + ".bias", std::vector<double>(before.mean.size(), 0), 0.1);
  const ir::Tensor mean = normals(name + ".running_mean", before.mean, 0.1);
  ir::Tensor variance = uniforms(name + ".running_var", count, 0.5, 1.5);
  Moments after;
  for (size_t c = 0; c < before.mean.size(); ++c) {
    float& spread = variance.data<float>()[c];
    spread = static_cast<float>(spread * before.variance[c]);
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
  output("logits", classifier(x, linear, 1000));
}

}  // namespace onepass::zoo
