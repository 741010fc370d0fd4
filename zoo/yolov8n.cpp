// SPDX-License-Identifier: Apache-2.0
#include "zoo/networks.h"
#include "zoo/yolo_distances.h"

namespace onepass::zoo {

namespace {

using namespace yolo;

/// 1x1, split in two, bottlenecks on the second half, everything concatenated, 1x1.
ValueId split_block(Builder& net, ValueId x, const std::string& prefix, const BlockShape& shape) {
  const int64_t half = shape.outputs / 2;
  x = chain(net, x, prefix + ".cv1", shape.outputs);
  std::vector<ValueId> maps = net.split(x, {half, half}, prefix + ".split");
  for (int i = 0; i < shape.depth; ++i)
    maps.push_back(bottleneck(net, maps.back(), prefix + ".m." + std::to_string(i), {half, 3, shape.is_sum}));
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
  return head_conv(net, x, branch.prefix + ".2", branch.outputs, branch.mean);
}

std::vector<HeadMaps> head(Builder& net, const Pyramid& maps) {
  std::vector<HeadMaps> levels;
  for (const ValueId map : {maps.p3, maps.p4, maps.p5}) {
    const std::string number = std::to_string(levels.size());
    const ValueId boxes = head_branch(net, map, {"model.22.cv2." + number, 64, 4 * k_bins, k_box_mean});
    levels.push_back(
        {boxes, head_branch(net, map, {"model.22.cv3." + number, k_classes, k_classes, k_score_mean})});
  }
  return levels;
}

}  // namespace

ir::Graph yolov8n(uint64_t seed) {
  Builder net("yolov8n", seed);
  const ValueId image = net.image(k_distance_size, k_image_mean, k_image_variance);
  net.output("output0", decoded(net, "model.22", head(net, neck(net, backbone(net, image)))));
  return net.take();
}

}  // namespace onepass::zoo
