// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"
#include "zoo/squeeze_excite.h"

namespace onepass::zoo {

namespace {

constexpr double k_last_gain = 0.25;  // of the BatchNorm before each sum: the shortcut carries most of it
constexpr int64_t k_group_width = 8;

struct Stage {
  int64_t width;
  int depth;
};

constexpr Stage k_stages[] = {{48, 1}, {104, 3}, {208, 6}, {440, 6}};

/// 1x1, grouped 3x3, squeeze and excitation, 1x1.
ValueId branch(Builder& net, ValueId x, const std::string& prefix, int64_t width, int64_t stride) {
  const int64_t squeeze = (net.channels(x) + 2) / 4;  // a quarter, rounded
  x = net.conv(x, prefix + ".a.0", width, same_window(1));
  x = net.relu(net.batchnorm(x, prefix + ".a.1"), prefix + ".a.2");
  x = net.conv(x, prefix + ".b.0", width, window(3, stride, 1), {.groups = width / k_group_width});
  x = net.relu(net.batchnorm(x, prefix + ".b.1"), prefix + ".b.2");
  x = squeeze_excite(net, x, prefix + ".se", {squeeze, &Builder::relu, &Builder::sigmoid});
  x = net.conv(x, prefix + ".c.0", width, same_window(1));
  return net.batchnorm(x, prefix + ".c.1", {.gain = k_last_gain});
}

/// Branch plus shortcut, then ReLU.
ValueId residual(Builder& net, ValueId x, const std::string& prefix, int64_t width, int64_t stride) {
  const ValueId y = branch(net, x, prefix + ".f", width, stride);
  if (stride != 1 || net.channels(x) != width) {
    x = net.conv(x, prefix + ".proj.0", width, window(1, stride, 0));
    x = net.batchnorm(x, prefix + ".proj.1");
  }
  return net.relu(net.add(x, y, prefix + ".add"), prefix + ".activation");
}

}  // namespace

ir::Graph regnet_y_400mf(uint64_t seed) {
  Builder net("regnet_y_400mf", seed);
  ValueId x = net.conv(net.image(224), "stem.0", 32, window(3, 2, 1));
  x = net.relu(net.batchnorm(x, "stem.1"), "stem.2");
  int number = 1;
  for (const Stage& stage : k_stages) {
    const std::string name = "block" + std::to_string(number++);
    for (int i = 0; i < stage.depth; ++i) {
      const std::string prefix = "trunk_output." + name + "." + name + "-" + std::to_string(i);
      x = residual(net, x, prefix, stage.width, i == 0 ? 2 : 1);
    }
  }
  net.classifier_tail(x, "avgpool", "fc");
  return net.take();
}

}  // namespace onepass::zoo
