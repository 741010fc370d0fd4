// SPDX-License-Identifier: Apache-2.0
#include "zoo/yolo_distances.h"

#include <numeric>

#include "zoo/builder_attributes.h"

namespace onepass::zoo::yolo {

namespace {

using ir::Op;

constexpr double k_head_gain = 0.5;  // the steep part of sigmoid and softmax is where errors grow
constexpr int64_t k_cells = 80 * 80 + 40 * 40 + 20 * 20;

/// The box distributions [1,64,cells] and the class logits [1,80,cells].
std::vector<ValueId> gathered(Builder& net, const std::string& prefix, const std::vector<HeadMaps>& maps) {
  std::vector<ValueId> levels;
  for (const HeadMaps& level : maps) {
    const std::string number = std::to_string(levels.size());
    const ValueId both = net.concat({level.boxes, level.scores}, prefix + ".concat_" + number);
    levels.push_back(net.reshape(both, prefix + ".reshape_" + number, {1, 4 * k_bins + k_classes, -1}));
  }
  const ValueId x = net.node(Op::Concat, prefix + ".concat", levels, axis_attribute(2));
  return net.split(x, {4 * k_bins, k_classes}, prefix + ".split");
}

/// Returns the expected distance of each side, [1,4,cells], in cells.
ValueId distances(Builder& net, ValueId x, const std::string& prefix) {
  std::vector<float> bins(k_bins);
  std::iota(bins.begin(), bins.end(), 0.0F);
  x = net.reshape(x, prefix + ".reshape", {1, 4, k_bins, k_cells});
  x = transpose(net, x, prefix + ".transpose", {0, 2, 1, 3});
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
    const int64_t size = k_distance_size / stride;
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
    strides.insert(strides.end(), (k_distance_size / stride) * (k_distance_size / stride),
                   static_cast<float>(stride));
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

ValueId head_conv(Builder& net, ValueId x, const std::string& name, int64_t outputs, double mean) {
  return net.conv(x, name, outputs, same_window(1),
                  {.means = std::vector<double>(static_cast<size_t>(outputs), mean), .gain = k_head_gain});
}

ValueId decoded(Builder& net, const std::string& prefix, const std::vector<HeadMaps>& levels) {
  const std::vector<ValueId> parts = gathered(net, prefix, levels);
  const ValueId boxes = decode(net, parts[0], prefix);
  const ValueId scores = net.node(Op::Sigmoid, prefix + ".sigmoid", {parts[1]});
  return net.node(Op::Concat, prefix + ".output", {boxes, scores}, axis_attribute(1));
}

}  // namespace onepass::zoo::yolo
