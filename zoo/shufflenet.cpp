// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

constexpr int64_t k_groups = 2;  // halves of the channels: one passes through, one is computed

struct Stage {
  int64_t outputs;
  int depth;
  int64_t size;  ///< of its maps
};

constexpr Stage k_stages[] = {{116, 4, 28}, {232, 8, 14}, {464, 4, 7}};

/// Convolution, BatchNorm, ReLU; `index` is the convolution's number in its branch.
ValueId pointwise(Builder& net, ValueId x, const std::string& prefix, int index, int64_t outputs) {
  const auto name = [&](int i) { return prefix + "." + std::to_string(index + i); };
  x = net.conv(x, name(0), outputs, same_window(1));
  x = net.batchnorm(x, name(1));
  return net.relu(x, name(2));
}

ValueId depthwise(Builder& net, ValueId x, const std::string& prefix, int index, int64_t stride) {
  x = net.conv(x, prefix + "." + std::to_string(index), net.channels(x), window(3, stride, 1),
               {.groups = net.channels(x)});
  return net.batchnorm(x, prefix + "." + std::to_string(index + 1));
}

/// 1x1, depthwise 3x3, 1x1.
ValueId main_branch(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, int64_t stride) {
  x = pointwise(net, x, prefix, 0, outputs);
  return pointwise(net, depthwise(net, x, prefix, 3, stride), prefix, 5, outputs);
}

/// Halves the maps: both branches read everything.
ValueId reduction(Builder& net, ValueId x, const std::string& prefix, const Stage& stage) {
  const int64_t half = stage.outputs / k_groups;
  const std::string side = prefix + ".branch1";
  const ValueId a = pointwise(net, depthwise(net, x, side, 0, 2), side, 2, half);
  const ValueId b = main_branch(net, x, prefix + ".branch2", half, 2);
  return net.shuffle(net.concat({a, b}, prefix + ".concat"), prefix, k_groups, stage.size);
}

/// Keeps the size: the first half of the channels passes through.
ValueId unit(Builder& net, ValueId x, const std::string& prefix, const Stage& stage) {
  const int64_t half = stage.outputs / k_groups;
  const std::vector<ValueId> halves = net.split(x, {half, half}, prefix + ".chunk");
  const ValueId b = main_branch(net, halves[1], prefix + ".branch2", half, 1);
  return net.shuffle(net.concat({halves[0], b}, prefix + ".concat"), prefix, k_groups, stage.size);
}

}  // namespace

ir::Graph shufflenet_v2_x1_0(uint64_t seed) {
  Builder net("shufflenet_v2_x1_0", seed);
  ValueId x = net.conv(net.image(224), "conv1.0", 24, window(3, 2, 1));
  x = net.relu(net.batchnorm(x, "conv1.1"), "conv1.2");
  x = net.maxpool(x, "maxpool", window(3, 2, 1));
  int number = 2;
  for (const Stage& stage : k_stages) {
    const std::string prefix = "stage" + std::to_string(number++) + ".";
    x = reduction(net, x, prefix + "0", stage);
    for (int i = 1; i < stage.depth; ++i) x = unit(net, x, prefix + std::to_string(i), stage);
  }
  x = pointwise(net, x, "conv5", 0, 1024);
  net.output("logits", net.gemm(net.spatial_mean(x, "mean"), "fc", 1000));
  return net.take();
}

}  // namespace onepass::zoo
