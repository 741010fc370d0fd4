// SPDX-License-Identifier: Apache-2.0
#include "zoo/networks.h"
#include "zoo/yolo_anchors.h"

namespace onepass::zoo {

namespace {

constexpr int64_t k_size = 640;
constexpr double k_head_gain = 0.5;  // the steep part of sigmoid is where errors grow
constexpr yolo::Anchors k_anchors = {{{{{10, 13}, {16, 30}, {33, 23}}},
                                      {{{30, 61}, {62, 45}, {59, 119}}},
                                      {{{116, 90}, {156, 198}, {373, 326}}}}};

}  // namespace

ir::Graph yolov5n(uint64_t seed) {
  Builder net("yolov5n", seed);
  net.output("output0", yolo::anchor_detector(net, k_size, k_anchors, k_head_gain));
  return net.take();
}

}  // namespace onepass::zoo
