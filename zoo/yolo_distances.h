// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zoo/yolo_blocks.h"

// The anchor-free detectors' last part: the sides of a box as distributions over distances.
namespace onepass::zoo::yolo {

constexpr int64_t k_distance_size = 640;  ///< of the pictures
constexpr int64_t k_bins = 16;            ///< of the distribution over each side's distance
constexpr double k_box_mean = 0, k_score_mean = -3;

/// The last layer of a branch: a 1x1 convolution.
ValueId head_conv(Builder& net, ValueId x, const std::string& name, int64_t outputs, double mean);

/// What the head computes at one stride.
struct HeadMaps {
  ValueId boxes, scores;  ///< 64 distributions' logits and 80 class logits
};

/// Decodes all levels in the graph: f32[1,84,8400], boxes (centre x, centre y, width, height in pixels) and
/// class scores.
ValueId decoded(Builder& net, const std::string& prefix, const std::vector<HeadMaps>& levels);

}  // namespace onepass::zoo::yolo
