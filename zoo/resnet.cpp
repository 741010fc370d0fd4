// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "zoo/builder.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

constexpr double k_last_gain = 0.25;  // of the BatchNorm before each sum: the shortcut carries most of it

struct Block {
  std::string prefix;
  int64_t width, stride;
};

using Branch = ValueId (*)(Builder&, ValueId, const Block&);

/// Two 3x3 convolutions.
ValueId basic_branch(Builder& net, ValueId x, const Block& block) {
  const std::string& prefix = block.prefix;
  x = net.conv(x, prefix + ".conv1", block.width, window(3, block.stride, 1));
  x = net.relu(net.batchnorm(x, prefix + ".bn1"), prefix + ".relu");
  x = net.conv(x, prefix + ".conv2", block.width, same_window(3));
  return net.batchnorm(x, prefix + ".bn2", {.gain = k_last_gain});
}

/// 1x1, 3x3, 1x1 to four times the width.
ValueId bottleneck_branch(Builder& net, ValueId x, const Block& block) {
  const std::string& prefix = block.prefix;
  x = net.conv(x, prefix + ".conv1", block.width, same_window(1));
  x = net.relu(net.batchnorm(x, prefix + ".bn1"), prefix + ".relu");
  x = net.conv(x, prefix + ".conv2", block.width, window(3, block.stride, 1));
  x = net.relu(net.batchnorm(x, prefix + ".bn2"), prefix + ".relu_1");
  x = net.conv(x, prefix + ".conv3", 4 * block.width, same_window(1));
  return net.batchnorm(x, prefix + ".bn3", {.gain = k_last_gain});
}

/// Branch plus shortcut, then ReLU.
ValueId residual(Builder& net, ValueId x, const Block& block, Branch branch) {
  const ValueId y = branch(net, x, block);
  if (block.stride != 1 || net.channels(x) != net.channels(y)) {
    x = net.conv(x, block.prefix + ".downsample.0", net.channels(y), window(1, block.stride, 0));
    x = net.batchnorm(x, block.prefix + ".downsample.1");
  }
  return net.relu(net.add(y, x, block.prefix + ".add"), block.prefix + ".relu_out");
}

ir::Graph resnet(const std::string& name, uint64_t seed, Branch branch, const std::array<int, 4>& depths) {
  Builder net(name, seed);
  ValueId x = net.conv(net.image(224), "conv1", 64, window(7, 2, 3));
  x = net.relu(net.batchnorm(x, "bn1"), "relu");
  x = net.maxpool(x, "maxpool", window(3, 2, 1));
  int64_t width = 64;
  for (size_t stage = 0; stage < depths.size(); ++stage, width *= 2) {
    for (int i = 0; i < depths[stage]; ++i) {
      const int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      const std::string prefix = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      x = residual(net, x, {prefix, width, stride}, branch);
    }
  }
  net.classifier_tail(x, "avgpool", "fc");
  return net.take();
}

}  // namespace

ir::Graph resnet18(uint64_t seed) {
  return resnet("resnet18", seed, basic_branch, {2, 2, 2, 2});
}

ir::Graph resnet50(uint64_t seed) {
  return resnet("resnet50", seed, bottleneck_branch, {3, 4, 6, 3});
}

}  // namespace onepass::zoo
