// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zoo/yolo_blocks.h"

namespace onepass::zoo::yolo {

/// 1x1, split in two, self-attention over the positions and a feed-forward part on the second half, both with
/// their sums, concatenated, 1x1. The maps of `x` are size x size.
ValueId attention_block(Builder& net, ValueId x, const std::string& prefix, int64_t size);

}  // namespace onepass::zoo::yolo
