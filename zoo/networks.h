// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ir/graph.h"

// Each network by its name in topologies.h. Layer lists and names are torchvision's.
namespace onepass::zoo {

ir::Graph resnet18(uint64_t seed);
ir::Graph resnet50(uint64_t seed);  ///< the form with the stride on the 3x3 convolution
ir::Graph mobilenet_v2(uint64_t seed);
ir::Graph mobilenet_v3_large(uint64_t seed);
ir::Graph mnasnet1_0(uint64_t seed);
ir::Graph vgg16_bn(uint64_t seed);  ///< 550 MB of weights
ir::Graph squeezenet1_1(uint64_t seed);
ir::Graph densenet121(uint64_t seed);
ir::Graph shufflenet_v2_x1_0(uint64_t seed);
ir::Graph efficientnet_b0(uint64_t seed);
ir::Graph regnet_y_400mf(uint64_t seed);
ir::Graph inception_v3(uint64_t seed);  ///< without the auxiliary classifier that only training uses

/// Detectors for 640x640 pictures in 0..1 and 80 classes, layers and names as Ultralytics' exports have them.
/// yolov5n is anchor-based: output `output0` f32[1,25200,85], boxes (centre x, centre y, width, height in
/// pixels), the score of an object, class scores. The others have no anchors: `output0` f32[1,84,8400], boxes
/// and class scores.
ir::Graph yolov5n(uint64_t seed);
ir::Graph yolov8n(uint64_t seed);
ir::Graph yolo11n(uint64_t seed);

/// An anchor-based detector of YOLOv5n's shape, 320x320, with NonMaxSuppression. Outputs `boxes`
/// f32[1,6300,4] (centre x, centre y, width, height in pixels), `scores` f32[1,80,6300],
/// `selected_indices` i64[K,3] and `selected_boxes` f32[1,K,4].
ir::Graph yolo_nms(uint64_t seed);

}  // namespace onepass::zoo
