// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

constexpr double k_project_gain = 0.5;  // of the BatchNorm before each sum

struct Stage {
  int64_t outputs, kernel, first_stride, expansion;
  int depth;
};

constexpr Stage k_stages[] = {{24, 3, 2, 3, 3}, {40, 5, 2, 3, 3},  {80, 5, 2, 6, 3},
                              {96, 3, 1, 6, 2}, {192, 5, 2, 6, 4}, {320, 3, 1, 6, 1}};

/// Numbers the layers of a chain as they come.
struct Names {
  std::string prefix;
  int index = 0;
  std::string next() { return prefix + std::to_string(index++); }
};

/// Convolution, BatchNorm, ReLU; depthwise where there are as many groups as channels.
ValueId chain(Builder& net, ValueId x, Names& names, int64_t outputs, Window window, int64_t groups = 1) {
  x = net.conv(x, names.next(), outputs, window, {.groups = groups});
  x = net.batchnorm(x, names.next());
  return net.relu(x, names.next());
}

/// Expand, depthwise, project; the sum where the shapes agree.
ValueId inverted_residual(Builder& net, ValueId x, const std::string& prefix, const Stage& stage,
                          int64_t stride) {
  const ValueId shortcut = x;
  const int64_t hidden = net.channels(x) * stage.expansion;
  Names names{prefix + ".layers."};
  x = chain(net, x, names, hidden, same_window(1));
  x = chain(net, x, names, hidden, window(stage.kernel, stride, stage.kernel / 2), hidden);
  x = net.conv(x, names.next(), stage.outputs, same_window(1));
  const bool is_sum = stride == 1 && net.channels(shortcut) == stage.outputs;
  x = net.batchnorm(x, names.next(), {.gain = is_sum ? k_project_gain : 1});
  return is_sum ? net.add(x, shortcut, prefix + ".add") : x;
}

}  // namespace

ir::Graph mnasnet1_0(uint64_t seed) {
  Builder net("mnasnet1_0", seed);
  Names names{"layers."};
  ValueId x = chain(net, net.image(224), names, 32, window(3, 2, 1));
  x = chain(net, x, names, 32, same_window(3), 32);
  x = net.conv(x, names.next(), 16, same_window(1));
  x = net.batchnorm(x, names.next());
  for (const Stage& stage : k_stages) {
    const std::string prefix = names.next() + ".";
    for (int i = 0; i < stage.depth; ++i)
      x = inverted_residual(net, x, prefix + std::to_string(i), stage, i == 0 ? stage.first_stride : 1);
  }
  x = chain(net, x, names, 1280, same_window(1));
  net.output("logits", net.gemm(net.spatial_mean(x, "mean"), "classifier.1", 1000));
  return net.take();
}

}  // namespace onepass::zoo
