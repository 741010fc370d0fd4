// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

constexpr int k_depths[] = {6, 12, 24, 16};
constexpr int64_t k_growth = 32;
constexpr int64_t k_bottleneck = 4 * k_growth;

/// BatchNorm, ReLU, convolution: the order of a pre-activation network.
ValueId norm_relu_conv(Builder& net, ValueId x, const std::string& prefix, const std::string& suffix,
                       int64_t outputs, int64_t kernel) {
  x = net.batchnorm(x, prefix + ".norm" + suffix);
  x = net.relu(x, prefix + ".relu" + suffix);
  return net.conv(x, prefix + ".conv" + suffix, outputs, same_window(kernel));
}

/// Each layer reads the concatenation of all before it.
ValueId dense_block(Builder& net, ValueId x, const std::string& prefix, int depth) {
  std::vector<ValueId> features = {x};
  for (int i = 1; i <= depth; ++i) {
    const std::string layer = prefix + ".denselayer" + std::to_string(i);
    x = i == 1 ? features[0] : net.concat(features, layer + ".concat");
    x = norm_relu_conv(net, x, layer, "1", k_bottleneck, 1);
    features.push_back(norm_relu_conv(net, x, layer, "2", k_growth, 3));
  }
  return net.concat(features, prefix + ".concat");
}

}  // namespace

ir::Graph densenet121(uint64_t seed) {
  Builder net("densenet121", seed);
  ValueId x = net.conv(net.image(224), "features.conv0", 64, window(7, 2, 3));
  x = net.relu(net.batchnorm(x, "features.norm0"), "features.relu0");
  x = net.maxpool(x, "features.pool0", window(3, 2, 1));
  for (size_t i = 0; i < std::size(k_depths); ++i) {
    const std::string number = std::to_string(i + 1);
    x = dense_block(net, x, "features.denseblock" + number, k_depths[i]);
    if (i + 1 == std::size(k_depths)) break;
    const std::string prefix = "features.transition" + number;
    x = norm_relu_conv(net, x, prefix, "", net.channels(x) / 2, 1);
    x = net.avgpool(x, prefix + ".pool", window(2, 2, 0));
  }
  x = net.relu(net.batchnorm(x, "features.norm5"), "relu");
  net.classifier_tail(x, "avgpool", "classifier");
  return net.take();
}

}  // namespace onepass::zoo
