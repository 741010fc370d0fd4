// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "ops/meanings.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"
#include "ops/summation.h"

namespace onepass::ops {

namespace {

bool is_training(const ir::Node& node) {
  return node.attributes.get_int("training_mode", 0) != 0;
}

/// spatial = 0 (opsets 7 and 8): statistics for every element, not for every channel.
bool is_spatial(const ir::Node& node) {
  return node.attributes.get_int("spatial", 1) != 0;
}

ir::Shape parameter_shape(const ir::Node& node, const ir::Shape& src) {
  return is_spatial(node) ? ir::Shape{src[1]} : ir::Shape(src.begin() + 1, src.end());
}

void check_outputs(const ShapeContext& context) {
  const std::vector<ir::ValueId>& outputs = context.node.outputs;
  if (is_training(context.node) && !is_spatial(context.node))
    refuse(context.node, "bad_attribute", "training_mode = 1 with spatial = 0",
           "spatial = 1 in training mode");
  const size_t allowed = is_training(context.node) ? 3 : 1;
  const auto asked = static_cast<size_t>(
      std::find_if(outputs.rbegin(), outputs.rend(), [](ir::ValueId id) { return id.valid(); }).base() -
      outputs.begin());
  if (asked > allowed)
    refuse(context.node, "too_many_outputs", fmt::format("{} outputs are asked for", asked),
           "one output, or with training_mode = 1 the running mean and variance too");
}

std::vector<ir::TensorType> batch_normalization_shape(const ShapeContext& context) {
  require_float(context, 0);
  require_static_extents(context);
  require_rank(context, 0, 2, 5);
  check_outputs(context);
  const ir::TensorType parameters{context.type(0).dtype, parameter_shape(context.node, context.type(0).dims)};
  for (size_t input = 1; input < 5; ++input) {
    context.type(input);
    require_same_dtype(context, 0, input);
    if (context.type(input).dims != parameters.dims)
      refuse(context.node, "bad_statistics",
             fmt::format("input {} is {} on {}", input, ir::to_string(context.type(input)),
                         ir::to_string(context.type(0))),
             ir::to_string(parameters));
  }
  std::vector<ir::TensorType> types{checked(context.node, context.type(0))};
  types.resize(context.node.outputs.size(), parameters);
  return types;
}

/// How often each parameter is used in a row: src is [images][parameters][run].
struct Layout {
  int64_t images, parameters, run;
};

Layout layout_of(const ir::Node& node, const ir::Shape& src) {
  const int64_t parameters = ir::element_count(parameter_shape(node, src));
  int64_t run = 1;
  for (size_t axis = 2; is_spatial(node) && axis < src.size(); ++axis) run *= src[axis];
  return {src[0], parameters, run};
}

template <class T>
struct Statistics {
  std::vector<T> mean, variance;
};

template <class T>
Statistics<T> batch_statistics(const Layout& layout, const T* src) {
  Statistics<T> result{std::vector<T>(layout.parameters), std::vector<T>(layout.parameters)};
  const int64_t count = layout.images * layout.run;
  for (int64_t p = 0; p < layout.parameters; ++p) {
    const auto at = [&](int64_t i) {
      return src[((i / layout.run) * layout.parameters + p) * layout.run + i % layout.run];
    };
    const T mean = pairwise_sum<T>(0, count, at) / static_cast<T>(count);
    const auto squared = [&](int64_t i) { return (at(i) - mean) * (at(i) - mean); };
    result.mean[p] = mean;
    result.variance[p] = pairwise_sum<T>(0, count, squared) / static_cast<T>(count);
  }
  return result;
}

/// running = old * momentum + batch * (1 - momentum)
template <class T>
void write_running(const ir::Node& node, const ir::Tensor& old, const std::vector<T>& batch,
                   ir::Tensor& running) {
  const T momentum = static_cast<T>(node.attributes.get_float("momentum", 0.9));
  for (size_t p = 0; p < batch.size(); ++p)
    running.data<T>()[p] = old.data<T>()[p] * momentum + batch[p] * (T(1) - momentum);
}

/// (x - mean) / sqrt(variance + epsilon) * scale + bias
template <class T>
void batch_normalization(const ir::Node& node, Inputs inputs, Outputs outputs) {
  const Layout layout = layout_of(node, inputs[0]->shape());
  const T epsilon = static_cast<T>(node.attributes.get_float("epsilon", 1e-5));
  const auto mean_input = inputs[3]->data<T>();
  const auto variance_input = inputs[4]->data<T>();
  Statistics<T> statistics{{mean_input.begin(), mean_input.end()},
                           {variance_input.begin(), variance_input.end()}};
  const T* src = elements<T>(*inputs[0]);
  if (is_training(node)) statistics = batch_statistics(layout, src);
  if (is_training(node) && outputs.size() > 1) write_running(node, *inputs[3], statistics.mean, outputs[1]);
  if (is_training(node) && outputs.size() > 2)
    write_running(node, *inputs[4], statistics.variance, outputs[2]);
  T* dst = elements<T>(outputs[0]);
  for (int64_t image = 0; image < layout.images; ++image)
    for (int64_t p = 0; p < layout.parameters; ++p) {
      const T deviation = std::sqrt(statistics.variance[p] + epsilon);
      const T scale = elements<T>(*inputs[1])[p];
      const T bias = elements<T>(*inputs[2])[p];
      for (int64_t i = 0; i < layout.run; ++i)
        *dst++ = (*src++ - statistics.mean[p]) / deviation * scale + bias;
    }
}

}  // namespace

const Meaning k_meaning_BatchNormalization{batch_normalization_shape, batch_normalization<float>,
                                           batch_normalization<double>};

}  // namespace onepass::ops
