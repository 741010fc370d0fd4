// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zoo/builder.h"

// The parts that both detectors share.
namespace onepass::zoo::yolo {

constexpr int64_t k_classes = 80;
constexpr int64_t k_strides[] = {8, 16, 32};
/// Of pictures in 0..1.
constexpr double k_image_mean = 0.45, k_image_variance = 0.08;

/// The feature maps at strides 8, 16 and 32.
struct Pyramid {
  ValueId p3, p4, p5;
};

/// Convolution, BatchNorm, SiLU.
ValueId chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window = {});

/// Two convolutions, with the sum where asked for.
ValueId bottleneck(Builder& net, ValueId x, const std::string& prefix, int64_t first_kernel, bool is_sum);

/// Three 5x5 max pools in a row, all four maps concatenated.
ValueId spatial_pyramid(Builder& net, ValueId x, const std::string& prefix, int64_t outputs);

}  // namespace onepass::zoo::yolo
