// SPDX-License-Identifier: Apache-2.0
#include "zoo/yolo_blocks.h"

namespace onepass::zoo::yolo {

namespace {

constexpr float k_epsilon = 1e-3F;
constexpr double k_gain =
    2.5;  // SiLU of large numbers is nearly a ReLU: a bright picture's excess does not grow
constexpr double k_pool_shifts[] = {2.0, 0.5, 0.3};  // each pool's window contains that of the last

}  // namespace

ValueId linear_chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window,
                     int64_t groups) {
  x = net.conv(x, prefix + ".conv", outputs, window, {.groups = groups});
  return net.batchnorm(x, prefix + ".bn", {.epsilon = k_epsilon});
}

ValueId chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window,
              int64_t groups) {
  x = net.conv(x, prefix + ".conv", outputs, window, {.groups = groups});
  return net.silu(net.batchnorm(x, prefix + ".bn", {.epsilon = k_epsilon, .gain = k_gain}), prefix + ".act");
}

ValueId bottleneck(Builder& net, ValueId x, const std::string& prefix, const BottleneckShape& shape) {
  ValueId y = chain(net, x, prefix + ".cv1", shape.hidden, same_window(shape.first_kernel));
  y = chain(net, y, prefix + ".cv2", net.channels(x), same_window(3));
  return shape.is_sum ? net.add(x, y, prefix + ".add") : y;
}

ValueId cross_stage(Builder& net, ValueId x, const std::string& prefix, const BlockShape& shape,
                    int64_t first_kernel) {
  const int64_t half = shape.outputs / 2;
  ValueId y = chain(net, x, prefix + ".cv1", half);
  for (int i = 0; i < shape.depth; ++i)
    y = bottleneck(net, y, prefix + ".m." + std::to_string(i), {half, first_kernel, shape.is_sum});
  const ValueId z = chain(net, x, prefix + ".cv2", half);
  return chain(net, net.concat({y, z}, prefix + ".concat"), prefix + ".cv3", shape.outputs);
}

ValueId spatial_pyramid(Builder& net, ValueId x, const std::string& prefix, int64_t outputs) {
  std::vector<ValueId> maps = {chain(net, x, prefix + ".cv1", outputs / 2)};
  for (const double shift : k_pool_shifts) {
    const std::string name = prefix + ".m_" + std::to_string(maps.size() - 1);
    maps.push_back(net.maxpool(maps.back(), name, same_window(5), {.shift = shift}));
  }
  return chain(net, net.concat(maps, prefix + ".concat"), prefix + ".cv2", outputs);
}

ValueId transpose(Builder& net, ValueId x, const std::string& name, std::vector<int64_t> order) {
  ir::Attributes attributes;
  attributes.set("perm", std::move(order));
  return net.node(ir::Op::Transpose, name, {x}, attributes);
}

}  // namespace onepass::zoo::yolo
