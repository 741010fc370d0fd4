// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "zoo/yolo_blocks.h"

namespace onepass::zoo::yolo {

constexpr size_t k_anchor_count = 3;  ///< of each level

struct Anchor {
  float width, height;  ///< in pixels
};

/// Of the three levels.
using Anchors = std::array<std::array<Anchor, k_anchor_count>, 3>;

/// YOLOv5n for square pictures of `size`. Returns the fields of every anchor in every cell, f32[1,N,85]:
/// centre x, centre y, width, height in pixels, the score of an object, and those of 80 classes.
ValueId anchor_detector(Builder& net, int64_t size, const Anchors& anchors, double head_gain = 1);

}  // namespace onepass::zoo::yolo
