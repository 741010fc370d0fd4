// SPDX-License-Identifier: Apache-2.0
//
// Networks without residuals: VGG-16 with BatchNorm, and SqueezeNet 1.1 without.
#include "zoo/builder.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

constexpr int64_t k_pool = 0;  // in a list of widths: a max pool
constexpr int64_t k_vgg16[] = {64,     64,  k_pool, 128, 128,    k_pool, 256, 256, 256,
                               k_pool, 512, 512,    512, k_pool, 512,    512, 512, k_pool};

/// One item of SqueezeNet: a fire module, or a max pool where squeeze is k_pool.
struct Fire {
  int64_t squeeze, expand;
};
constexpr Fire k_squeezenet[] = {{k_pool, 0}, {16, 64},  {16, 64},  {k_pool, 0}, {32, 128}, {32, 128},
                                 {k_pool, 0}, {48, 192}, {48, 192}, {64, 256},   {64, 256}};

ValueId conv_relu(Builder& net, ValueId x, const std::string& name, int64_t outputs, int64_t kernel) {
  x = net.conv(x, name, outputs, same_window(kernel), {.has_bias = true});
  return net.relu(x, name + "_activation");
}

/// A 1x1 squeeze, then 1x1 and 3x3 side by side.
ValueId fire(Builder& net, ValueId x, const std::string& prefix, const Fire& widths) {
  x = conv_relu(net, x, prefix + ".squeeze", widths.squeeze, 1);
  const ValueId a = conv_relu(net, x, prefix + ".expand1x1", widths.expand, 1);
  const ValueId b = conv_relu(net, x, prefix + ".expand3x3", widths.expand, 3);
  return net.concat({a, b}, prefix + ".concat");
}

std::string feature(int index) {
  return "features." + std::to_string(index);
}

}  // namespace

ir::Graph vgg16_bn(uint64_t seed) {
  Builder net("vgg16_bn", seed);
  ValueId x = net.image(224);
  int index = 0;
  for (const int64_t outputs : k_vgg16) {
    if (outputs == k_pool) {
      x = net.maxpool(x, feature(index++), window(2, 2, 0));
      continue;
    }
    x = net.conv(x, feature(index++), outputs, same_window(3), {.has_bias = true});
    x = net.batchnorm(x, feature(index++));
    x = net.relu(x, feature(index++));
  }
  x = net.flatten(x, "flatten", 7 * 7);
  x = net.relu(net.gemm(x, "classifier.0", 4096), "classifier.1");
  x = net.relu(net.gemm(x, "classifier.3", 4096), "classifier.4");
  net.output("logits", net.gemm(x, "classifier.6", 1000));
  return net.take();
}

ir::Graph squeezenet1_1(uint64_t seed) {
  Builder net("squeezenet1_1", seed);
  ValueId x = net.conv(net.image(224), "features.0", 64, window(3, 2, 0), {.has_bias = true});
  x = net.relu(x, "features.1");
  int index = 2;
  for (const Fire& widths : k_squeezenet) {
    const std::string prefix = feature(index++);
    x = widths.squeeze == k_pool ? net.maxpool(x, prefix, window(3, 2, 0), {.ceil = true})
                                 : fire(net, x, prefix, widths);
  }
  x = net.conv(x, "classifier.1", 1000, same_window(1), {.has_bias = true});
  x = net.global_avgpool(net.relu(x, "classifier.2"), "classifier.3");
  net.output("logits", net.flatten(x, "flatten"));
  return net.take();
}

}  // namespace onepass::zoo
