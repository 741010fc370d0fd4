// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

constexpr double k_project_gain = 0.5;  // of the BatchNorm before each sum

struct Stage {
  int64_t expansion, outputs;
  int depth;
  int64_t first_stride;
};

constexpr Stage k_stages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                              {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};

/// Convolution, BatchNorm, ReLU6; depthwise where there are as many groups as channels.
ValueId chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window,
              int64_t groups = 1) {
  x = net.conv(x, prefix + ".0", outputs, window, {.groups = groups});
  return net.relu6(net.batchnorm(x, prefix + ".1"), prefix + ".2");
}

/// Expand, depthwise, project; the sum where the shapes agree.
ValueId inverted_residual(Builder& net, ValueId x, const std::string& prefix, const Stage& stage,
                          int64_t stride) {
  const ValueId shortcut = x;
  const int64_t hidden = net.channels(x) * stage.expansion;
  int index = 0;
  const auto next = [&] { return prefix + ".conv." + std::to_string(index++); };
  if (stage.expansion != 1) x = chain(net, x, next(), hidden, same_window(1));
  x = chain(net, x, next(), hidden, window(3, stride, 1), hidden);
  x = net.conv(x, next(), stage.outputs, same_window(1));
  const bool is_sum = stride == 1 && net.channels(shortcut) == stage.outputs;
  x = net.batchnorm(x, next(), {.gain = is_sum ? k_project_gain : 1});
  return is_sum ? net.add(shortcut, x, prefix + ".add") : x;
}

}  // namespace

ir::Graph mobilenet_v2(uint64_t seed) {
  Builder net("mobilenet_v2", seed);
  ValueId x = chain(net, net.image(224), "features.0", 32, window(3, 2, 1));
  int index = 1;
  for (const Stage& stage : k_stages) {
    for (int i = 0; i < stage.depth; ++i) {
      const std::string prefix = "features." + std::to_string(index++);
      x = inverted_residual(net, x, prefix, stage, i == 0 ? stage.first_stride : 1);
    }
  }
  x = chain(net, x, "features." + std::to_string(index), 1280, same_window(1));
  net.classifier_tail(x, "avgpool", "classifier.1");
  return net.take();
}

}  // namespace onepass::zoo
