// SPDX-License-Identifier: Apache-2.0
#include "zoo/attention.h"
#include "zoo/networks.h"
#include "zoo/yolo_distances.h"

namespace onepass::zoo {

namespace {

using namespace yolo;

enum class Inner { bottleneck, cross_stage };

struct SplitShape {
  int64_t outputs;
  int64_t part;  ///< channels of each of the parts
  Inner inner;
};

/// 1x1, split in two, one block on the second half, everything concatenated, 1x1.
ValueId split_block(Builder& net, ValueId x, const std::string& prefix, const SplitShape& shape) {
  x = chain(net, x, prefix + ".cv1", 2 * shape.part);
  std::vector<ValueId> maps = net.split(x, {shape.part, shape.part}, prefix + ".split");
  const std::string inner = prefix + ".m.0";
  maps.push_back(shape.inner == Inner::cross_stage
                     ? cross_stage(net, maps.back(), inner, {shape.part, 2, true}, 3)
                     : bottleneck(net, maps.back(), inner, {shape.part / 2, 3, true}));
  return chain(net, net.concat(maps, prefix + ".concat"), prefix + ".cv2", shape.outputs);
}

Pyramid backbone(Builder& net, ValueId x) {
  x = chain(net, x, "model.0", 16, window(3, 2, 1));
  x = chain(net, x, "model.1", 32, window(3, 2, 1));
  x = split_block(net, x, "model.2", {64, 16, Inner::bottleneck});
  x = chain(net, x, "model.3", 64, window(3, 2, 1));
  const ValueId p3 = split_block(net, x, "model.4", {128, 32, Inner::bottleneck});
  x = chain(net, p3, "model.5", 128, window(3, 2, 1));
  const ValueId p4 = split_block(net, x, "model.6", {128, 64, Inner::cross_stage});
  x = chain(net, p4, "model.7", 256, window(3, 2, 1));
  x = split_block(net, x, "model.8", {256, 128, Inner::cross_stage});
  x = spatial_pyramid(net, x, "model.9", 256);
  return {p3, p4, attention_block(net, x, "model.10", k_distance_size / 32)};
}

/// Top-down, then bottom-up.
Pyramid neck(Builder& net, const Pyramid& maps) {
  ValueId x = net.concat({net.upsample(maps.p5, "model.11"), maps.p4}, "model.12");
  const ValueId n4 = split_block(net, x, "model.13", {128, 64, Inner::bottleneck});
  x = net.concat({net.upsample(n4, "model.14"), maps.p3}, "model.15");
  const ValueId out3 = split_block(net, x, "model.16", {64, 32, Inner::bottleneck});
  x = net.concat({chain(net, out3, "model.17", 64, window(3, 2, 1)), n4}, "model.18");
  const ValueId out4 = split_block(net, x, "model.19", {128, 64, Inner::bottleneck});
  x = net.concat({chain(net, out4, "model.20", 128, window(3, 2, 1)), maps.p5}, "model.21");
  return {out3, out4, split_block(net, x, "model.22", {256, 128, Inner::cross_stage})};
}

ValueId box_branch(Builder& net, ValueId x, const std::string& prefix) {
  x = chain(net, x, prefix + ".0", 64, same_window(3));
  x = chain(net, x, prefix + ".1", 64, same_window(3));
  return head_conv(net, x, prefix + ".2", 4 * k_bins, k_box_mean);
}

/// Depthwise 3x3 and 1x1, twice, and a plain 1x1 convolution.
ValueId class_branch(Builder& net, ValueId x, const std::string& prefix) {
  for (const std::string& part : {prefix + ".0", prefix + ".1"}) {
    x = chain(net, x, part + ".0", net.channels(x), same_window(3), net.channels(x));
    x = chain(net, x, part + ".1", k_classes);
  }
  return head_conv(net, x, prefix + ".2", k_classes, k_score_mean);
}

std::vector<HeadMaps> head(Builder& net, const Pyramid& maps) {
  std::vector<HeadMaps> levels;
  for (const ValueId map : {maps.p3, maps.p4, maps.p5}) {
    const std::string number = std::to_string(levels.size());
    const ValueId boxes = box_branch(net, map, "model.23.cv2." + number);
    levels.push_back({boxes, class_branch(net, map, "model.23.cv3." + number)});
  }
  return levels;
}

}  // namespace

ir::Graph yolo11n(uint64_t seed) {
  Builder net("yolo11n", seed);
  const ValueId image = net.image(k_distance_size, k_image_mean, k_image_variance);
  net.output("output0", decoded(net, "model.23", head(net, neck(net, backbone(net, image)))));
  return net.take();
}

}  // namespace onepass::zoo
