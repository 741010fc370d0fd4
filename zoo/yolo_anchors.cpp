// SPDX-License-Identifier: Apache-2.0
#include "zoo/yolo_anchors.h"

#include "zoo/builder_attributes.h"

namespace onepass::zoo::yolo {

namespace {

using ir::Op;

constexpr int64_t k_fields = 5 + k_classes;
constexpr double k_object_mean = -1, k_class_mean = -5, k_common_class_mean = -0.5;
constexpr int64_t k_common_classes = 5;

/// What the decoding of one level depends on.
struct Level {
  int64_t stride, size;  ///< the cells are size x size
  std::array<Anchor, k_anchor_count> anchors;
};

Pyramid backbone(Builder& net, ValueId x) {
  x = chain(net, x, "model.0", 16, window(6, 2, 2));
  x = chain(net, x, "model.1", 32, window(3, 2, 1));
  x = cross_stage(net, x, "model.2", {32, 1, true}, 1);
  x = chain(net, x, "model.3", 64, window(3, 2, 1));
  const ValueId p3 = cross_stage(net, x, "model.4", {64, 2, true}, 1);
  x = chain(net, p3, "model.5", 128, window(3, 2, 1));
  const ValueId p4 = cross_stage(net, x, "model.6", {128, 3, true}, 1);
  x = chain(net, p4, "model.7", 256, window(3, 2, 1));
  x = cross_stage(net, x, "model.8", {256, 1, true}, 1);
  return {p3, p4, spatial_pyramid(net, x, "model.9", 256)};
}

/// Top-down, then bottom-up.
Pyramid neck(Builder& net, const Pyramid& maps) {
  const ValueId n5 = chain(net, maps.p5, "model.10", 128);
  ValueId x = net.concat({net.upsample(n5, "model.11"), maps.p4}, "model.12");
  const ValueId n4 = chain(net, cross_stage(net, x, "model.13", {128, 1, false}, 1), "model.14", 64);
  x = net.concat({net.upsample(n4, "model.15"), maps.p3}, "model.16");
  const ValueId out3 = cross_stage(net, x, "model.17", {64, 1, false}, 1);
  x = net.concat({chain(net, out3, "model.18", 64, window(3, 2, 1)), n4}, "model.19");
  const ValueId out4 = cross_stage(net, x, "model.20", {128, 1, false}, 1);
  x = net.concat({chain(net, out4, "model.21", 128, window(3, 2, 1)), n5}, "model.22");
  return {out3, out4, cross_stage(net, x, "model.23", {256, 1, false}, 1)};
}

/// The mean of each head channel: some objects, and they are of the first few classes.
std::vector<double> head_means() {
  std::vector<double> means;
  for (size_t anchor = 0; anchor < k_anchor_count; ++anchor) {
    means.insert(means.end(), 4, 0);
    means.push_back(k_object_mean);
    means.insert(means.end(), k_common_classes, k_common_class_mean);
    means.insert(means.end(), k_classes - k_common_classes, k_class_mean);
  }
  return means;
}

/// The grid less one half, and the anchors in pixels, both f32[1,3,h,w,2].
struct LevelConstants {
  ir::Tensor grid, anchors;
};

LevelConstants level_constants(const Level& level) {
  const int64_t size = level.size;
  std::vector<float> grid, anchors;
  for (const Anchor& anchor : level.anchors) {
    for (int64_t cell = 0; cell < size * size; ++cell) {
      grid.push_back(static_cast<float>(cell % size) - 0.5F);
      grid.push_back(static_cast<float>(cell / size) - 0.5F);
      anchors.push_back(anchor.width);
      anchors.push_back(anchor.height);
    }
  }
  const ir::Shape shape = {1, k_anchor_count, size, size, 2};
  return {ir::Tensor::of<float>(shape, grid), ir::Tensor::of<float>(shape, anchors)};
}

/// Returns one level's fields, [1,3*h*w,85], boxes in pixels.
ValueId decode_level(Builder& net, ValueId x, const std::string& prefix, const Level& level) {
  const LevelConstants constants = level_constants(level);
  const ValueId grid = net.constant(prefix + ".grid", constants.grid);
  const ValueId anchors = net.constant(prefix + ".anchors", constants.anchors);
  const ValueId two = net.scalar(prefix + ".two", 2);
  const ValueId step = net.scalar(prefix + ".stride", static_cast<float>(level.stride));
  x = net.reshape(x, prefix + ".reshape", {1, k_anchor_count, k_fields, level.size, level.size});
  x = transpose(net, x, prefix + ".transpose", {0, 1, 3, 4, 2});
  x = net.node(Op::Sigmoid, prefix + ".sigmoid", {x});
  const std::vector<ValueId> parts = net.split(x, {2, 2, k_fields - 4}, prefix + ".split", 4);
  ValueId centre = net.node(Op::Mul, prefix + ".mul", {parts[0], two});
  centre = net.node(Op::Add, prefix + ".add", {centre, grid});
  centre = net.node(Op::Mul, prefix + ".mul_1", {centre, step});
  ValueId extent = net.node(Op::Mul, prefix + ".mul_2", {parts[1], two});
  extent = net.node(Op::Pow, prefix + ".pow", {extent, two});
  extent = net.node(Op::Mul, prefix + ".mul_3", {extent, anchors});
  x = net.node(Op::Concat, prefix + ".concat", {centre, extent, parts[2]}, axis_attribute(4));
  return net.reshape(x, prefix + ".reshape_1", {1, -1, k_fields});
}

}  // namespace

ValueId anchor_detector(Builder& net, int64_t size, const Anchors& anchors, double head_gain) {
  const Pyramid maps = neck(net, backbone(net, net.image(size, k_image_mean, k_image_variance)));
  const ValueId sources[] = {maps.p3, maps.p4, maps.p5};
  std::vector<ValueId> levels;
  for (size_t i = 0; i < std::size(sources); ++i) {
    const std::string number = std::to_string(i);
    const ValueId x = net.conv(sources[i], "model.24.m." + number, k_anchor_count * k_fields, same_window(1),
                               {.means = head_means(), .gain = head_gain});
    const Level level = {k_strides[i], size / k_strides[i], anchors[i]};
    levels.push_back(decode_level(net, x, "model.24.level" + number, level));
  }
  return net.node(Op::Concat, "model.24.concat", levels, axis_attribute(1));
}

}  // namespace onepass::zoo::yolo
