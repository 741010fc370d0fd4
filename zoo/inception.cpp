// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder.h"
#include "zoo/networks.h"

namespace onepass::zoo {

namespace {

constexpr float k_epsilon = 1e-3F;

struct Layer {
  const char* suffix;
  int64_t outputs;
  Window window;
};

constexpr Window k_1x1 = same_window(1);
constexpr Window k_3x3 = same_window(3);
constexpr Window k_5x5 = same_window(5);
constexpr Window k_row7 = same_window(1, 7);
constexpr Window k_column7 = same_window(7, 1);
constexpr Window k_halving = window(3, 2, 0);

/// Convolution, BatchNorm, ReLU.
ValueId chain(Builder& net, ValueId x, const std::string& name, int64_t outputs, Window window) {
  x = net.conv(x, name + ".conv", outputs, window);
  return net.relu(net.batchnorm(x, name + ".bn", {.epsilon = k_epsilon}), name + ".relu");
}

ValueId chains(Builder& net, ValueId x, const std::string& prefix, const std::vector<Layer>& layers) {
  for (const Layer& layer : layers) x = chain(net, x, prefix + layer.suffix, layer.outputs, layer.window);
  return x;
}

/// 3x3 average pool, then 1x1.
ValueId pool_branch(Builder& net, ValueId x, const std::string& prefix, int64_t outputs) {
  x = net.avgpool(x, prefix + ".avgpool", k_3x3);
  return chain(net, x, prefix + ".branch_pool", outputs, k_1x1);
}

/// 35x35: 1x1, 5x5, double 3x3, pool.
ValueId block_a(Builder& net, ValueId x, const std::string& prefix, int64_t pool_outputs) {
  const ValueId a = chain(net, x, prefix + ".branch1x1", 64, k_1x1);
  const ValueId b = chains(net, x, prefix + ".branch5x5", {{"_1", 48, k_1x1}, {"_2", 64, k_5x5}});
  const ValueId c =
      chains(net, x, prefix + ".branch3x3dbl", {{"_1", 64, k_1x1}, {"_2", 96, k_3x3}, {"_3", 96, k_3x3}});
  return net.concat({a, b, c, pool_branch(net, x, prefix, pool_outputs)}, prefix + ".concat");
}

/// 35x35 to 17x17.
ValueId block_b(Builder& net, ValueId x, const std::string& prefix) {
  const ValueId a = chain(net, x, prefix + ".branch3x3", 384, k_halving);
  const ValueId b =
      chains(net, x, prefix + ".branch3x3dbl", {{"_1", 64, k_1x1}, {"_2", 96, k_3x3}, {"_3", 96, k_halving}});
  return net.concat({a, b, net.maxpool(x, prefix + ".maxpool", k_halving)}, prefix + ".concat");
}

/// 17x17: 1x1, factored 7x7, double factored 7x7, pool.
ValueId block_c(Builder& net, ValueId x, const std::string& prefix, int64_t width) {
  const ValueId a = chain(net, x, prefix + ".branch1x1", 192, k_1x1);
  const ValueId b = chains(net, x, prefix + ".branch7x7",
                           {{"_1", width, k_1x1}, {"_2", width, k_row7}, {"_3", 192, k_column7}});
  const ValueId c = chains(net, x, prefix + ".branch7x7dbl",
                           {{"_1", width, k_1x1},
                            {"_2", width, k_column7},
                            {"_3", width, k_row7},
                            {"_4", width, k_column7},
                            {"_5", 192, k_row7}});
  return net.concat({a, b, c, pool_branch(net, x, prefix, 192)}, prefix + ".concat");
}

/// 17x17 to 8x8.
ValueId block_d(Builder& net, ValueId x, const std::string& prefix) {
  const ValueId a = chains(net, x, prefix + ".branch3x3", {{"_1", 192, k_1x1}, {"_2", 320, k_halving}});
  const ValueId b =
      chains(net, x, prefix + ".branch7x7x3",
             {{"_1", 192, k_1x1}, {"_2", 192, k_row7}, {"_3", 192, k_column7}, {"_4", 192, k_halving}});
  return net.concat({a, b, net.maxpool(x, prefix + ".maxpool", k_halving)}, prefix + ".concat");
}

/// 1x3 and 3x1 side by side; `outer` is the suffix that they share.
ValueId fork(Builder& net, ValueId x, const std::string& prefix, const std::string& outer) {
  const ValueId a = chain(net, x, prefix + outer + "a", 384, same_window(1, 3));
  const ValueId b = chain(net, x, prefix + outer + "b", 384, same_window(3, 1));
  return net.concat({a, b}, prefix + ".concat");
}

/// 8x8: 1x1, forked 3x3, double forked 3x3, pool.
ValueId block_e(Builder& net, ValueId x, const std::string& prefix) {
  const std::string single = prefix + ".branch3x3", twice = prefix + ".branch3x3dbl";
  const ValueId a = chain(net, x, prefix + ".branch1x1", 320, k_1x1);
  const ValueId b = fork(net, chain(net, x, single + "_1", 384, k_1x1), single, "_2");
  const ValueId c = fork(net, chains(net, x, twice, {{"_1", 448, k_1x1}, {"_2", 384, k_3x3}}), twice, "_3");
  return net.concat({a, b, c, pool_branch(net, x, prefix, 192)}, prefix + ".concat");
}

/// 299x299 to 35x35.
ValueId stem(Builder& net, ValueId x) {
  x = chain(net, x, "Conv2d_1a_3x3", 32, k_halving);
  x = chain(net, x, "Conv2d_2a_3x3", 32, window(3, 1, 0));
  x = chain(net, x, "Conv2d_2b_3x3", 64, k_3x3);
  x = net.maxpool(x, "maxpool1", k_halving);
  x = chain(net, x, "Conv2d_3b_1x1", 80, k_1x1);
  x = chain(net, x, "Conv2d_4a_3x3", 192, window(3, 1, 0));
  return net.maxpool(x, "maxpool2", k_halving);
}

}  // namespace

ir::Graph inception_v3(uint64_t seed) {
  Builder net("inception_v3", seed);
  ValueId x = stem(net, net.image(299));
  x = block_a(net, x, "Mixed_5b", 32);
  x = block_a(net, x, "Mixed_5c", 64);
  x = block_a(net, x, "Mixed_5d", 64);
  x = block_b(net, x, "Mixed_6a");
  x = block_c(net, x, "Mixed_6b", 128);
  x = block_c(net, x, "Mixed_6c", 160);
  x = block_c(net, x, "Mixed_6d", 160);
  x = block_c(net, x, "Mixed_6e", 192);
  x = block_d(net, x, "Mixed_7a");
  x = block_e(net, x, "Mixed_7b");
  x = block_e(net, x, "Mixed_7c");
  net.classifier_tail(x, "avgpool", "fc");
  return net.take();
}

}  // namespace onepass::zoo
