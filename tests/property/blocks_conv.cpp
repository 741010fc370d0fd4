// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "property/blocks.h"

namespace onepass::test {

namespace {

bool has_channels(const Item& item) {
  return item.dims.size() == 4 || item.dims.size() == 3;
}

/// Weights that keep the variance of what they read.
std::string weights(NetworkBuilder& net, const ir::Shape& dims, int64_t fan_in) {
  const double bound = std::sqrt(3.0 / static_cast<double>(fan_in));
  return net.random_constant(dims, -bound, bound);
}

int64_t pick_groups(NetworkBuilder& net, int64_t channels) {
  if (net.random.chance(0.6)) return 1;
  if (net.random.chance(0.5)) return channels;
  for (const int64_t groups : {4, 2, 3})
    if (channels % groups == 0) return groups;
  return 1;
}

struct Window {
  std::vector<int64_t> kernel, strides, dilations, pads;
};

Window same_window(NetworkBuilder& net, size_t rank) {
  Window w;
  const int64_t k = net.random.pick(std::vector<int64_t>{1, 3, 3, 5}),
                d = k == 3 && net.random.chance(0.2) ? 2 : 1;
  w.kernel.assign(rank, k);
  w.strides.assign(rank, 1);
  w.dilations.assign(rank, d);
  w.pads.assign(2 * rank, (k - 1) * d / 2);
  return w;
}

Window any_window(NetworkBuilder& net, size_t rank) {
  Window w;
  for (size_t axis = 0; axis < rank; ++axis) {
    w.kernel.push_back(net.random.pick(std::vector<int64_t>{1, 2, 3, 3, 4, 5, 7}));
    w.strides.push_back(net.random.pick(std::vector<int64_t>{1, 1, 2, 2, 3}));
    w.dilations.push_back(net.random.pick(std::vector<int64_t>{1, 1, 1, 2}));
  }
  for (size_t i = 0; i < 2 * rank; ++i) w.pads.push_back(net.random.between(0, 2));
  return w;
}

std::string attributes(NetworkBuilder& net, const Window& w, int64_t groups) {
  std::string text = fmt::format("{}, {}, group={}", attribute("strides", w.strides),
                                 attribute("dilations", w.dilations), groups);
  const double form = net.random.real(0, 1);
  const bool padded = w.pads != std::vector<int64_t>(w.pads.size(), 0);
  if (form < 0.8 || !padded) return text + ", " + attribute("pads", w.pads);
  return text + (form < 0.9 ? ", auto_pad=\"SAME_UPPER\"" : ", auto_pad=\"SAME_LOWER\"");
}

/// A 1x1 convolution to that many channels.
std::optional<Item> project(NetworkBuilder& net, const Item& x, int64_t channels) {
  ir::Shape dims = {channels, x.dims[1]};
  dims.insert(dims.end(), x.dims.size() - 2, 1);
  return net.node("Conv", {x.name, weights(net, dims, x.dims[1])});
}

}  // namespace

std::optional<Item> add_conv(NetworkBuilder& net, const Item& x, bool same_extents) {
  const size_t rank = x.dims.size() - 2;
  const int64_t groups = pick_groups(net, x.dims[1]);
  const int64_t inputs = x.dims[1] / groups;
  int64_t outputs = net.random.pick(std::vector<int64_t>{1, 3, 4, 7, 8, 8, 13, 16, 16, 17, 24, 33});
  if (groups > 1)
    outputs = groups * (groups == x.dims[1] && net.random.chance(0.8) ? 1 : net.random.between(1, 9));
  const Window window = same_extents ? same_window(net, rank) : any_window(net, rank);
  ir::Shape dims = {outputs, inputs};
  dims.insert(dims.end(), window.kernel.begin(), window.kernel.end());
  std::vector<std::string> operands = {x.name, weights(net, dims, ir::element_count(dims) / outputs)};
  if (net.random.chance(0.5)) operands.push_back(net.random_constant({outputs}, -0.5, 0.5));
  return net.node("Conv", operands, attributes(net, window, groups));
}

std::optional<Item> add_batch_norm(NetworkBuilder& net, const Item& x) {
  if (x.dims.size() < 2) return std::nullopt;
  const ir::Shape channels = {x.dims[1]};
  const bool no_variance = net.random.chance(0.15);
  const std::string gain = net.random_constant(channels, no_variance ? -0.3 : -1.5, no_variance ? 0.3 : 1.5);
  const std::string shift = net.random_constant(channels, -0.5, 0.5);
  const std::string mean = net.random_constant(channels, -0.5, 0.5);
  const std::string variance = no_variance ? net.constant(fmt::format("f32[{}] fill(0)", x.dims[1]))
                                           : net.random_constant(channels, 0.05, 2);
  const char* epsilon = no_variance ? "epsilon=0.05" : net.random.chance(0.5) ? "epsilon=0.001" : "";
  return net.node("BatchNormalization", {x.name, gain, shift, mean, variance}, epsilon);
}

void conv(NetworkBuilder& net) {
  if (const auto x = net.pick(has_channels)) add_conv(net, *x, false);
}

void conv_batch_norm_activation(NetworkBuilder& net) {
  auto x = net.pick(has_channels);
  if (x) x = add_conv(net, *x, net.random.chance(0.5));
  if (x) x = add_batch_norm(net, *x);
  if (x) add_activation(net, *x);
}

void residual(NetworkBuilder& net) {
  const auto x = net.pick(has_channels);
  if (!x) return;
  auto y = add_conv(net, *x, true);
  if (y && (y->dims != x->dims || net.random.chance(0.3))) y = add_activation(net, *y);
  if (y && y->dims != x->dims) y = project(net, *y, x->dims[1]);
  if (y && net.random.chance(0.5)) y = add_batch_norm(net, *y);
  if (!y || y->dims != x->dims) return;
  const bool first = net.random.chance(0.5);
  y = net.node(net.random.pick(std::vector<std::string>{"Add", "Add", "Add", "Sub", "Mul"}),
               {first ? y->name : x->name, first ? x->name : y->name});
  if (y && net.random.chance(0.3)) y = add_batch_norm(net, *y);
  if (y && net.random.chance(0.7)) add_activation(net, *y);
}

void shared_weights(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  const std::string w = weights(net, {8, x->dims[1], 3, 3}, x->dims[1] * 9);
  const auto a = net.node("Conv", {x->name, w}, "pads=[1,1,1,1]");
  const auto b = net.node("Conv", {x->name, w}, "dilations=[2,2], pads=[2,2,2,2]");
  if (!a || !b) return;
  const auto c = add_batch_norm(net, *a);
  if (c) net.node("Add", {c->name, b->name});
}

void transposed_conv(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  const int64_t groups = x->dims[1] % 2 == 0 && net.random.chance(0.4) ? 2 : 1;
  const ir::Shape dims = {x->dims[1], net.random.pick(std::vector<int64_t>{1, 4, 8}), 3, 2};
  const auto y = net.node("ConvTranspose", {x->name, weights(net, dims, x->dims[1] / groups * 6)},
                          fmt::format("strides=[2,1], pads=[1,0,0,1], group={}", groups));
  if (y && net.random.chance(0.6)) add_batch_norm(net, *y);
}

void head(NetworkBuilder& net) {
  auto x = net.pick([](const Item& item) { return item.dims.size() == 2; });
  if (!x) {
    x = net.pick(is_map);
    if (x) x = net.node("Flatten", {x->name}, "", x->exact);
  }
  if (!x) return;
  const int64_t inputs = x->dims[1], outputs = net.random.pick(std::vector<int64_t>{1, 5, 8, 10, 17});
  std::optional<Item> y;
  if (net.random.chance(0.3)) {
    y = net.node("MatMul", {x->name, weights(net, {inputs, outputs}, inputs)});
  } else {
    const bool transposed = net.random.chance(0.6);
    std::vector<std::string> operands = {
        x->name, weights(net, transposed ? ir::Shape{outputs, inputs} : ir::Shape{inputs, outputs}, inputs)};
    if (net.random.chance(0.7))
      operands.push_back(net.random_constant({net.random.chance(0.8) ? outputs : 1}, -0.5, 0.5));
    y = net.node(
        "Gemm", operands,
        fmt::format("transB={}{}", transposed ? 1 : 0, net.random.chance(0.15) ? ", alpha=0.5" : ""));
  }
  if (y && net.random.chance(0.3)) add_activation(net, *y);
  if (y && net.random.chance(0.4)) net.node("Softmax", {y->name}, "axis=1");
}

}  // namespace onepass::test
