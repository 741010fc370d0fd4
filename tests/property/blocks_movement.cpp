// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "property/blocks.h"

namespace onepass::test {

namespace {

bool is_wide(const Item& item) {
  return is_map(item) && item.dims[2] > 1 && item.dims[3] > 1;
}

}  // namespace

void pool(NetworkBuilder& net) {
  const auto x = net.pick(is_wide);
  if (!x) return;
  if (net.random.chance(0.15)) {
    net.node(net.random.chance(0.5) ? "GlobalAveragePool" : "GlobalMaxPool", {x->name});
    return;
  }
  const bool max = net.random.chance(0.5);
  std::vector<int64_t> kernel, strides, pads(4);
  for (int axis = 0; axis < 2; ++axis) {
    kernel.push_back(net.random.between(2, 4));
    strides.push_back(net.random.between(1, 3));
  }
  for (int i = 0; i < 4; ++i) pads[i] = net.random.chance(0.5) ? 0 : 1;
  std::string text = fmt::format("{}, {}, {}", attribute("kernel_shape", kernel),
                                 attribute("strides", strides), attribute("pads", pads));
  if (net.random.chance(0.3)) text += ", ceil_mode=1";
  if (!max && net.random.chance(0.5)) text += ", count_include_pad=1";
  if (max && net.random.chance(0.2)) text += ", dilations=[2,1]";
  const auto y = net.node(max ? "MaxPool" : "AveragePool", {x->name}, text, max && x->exact);
  if (y && net.random.chance(0.3)) add_activation(net, *y);
}

void concat(NetworkBuilder& net) {
  const auto x = net.pick([](const Item& item) { return item.dims.size() > 1; });
  if (!x) return;
  const int64_t axis =
      net.random.chance(0.8) ? 1 : net.random.between(0, static_cast<int64_t>(x->dims.size()) - 1);
  const auto joins = [&](const Item& item) {
    if (item.dims.size() != x->dims.size()) return false;
    for (size_t i = 0; i < item.dims.size(); ++i)
      if (static_cast<int64_t>(i) != axis && item.dims[i] != x->dims[i]) return false;
    return true;
  };
  std::vector<std::string> operands = {x->name};
  bool exact = x->exact;
  for (int64_t more = net.random.between(1, 3); more > 0; --more) {
    const Item other = net.pick(joins).value();
    operands.insert(net.random.chance(0.5) ? operands.begin() : operands.end(), other.name);
    exact = exact && other.exact;
  }
  net.node("Concat", operands, fmt::format("axis={}", axis), exact);
}

void split(NetworkBuilder& net) {
  const auto x = net.pick([](const Item& item) { return item.dims.size() > 1 && item.dims[1] > 1; });
  if (!x) return;
  const int64_t first = net.random.chance(0.3) && x->dims[1] > 8 ? 8 : net.random.between(1, x->dims[1] - 1);
  net.nodes(2, "Split", {x->name, net.ints({first, x->dims[1] - first})}, "axis=1", x->exact);
}

void slice(NetworkBuilder& net) {
  const auto x = net.pick(is_wide);
  if (!x) return;
  const int64_t axis = net.random.between(1, 3), step = net.random.chance(0.4) ? 2 : 1;
  net.node("Slice",
           {x->name, net.ints({net.random.chance(0.5) ? 1 : 0}), net.ints({x->dims[axis]}), net.ints({axis}),
            net.ints({step})},
           "", x->exact);
}

void pad(NetworkBuilder& net) {
  const auto x = net.pick(is_wide);
  if (!x) return;
  std::vector<int64_t> pads(8, 0);
  for (const int i : {2, 3, 6, 7}) pads[i] = net.random.between(0, 2);
  if (net.random.chance(0.2)) pads[5] = 1;
  std::vector<std::string> operands = {x->name, net.ints(pads)};
  const double form = net.random.real(0, 1);
  std::string mode;
  if (form < 0.15) operands.push_back(net.constant("f32[] {-1.5}"));
  if (form > 0.85 && pads[5] == 0) mode = form > 0.92 ? "mode=\"edge\"" : "mode=\"reflect\"";
  auto y = net.node("Pad", operands, mode, x->exact);
  if (y && net.random.chance(0.6)) add_conv(net, *y, false);
}

void transpose(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  const std::vector<std::string> orders = {"perm=[0,2,3,1]", "perm=[0,3,1,2]", "perm=[0,1,3,2]",
                                           "perm=[0,2,1,3]"};
  net.node("Transpose", {x->name}, net.random.pick(orders), x->exact);
}

void reshape(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  const double form = net.random.real(0, 1);
  const int64_t c = x->dims[1];
  if (form < 0.3) {
    net.node("Reshape", {x->name, net.ints({0, 0, -1})}, "", x->exact);
  } else if (form < 0.5) {
    net.node("Reshape", {x->name, net.ints({0, c, x->dims[3], x->dims[2]})}, "", x->exact);
  } else if (form < 0.6 && c % 4 == 0) {
    net.node("DepthToSpace", {x->name}, "blocksize=2", x->exact);
  } else if (c % 2 == 0) {  // channel shuffle
    auto y = net.node("Reshape", {x->name, net.ints({0, 2, c / 2, x->dims[2], x->dims[3]})}, "", x->exact);
    if (y) y = net.node("Transpose", {y->name}, "perm=[0,2,1,3,4]", x->exact);
    if (y) net.node("Reshape", {y->name, net.ints({0, c, x->dims[2], x->dims[3]})}, "", x->exact);
  }
}

void upsample(NetworkBuilder& net) {
  const auto x = net.pick([](const Item& item) { return is_map(item) && item.dims[2] * item.dims[3] < 200; });
  if (!x) return;
  const std::string scales = net.floats({1, 1, 2, net.random.chance(0.7) ? 2.0 : 3.0});
  const std::vector<std::string> forms = {
      "mode=\"nearest\", coordinate_transformation_mode=\"asymmetric\", nearest_mode=\"floor\"",
      "mode=\"nearest\", coordinate_transformation_mode=\"half_pixel\"", "mode=\"nearest\"",
      "mode=\"linear\", coordinate_transformation_mode=\"half_pixel\"",
      "mode=\"linear\", coordinate_transformation_mode=\"align_corners\""};
  net.node("Resize", {x->name, "_", scales}, net.random.pick(forms));
}

void reduce(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  const bool spatial = net.random.chance(0.6);
  net.node(net.random.chance(0.6) ? "ReduceMean" : "ReduceMax",
           {x->name, net.ints(spatial ? std::vector<int64_t>{2, 3} : std::vector<int64_t>{1})},
           fmt::format("keepdims={}", net.random.chance(0.6) ? 1 : 0));
}

void rearrange(NetworkBuilder& net) {
  const auto x = net.pick(is_map);
  if (!x) return;
  const int64_t c = x->dims[1];
  switch (net.random.below(6)) {
    case 0:
      net.node("Gather", {x->name, net.ints({c - 1, 0, c / 2})}, "axis=1", x->exact);
      break;
    case 1:
      net.node("Tile", {x->name, net.ints({1, 2, 1, 1})}, "", x->exact);
      break;
    case 2:
      net.node("SpaceToDepth", {x->name}, "blocksize=2", x->exact);
      break;
    case 3: {
      const auto y = net.node("Unsqueeze", {x->name, net.ints({2})}, "", x->exact);
      if (y) net.node("Expand", {y->name, net.ints({1, 1, 2, 1, 1})}, "", x->exact);
      break;
    }
    case 4: {
      const auto y = net.node("Identity", {x->name}, "", x->exact);
      if (y) net.node("Dropout", {y->name}, "", x->exact);
      break;
    }
    default:
      net.node("LRN", {x->name}, "size=3");
  }
}

}  // namespace onepass::test
