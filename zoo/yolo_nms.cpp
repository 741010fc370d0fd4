// SPDX-License-Identifier: Apache-2.0
#include "zoo/builder_attributes.h"
#include "zoo/networks.h"
#include "zoo/yolo_anchors.h"

namespace onepass::zoo {

namespace {

using ir::Op;
using namespace yolo;

constexpr int64_t k_size = 320;
constexpr Anchors k_anchors = {
    {{{{10, 12}, {16, 28}, {36, 24}}}, {{{20, 24}, {32, 56}, {72, 48}}}, {{{40, 48}, {64, 112}, {144, 96}}}}};
constexpr int64_t k_max_per_class = 100;
constexpr float k_iou_threshold = 0.45F, k_score_threshold = 0.25F;

struct Detections {
  ValueId boxes;   ///< [1,N,4]
  ValueId scores;  ///< [1,80,N]
};

Detections detect(Builder& net) {
  const std::vector<ValueId> parts =
      net.split(anchor_detector(net, k_size, k_anchors), {4, 1, k_classes}, "model.24.split", 2);
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
  const Detections found = detect(net);
  net.output("boxes", found.boxes);
  net.output("scores", found.scores);
  suppress(net, found);
  return net.take();
}

}  // namespace onepass::zoo
