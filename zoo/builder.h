// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "zoo/moments.h"
#include "zoo/random.h"

namespace onepass::zoo {

using ir::ValueId;

/// What a convolution or a pool slides over its source.
struct Window {
  int64_t height = 1, width = 1;
  int64_t stride = 1;
  int64_t pad_height = 0, pad_width = 0;
};

/// A square window.
constexpr Window window(int64_t size, int64_t stride, int64_t pad) {
  return {size, size, stride, pad, pad};
}
/// A window of odd extents whose padding keeps the size.
constexpr Window same_window(int64_t height, int64_t width) {
  return {height, width, 1, height / 2, width / 2};
}
constexpr Window same_window(int64_t size) {
  return same_window(size, size);
}

struct MaxPoolOptions {
  double shift = 1.5;  ///< how far a maximum is expected above the mean, in deviations
  bool ceil = false;
};

struct ConvOptions {
  int64_t groups = 1;
  bool has_bias = false;
  std::vector<double> means;  ///< of a head: the mean that each output shall have, brought about by the bias
  double gain = 1;            ///< the root of the outputs' mean square
};

struct BatchNormOptions {
  float epsilon = 1e-5F;
  double gain = 1;  ///< gamma is uniform in [0.5, 1.5] times this
};

/// A graph of random weights under construction: each call adds one layer and returns its output.
///
/// Weights are He-initialised for the squares that the layer really reads: beside every feature map the
/// builder keeps its moments. Running variances are what the channels have together, disturbed; running means
/// are small and remove nothing, since normalising by the deviation alone would enlarge every difference, and
/// so every rounding error, from layer to layer. Activations stay of order 1 through any depth.
class Builder {
 public:
  Builder(std::string name, uint64_t seed) : seed_(seed) { graph_.name = std::move(name); }
  ir::Graph take() { return std::move(graph_); }

  ValueId input(const std::string& name, ir::Shape shape, double mean, double variance);
  /// `image`, f32[1,3,size,size].
  ValueId image(int64_t size, double mean = 0, double variance = 1);
  void output(const std::string& name, ValueId value) { graph_.add_output(name, value); }
  ValueId constant(const std::string& name, ir::Tensor tensor);
  ValueId scalar(const std::string& name, float value);

  ValueId conv(ValueId x, const std::string& name, int64_t outputs, Window window,
               const ConvOptions& options = {});
  /// Fully connected, with bias.
  ValueId gemm(ValueId x, const std::string& name, int64_t outputs);
  ValueId batchnorm(ValueId x, const std::string& name, BatchNormOptions options = {});

  ValueId relu(ValueId x, const std::string& name);
  ValueId relu6(ValueId x, const std::string& name);
  ValueId silu(ValueId x, const std::string& name);  ///< as exporters write it: x * Sigmoid(x)
  ValueId sigmoid(ValueId x, const std::string& name);
  ValueId hard_sigmoid(ValueId x, const std::string& name);  ///< of slope 1/6
  ValueId hard_swish(ValueId x, const std::string& name);
  ValueId add(ValueId a, ValueId b, const std::string& name);
  /// `gate`, f32[1,channels,1,1], weighs the channels of `x`.
  ValueId scale(ValueId x, ValueId gate, const std::string& name);
  ValueId concat(const std::vector<ValueId>& values, const std::string& name);  ///< along the channels
  std::vector<ValueId> split(ValueId x, const std::vector<int64_t>& sizes, const std::string& name,
                             int64_t axis = 1);
  ValueId maxpool(ValueId x, const std::string& name, Window window, MaxPoolOptions options = {});
  ValueId avgpool(ValueId x, const std::string& name, Window window);  ///< padding counts
  ValueId global_avgpool(ValueId x, const std::string& name);
  ValueId spatial_mean(ValueId x, const std::string& name);  ///< ReduceMean: f32[1,channels]
  ValueId flatten(ValueId x, const std::string& name, int64_t positions = 1);  ///< positions: height * width
  ValueId upsample(ValueId x, const std::string& name);  ///< twice the size, nearest neighbour
  ValueId reshape(ValueId x, const std::string& name, const std::vector<int64_t>& shape);
  /// Channel i * groups + g of the result is channel g * (channels / groups) + i of `x`, whose maps are
  /// size x size.
  ValueId shuffle(ValueId x, const std::string& name, int64_t groups, int64_t size);
  /// Global average pool, flatten, fully connected layer: the output `logits` f32[1,1000].
  void classifier_tail(ValueId x, const std::string& pool, const std::string& linear);

  /// Any operator of one output, without moments; assume() gives them.
  ValueId node(ir::Op op, const std::string& name, std::vector<ValueId> inputs,
               ir::Attributes attributes = {});
  void assume(ValueId x, Moments moments) { moments_[x] = std::move(moments); }
  const Moments& moments(ValueId x) const { return moments_.at(x); }
  int64_t channels(ValueId x) const { return moments_.at(x).channels(); }

 private:
  ValueId layer(ir::Op op, const std::string& name, std::vector<ValueId> inputs, ir::Attributes attributes,
                Moments moments);
  ir::Tensor filters(const std::string& name, ir::Shape shape, double scale) const;
  /// A bias of normal numbers around `centres`; shifts `moments`.
  ValueId bias(const std::string& name, const std::vector<double>& centres, Moments& moments);
  ir::Tensor normals(const std::string& name, const std::vector<double>& mean, double deviation) const;
  ir::Tensor uniforms(const std::string& name, int64_t count, double low, double high) const;

  uint64_t seed_;
  ir::Graph graph_;
  std::map<ValueId, Moments> moments_;  ///< of feature maps
};

}  // namespace onepass::zoo
