// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder_attributes.h"
#include "zoo/networks.h"
#include "zoo/yolo_blocks.h"

namespace onepass::zoo {

namespace {

using ir::Op;
using namespace yolo;

struct Anchor {
  float width, height;  ///< in strides
};

constexpr int64_t k_size = 320;
constexpr Anchor k_anchors[] = {{1.25F, 1.5F}, {2.0F, 3.5F}, {4.5F, 3.0F}};
constexpr int64_t k_anchor_count = std::size(k_anchors);
constexpr int64_t k_fields = 5 + k_classes;
constexpr double k_object_mean = -1, k_class_mean = -5, k_common_class_mean = -0.5;
constexpr int64_t k_common_classes = 5;
constexpr int64_t k_max_per_class = 100;
constexpr float k_iou_threshold = 0.45F, k_score_threshold = 0.25F;

struct BlockShape {
  int64_t outputs;
  int depth;
  bool is_sum;
};

/// Two 1x1 side by side, bottlenecks behind the first, concatenated, 1x1.
ValueId cross_stage(Builder& net, ValueId x, const std::string& prefix, const BlockShape& shape) {
  const int64_t half = shape.outputs / 2;
  ValueId y = chain(net, x, prefix + ".cv1", half);
  for (int i = 0; i < shape.depth; ++i)
    y = bottleneck(net, y, prefix + ".m." + std::to_string(i), 1, shape.is_sum);
  const ValueId z = chain(net, x, prefix + ".cv2", half);
  return chain(net, net.concat({y, z}, prefix + ".concat"), prefix + ".cv3", shape.outputs);
}

Pyramid backbone(Builder& net, ValueId x) {
  x = chain(net, x, "model.0", 16, window(6, 2, 2));
  x = chain(net, x, "model.1", 32, window(3, 2, 1));
  x = cross_stage(net, x, "model.2", {32, 1, true});
  x = chain(net, x, "model.3", 64, window(3, 2, 1));
  const ValueId p3 = cross_stage(net, x, "model.4", {64, 2, true});
  x = chain(net, p3, "model.5", 128, window(3, 2, 1));
  const ValueId p4 = cross_stage(net, x, "model.6", {128, 3, true});
  x = chain(net, p4, "model.7", 256, window(3, 2, 1));
  x = cross_stage(net, x, "model.8", {256, 1, true});
  return {p3, p4, spatial_pyramid(net, x, "model.9", 256)};
}

/// Top-down, then bottom-up.
Pyramid neck(Builder& net, const Pyramid& maps) {
  const ValueId n5 = chain(net, maps.p5, "model.10", 128);
  ValueId x = net.concat({net.upsample(n5, "model.11"), maps.p4}, "model.12");
  const ValueId n4 = chain(net, cross_stage(net, x, "model.13", {128, 1, false}), "model.14", 64);
  x = net.concat({net.upsample(n4, "model.15"), maps.p3}, "model.16");
  const ValueId out3 = cross_stage(net, x, "model.17", {64, 1, false});
  x = net.concat({chain(net, out3, "model.18", 64, window(3, 2, 1)), n4}, "model.19");
  const ValueId out4 = cross_stage(net, x, "model.20", {128, 1, false});
  x = net.concat({chain(net, out4, "model.21", 128, window(3, 2, 1)), n5}, "model.22");
  return {out3, out4, cross_stage(net, x, "model.23", {256, 1, false})};
}

/// The mean of each head channel: some objects, and they are of the first few classes.
std::vector<double> head_means() {
  std::vector<double> means;
  for (int64_t anchor = 0; anchor < k_anchor_count; ++anchor) {
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

LevelConstants level_constants(int64_t stride) {
  const int64_t size = k_size / stride;
  std::vector<float> grid, anchors;
  for (const Anchor& anchor : k_anchors) {
    for (int64_t cell = 0; cell < size * size; ++cell) {
      grid.push_back(static_cast<float>(cell % size) - 0.5F);
      grid.push_back(static_cast<float>(cell / size) - 0.5F);
      anchors.push_back(anchor.width * static_cast<float>(stride));
      anchors.push_back(anchor.height * static_cast<float>(stride));
    }
  }
  const ir::Shape shape = {1, k_anchor_count, size, size, 2};
  return {ir::Tensor::of<float>(shape, grid), ir::Tensor::of<float>(shape, anchors)};
}

ValueId transpose(Builder& net, ValueId x, const std::string& name, std::vector<int64_t> order) {
  ir::Attributes attributes;
  attributes.set("perm", std::move(order));
  return net.node(Op::Transpose, name, {x}, attributes);
}

/// Returns one level's fields, [1,3*h*w,85], boxes in pixels.
ValueId decode_level(Builder& net, ValueId x, const std::string& prefix, int64_t stride) {
  const int64_t size = k_size / stride;
  const LevelConstants constants = level_constants(stride);
  const ValueId grid = net.constant(prefix + ".grid", constants.grid);
  const ValueId anchors = net.constant(prefix + ".anchors", constants.anchors);
  const ValueId two = net.scalar(prefix + ".two", 2);
  const ValueId step = net.scalar(prefix + ".stride", static_cast<float>(stride));
  x = net.reshape(x, prefix + ".reshape", {1, k_anchor_count, k_fields, size, size});
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

struct Detections {
  ValueId boxes;   ///< [1,N,4]
  ValueId scores;  ///< [1,80,N]
};

Detections head(Builder& net, const Pyramid& maps) {
  const ValueId sources[] = {maps.p3, maps.p4, maps.p5};
  std::vector<ValueId> levels;
  for (size_t i = 0; i < std::size(sources); ++i) {
    const std::string number = std::to_string(i);
    const ValueId x = net.conv(sources[i], "model.24.m." + number, k_anchor_count * k_fields, same_window(1),
                               {.means = head_means()});
    levels.push_back(decode_level(net, x, "model.24.level" + number, k_strides[i]));
  }
  const ValueId x = net.node(Op::Concat, "model.24.concat", levels, axis_attribute(1));
  const std::vector<ValueId> parts = net.split(x, {4, 1, k_classes}, "model.24.split", 2);
  const ValueId scores = net.node(Op::Mul, "model.24.score", {parts[2], parts[1]});
  return {parts[0], transpose(net, scores, "model.24.transpose", {0, 2, 1})};
}

/// NonMaxSuppression, and the boxes that it selects.
void suppress(Builder& net, const Detections& found) {
  ir::Attributes attributes;
  attributes.set("center_point_box", int64_t{1});
  const std::vector<int64_t> most = {k_max_per_class};
  const ValueId selected =
      net.node(Op::NonMaxSuppression, "nms",
               {found.boxes, found.scores, net.constant("nms.max_per_class", ir::Tensor::of_ints(most)),
                net.constant("nms.iou_threshold", ir::Tensor::of<float>({1}, {&k_iou_threshold, 1})),
                net.constant("nms.score_threshold", ir::Tensor::of<float>({1}, {&k_score_threshold, 1}))},
               attributes);
  const ValueId column = net.constant("nms.box_column", ir::Tensor::scalar<int64_t>(2));
  const ValueId index = net.node(Op::Gather, "nms.box_index", {selected, column}, axis_attribute(1));
  const ValueId chosen = net.node(Op::Gather, "nms.gather", {found.boxes, index}, axis_attribute(1));
  net.output("selected_indices", selected);
  net.output("selected_boxes", chosen);
}

}  // namespace

ir::Graph yolo_nms(uint64_t seed) {
  Builder net("yolo_nms", seed);
  const Pyramid maps = neck(net, backbone(net, net.image(k_size, k_image_mean, k_image_variance)));
  const Detections found = head(net, maps);
  net.output("boxes", found.boxes);
  net.output("scores", found.scores);
  suppress(net, found);
  return net.take();
}

}  // namespace onepass::zoo
