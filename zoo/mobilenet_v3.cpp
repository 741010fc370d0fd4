// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"
#include "zoo/squeeze_excite.h"

namespace onepass::zoo {

namespace {

constexpr float k_epsilon = 1e-3F;
constexpr double k_project_gain = 0.5;  // of the BatchNorm before each sum

struct Block {
  int64_t kernel, hidden, outputs;
  int64_t squeeze;  ///< 0: no squeeze and excitation
  bool is_hard_swish;
  int64_t stride;
};

constexpr Block k_blocks[] = {
    {3, 16, 16, 0, false, 1},    {3, 64, 24, 0, false, 2},    {3, 72, 24, 0, false, 1},
    {5, 72, 40, 24, false, 2},   {5, 120, 40, 32, false, 1},  {5, 120, 40, 32, false, 1},
    {3, 240, 80, 0, true, 2},    {3, 200, 80, 0, true, 1},    {3, 184, 80, 0, true, 1},
    {3, 184, 80, 0, true, 1},    {3, 480, 112, 120, true, 1}, {3, 672, 112, 168, true, 1},
    {5, 672, 160, 168, true, 2}, {5, 960, 160, 240, true, 1}, {5, 960, 160, 240, true, 1},
};

struct Layer {
  int64_t outputs;
  Window window;
  int64_t groups = 1;
  Activation activation;
};

/// Convolution, BatchNorm, activation.
ValueId chain(Builder& net, ValueId x, const std::string& prefix, const Layer& layer) {
  x = net.conv(x, prefix + ".0", layer.outputs, layer.window, {.groups = layer.groups});
  x = net.batchnorm(x, prefix + ".1", {.epsilon = k_epsilon});
  return (net.*layer.activation)(x, prefix + ".2");
}

/// Expand, depthwise, squeeze and excitation, project; the sum where the shapes agree.
ValueId inverted_residual(Builder& net, ValueId x, const std::string& prefix, const Block& block) {
  const ValueId shortcut = x;
  const Activation activation = block.is_hard_swish ? &Builder::hard_swish : &Builder::relu;
  int index = 0;
  const auto next = [&] { return prefix + ".block." + std::to_string(index++); };
  if (block.hidden != net.channels(x))
    x = chain(net, x, next(), {.outputs = block.hidden, .window = same_window(1), .activation = activation});
  const Window taps = window(block.kernel, block.stride, block.kernel / 2);
  x = chain(net, x, next(), {block.hidden, taps, block.hidden, activation});
  if (block.squeeze != 0)
    x = squeeze_excite(net, x, next(), {block.squeeze, &Builder::relu, &Builder::hard_sigmoid});
  const std::string project = next();
  x = net.conv(x, project + ".0", block.outputs, same_window(1));
  const bool is_sum = block.stride == 1 && net.channels(shortcut) == block.outputs;
  x = net.batchnorm(x, project + ".1", {.epsilon = k_epsilon, .gain = is_sum ? k_project_gain : 1});
  return is_sum ? net.add(shortcut, x, prefix + ".add") : x;
}

}  // namespace

ir::Graph mobilenet_v3_large(uint64_t seed) {
  Builder net("mobilenet_v3_large", seed);
  ValueId x = chain(net, net.image(224), "features.0", {16, window(3, 2, 1), 1, &Builder::hard_swish});
  int index = 1;
  for (const Block& block : k_blocks)
    x = inverted_residual(net, x, "features." + std::to_string(index++), block);
  x = chain(net, x, "features." + std::to_string(index), {960, same_window(1), 1, &Builder::hard_swish});
  x = net.flatten(net.global_avgpool(x, "avgpool"), "flatten");
  x = net.hard_swish(net.gemm(x, "classifier.0", 1280), "classifier.1");
  net.output("logits", net.gemm(x, "classifier.3", 1000));
  return net.take();
}

}  // namespace onepass::zoo
