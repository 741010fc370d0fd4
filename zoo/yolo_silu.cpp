// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "zoo/builder_attributes.h"
#include "zoo/networks.h"
#include "zoo/yolo_blocks.h"

namespace onepass::zoo {

namespace {

using ir::Op;
using namespace yolo;

constexpr int64_t k_size = 640;
constexpr int64_t k_bins = 16;  // of the distribution over each side's distance
constexpr int64_t k_cells = 80 * 80 + 40 * 40 + 20 * 20;
constexpr double k_box_mean = 0, k_score_mean = -3;

struct BlockShape {
  int64_t outputs;
  int depth;
  bool is_sum;
};

/// 1x1, split in two, bottlenecks on the second half, everything concatenated, 1x1.
ValueId split_block(Builder& net, ValueId x, const std::string& prefix, const BlockShape& shape) {
  const int64_t half = shape.outputs / 2;
  x = chain(net, x, prefix + ".cv1", shape.outputs);
  std::vector<ValueId> maps = net.split(x, {half, half}, prefix + ".split");
  for (int i = 0; i < shape.depth; ++i)
    maps.push_back(bottleneck(net, maps.back(), prefix + ".m." + std::to_string(i), 3, shape.is_sum));
  return chain(net, net.concat(maps, prefix + ".concat"), prefix + ".cv2", shape.outputs);
}

Pyramid backbone(Builder& net, ValueId x) {
  x = chain(net, x, "model.0", 16, window(3, 2, 1));
  x = chain(net, x, "model.1", 32, window(3, 2, 1));
  x = split_block(net, x, "model.2", {32, 1, true});
  x = chain(net, x, "model.3", 64, window(3, 2, 1));
  const ValueId p3 = split_block(net, x, "model.4", {64, 2, true});
  x = chain(net, p3, "model.5", 128, window(3, 2, 1));
  const ValueId p4 = split_block(net, x, "model.6", {128, 2, true});
  x = chain(net, p4, "model.7", 256, window(3, 2, 1));
  x = split_block(net, x, "model.8", {256, 1, true});
  return {p3, p4, spatial_pyramid(net, x, "model.9", 256)};
}

/// Top-down, then bottom-up.
Pyramid neck(Builder& net, const Pyramid& maps) {
  ValueId x = net.concat({net.upsample(maps.p5, "model.10"), maps.p4}, "model.11");
  const ValueId n4 = split_block(net, x, "model.12", {128, 1, false});
  x = net.concat({net.upsample(n4, "model.13"), maps.p3}, "model.14");
  const ValueId out3 = split_block(net, x, "model.15", {64, 1, false});
  x = net.concat({chain(net, out3, "model.16", 64, window(3, 2, 1)), n4}, "model.17");
  const ValueId out4 = split_block(net, x, "model.18", {128, 1, false});
  x = net.concat({chain(net, out4, "model.19", 128, window(3, 2, 1)), maps.p5}, "model.20");
  return {out3, out4, split_block(net, x, "model.21", {256, 1, false})};
}

struct HeadBranch {
  std::string prefix;
  int64_t width, outputs;
  double mean;
};

/// Two 3x3 chains and a plain 1x1 convolution.
ValueId head_branch(Builder& net, ValueId x, const HeadBranch& branch) {
  x = chain(net, x, branch.prefix + ".0", branch.width, same_window(3));
  x = chain(net, x, branch.prefix + ".1", branch.width, same_window(3));
  return net.conv(x, branch.prefix + ".2", branch.outputs, same_window(1),
                  {.means = std::vector<double>(static_cast<size_t>(branch.outputs), branch.mean)});
}

/// Returns the box distributions [1,64,cells] and the class logits [1,80,cells].
std::vector<ValueId> head(Builder& net, const Pyramid& maps) {
  std::vector<ValueId> levels;
  for (const ValueId map : {maps.p3, maps.p4, maps.p5}) {
    const std::string number = std::to_string(levels.size());
    const ValueId boxes = head_branch(net, map, {"model.22.cv2." + number, 64, 4 * k_bins, k_box_mean});
    const ValueId scores =
        head_branch(net, map, {"model.22.cv3." + number, k_classes, k_classes, k_score_mean});
    const ValueId both = net.concat({boxes, scores}, "model.22.concat_" + number);
    levels.push_back(net.reshape(both, "model.22.reshape_" + number, {1, 4 * k_bins + k_classes, -1}));
  }
  const ValueId x = net.node(Op::Concat, "model.22.concat", levels, axis_attribute(2));
  return net.split(x, {4 * k_bins, k_classes}, "model.22.split");
}

/// Returns the expected distance of each side, [1,4,cells], in cells.
ValueId distances(Builder& net, ValueId x, const std::string& prefix) {
  std::vector<float> bins(k_bins);
  std::iota(bins.begin(), bins.end(), 0.0F);
  ir::Attributes order;
  order.set("perm", std::vector<int64_t>{0, 2, 1, 3});
  x = net.reshape(x, prefix + ".reshape", {1, 4, k_bins, k_cells});
  x = net.node(Op::Transpose, prefix + ".transpose", {x}, order);
  x = net.node(Op::Softmax, prefix + ".softmax", {x}, axis_attribute(1));
  const ValueId weight =
      net.constant(prefix + ".conv.weight", ir::Tensor::of<float>({1, k_bins, 1, 1}, bins));
  x = net.node(Op::Conv, prefix + ".conv", {x, weight}, conv_attributes({}, 1));
  return net.reshape(x, prefix + ".reshape_1", {1, 4, k_cells});
}

/// The cell centres f32[1,2,cells], in cells.
ir::Tensor cell_centres() {
  std::vector<float> columns, rows;
  for (const int64_t stride : k_strides) {
    const int64_t size = k_size / stride;
    for (int64_t cell = 0; cell < size * size; ++cell) {
      columns.push_back(static_cast<float>(cell % size) + 0.5F);
      rows.push_back(static_cast<float>(cell / size) + 0.5F);
    }
  }
  columns.insert(columns.end(), rows.begin(), rows.end());
  return ir::Tensor::of<float>({1, 2, k_cells}, columns);
}

/// The stride of each cell, f32[1,1,cells].
ir::Tensor cell_strides() {
  std::vector<float> strides;
  for (const int64_t stride : k_strides)
    strides.insert(strides.end(), (k_size / stride) * (k_size / stride), static_cast<float>(stride));
  return ir::Tensor::of<float>({1, 1, k_cells}, strides);
}

/// Turns distances into centre and size in pixels.
ValueId decode(Builder& net, ValueId x, const std::string& prefix) {
  const ValueId centres = net.constant(prefix + ".centres", cell_centres());
  const ValueId strides = net.constant(prefix + ".strides", cell_strides());
  const ValueId two = net.scalar(prefix + ".two", 2);
  const std::vector<ValueId> sides = net.split(distances(net, x, prefix + ".dfl"), {2, 2}, prefix + ".sides");
  const ValueId low = net.node(Op::Sub, prefix + ".sub", {centres, sides[0]});
  const ValueId high = net.node(Op::Add, prefix + ".add", {centres, sides[1]});
  const ValueId total = net.node(Op::Add, prefix + ".add_1", {low, high});
  const ValueId centre = net.node(Op::Div, prefix + ".div", {total, two});
  const ValueId size = net.node(Op::Sub, prefix + ".sub_1", {high, low});
  const ValueId box = net.node(Op::Concat, prefix + ".box", {centre, size}, axis_attribute(1));
  return net.node(Op::Mul, prefix + ".mul", {box, strides});
}

}  // namespace

ir::Graph yolo_silu(uint64_t seed) {
  Builder net("yolo_silu", seed);
  const Pyramid maps = neck(net, backbone(net, net.image(k_size, k_image_mean, k_image_variance)));
  const std::vector<ValueId> parts = head(net, maps);
  const ValueId boxes = decode(net, parts[0], "model.22");
  const ValueId scores = net.node(Op::Sigmoid, "model.22.sigmoid", {parts[1]});
  net.output("output0", net.node(Op::Concat, "model.22.output", {boxes, scores}, axis_attribute(1)));
  return net.take();
}

}  // namespace onepass::zoo
