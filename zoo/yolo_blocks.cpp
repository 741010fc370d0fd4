// SPDX-License-Identifier: Apache-2.0
#include "zoo/yolo_blocks.h"

namespace onepass::zoo::yolo {

namespace {

constexpr float k_epsilon = 1e-3F;
constexpr double k_gain =
    2.5;  // SiLU of large numbers is nearly a ReLU: a bright picture's excess does not grow
constexpr double k_pool_shifts[] = {2.0, 0.5, 0.3};  // each pool's window contains that of the last

}  // namespace

ValueId chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window) {
  x = net.conv(x, prefix + ".conv", outputs, window);
  return net.silu(net.batchnorm(x, prefix + ".bn", {.epsilon = k_epsilon, .gain = k_gain}), prefix + ".act");
}

ValueId bottleneck(Builder& net, ValueId x, const std::string& prefix, int64_t first_kernel, bool is_sum) {
  const int64_t width = net.channels(x);
  ValueId y = chain(net, x, prefix + ".cv1", width, same_window(first_kernel));
  y = chain(net, y, prefix + ".cv2", width, same_window(3));
  return is_sum ? net.add(x, y, prefix + ".add") : y;
}

ValueId spatial_pyramid(Builder& net, ValueId x, const std::string& prefix, int64_t outputs) {
  std::vector<ValueId> maps = {chain(net, x, prefix + ".cv1", outputs / 2)};
  for (const double shift : k_pool_shifts) {
    const std::string name = prefix + ".m_" + std::to_string(maps.size() - 1);
    maps.push_back(net.maxpool(maps.back(), name, same_window(5), {.shift = shift}));
  }
  return chain(net, net.concat(maps, prefix + ".concat"), prefix + ".cv2", outputs);
}

}  // namespace onepass::zoo::yolo
