// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ir/graph.h"

// Each network by its name in topologies.h. Layer lists and names are torchvision's.
namespace onepass::zoo {

ir::Graph resnet18(uint64_t seed);
ir::Graph resnet50(uint64_t seed);  ///< the form with the stride on the 3x3 convolution
ir::Graph mobilenet_v2(uint64_t seed);
ir::Graph vgg16_bn(uint64_t seed);  ///< 550 MB of weights
ir::Graph squeezenet1_1(uint64_t seed);
ir::Graph densenet121(uint64_t seed);
ir::Graph inception_v3(uint64_t seed);  ///< without the auxiliary classifier that only training uses

/// An anchor-free detector of YOLOv8n's shape, 640x640, boxes decoded in the graph. Output `output0`
/// f32[1,84,8400]: boxes (centre x, centre y, width, height in pixels) and 80 class scores.
ir::Graph yolo_silu(uint64_t seed);

/// An anchor-based detector of YOLOv5n's shape, 320x320, with NonMaxSuppression. Outputs `boxes`
/// f32[1,6300,4] (centre x, centre y, width, height in pixels), `scores` f32[1,80,6300],
/// `selected_indices` i64[K,3] and `selected_boxes` f32[1,K,4].
ir::Graph yolo_nms(uint64_t seed);

}  // namespace onepass::zoo
