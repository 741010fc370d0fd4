// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"
#include "zoo/squeeze_excite.h"

namespace onepass::zoo {

namespace {

constexpr double k_gain = 1.4;  // of the BatchNorm before each SiLU, which is nearly a ReLU for large numbers
constexpr double k_project_gain = 0.25;  // of the BatchNorm before each sum: the shortcut carries most of it

struct Stage {
  int64_t expansion, kernel, first_stride, outputs;
  int depth;
};

constexpr Stage k_stages[] = {{1, 3, 1, 16, 1},  {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2}, {6, 3, 2, 80, 3},
                              {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4}, {6, 3, 1, 320, 1}};

/// Convolution, BatchNorm, SiLU; depthwise where there are as many groups as channels.
ValueId chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window,
              int64_t groups = 1) {
  x = net.conv(x, prefix + ".0", outputs, window, {.groups = groups});
  return net.silu(net.batchnorm(x, prefix + ".1", {.gain = k_gain}), prefix + ".2");
}

/// Expand, depthwise, squeeze and excitation, project; the sum where the shapes agree.
ValueId inverted_residual(Builder& net, ValueId x, const std::string& prefix, const Stage& stage,
                          int64_t stride) {
  const ValueId shortcut = x;
  const int64_t inputs = net.channels(x), hidden = inputs * stage.expansion;
  int index = 0;
  const auto next = [&] { return prefix + ".block." + std::to_string(index++); };
  if (stage.expansion != 1) x = chain(net, x, next(), hidden, same_window(1));
  x = chain(net, x, next(), hidden, window(stage.kernel, stride, stage.kernel / 2), hidden);
  x = squeeze_excite(net, x, next(), {inputs / 4, &Builder::silu, &Builder::sigmoid});
  const std::string project = next();
  x = net.conv(x, project + ".0", stage.outputs, same_window(1));
  const bool is_sum = stride == 1 && inputs == stage.outputs;
  x = net.batchnorm(x, project + ".1", {.gain = is_sum ? k_project_gain : 1});
  return is_sum ? net.add(x, shortcut, prefix + ".add") : x;
}

}  // namespace

ir::Graph efficientnet_b0(uint64_t seed) {
  Builder net("efficientnet_b0", seed);
  ValueId x = chain(net, net.image(224), "features.0", 32, window(3, 2, 1));
  int number = 1;
  for (const Stage& stage : k_stages) {
    const std::string prefix = "features." + std::to_string(number++) + ".";
    for (int i = 0; i < stage.depth; ++i)
      x = inverted_residual(net, x, prefix + std::to_string(i), stage, i == 0 ? stage.first_stride : 1);
  }
  x = chain(net, x, "features." + std::to_string(number), 1280, same_window(1));
  net.classifier_tail(x, "avgpool", "classifier.1");
  return net.take();
}

}  // namespace onepass::zoo
