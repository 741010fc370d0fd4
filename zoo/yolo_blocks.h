// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "zoo/builder.h"

// The parts that the detectors share.
namespace onepass::zoo::yolo {

constexpr int64_t k_classes = 80;
constexpr int64_t k_strides[] = {8, 16, 32};
/// Of pictures in 0..1.
constexpr double k_image_mean = 0.45, k_image_variance = 0.08;

/// The feature maps at strides 8, 16 and 32.
struct Pyramid {
  ValueId p3, p4, p5;
};

struct BottleneckShape {
  int64_t hidden;  ///< channels between the two convolutions; as many come out as went in
  int64_t first_kernel;
  bool is_sum;
};

/// Of a block with bottlenecks inside.
struct BlockShape {
  int64_t outputs;
  int depth;
  bool is_sum;
};

/// Convolution and BatchNorm.
ValueId linear_chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window = {},
                     int64_t groups = 1);
/// The same, and SiLU.
ValueId chain(Builder& net, ValueId x, const std::string& prefix, int64_t outputs, Window window = {},
              int64_t groups = 1);

/// Two convolutions, the second 3x3, with the sum where asked for.
ValueId bottleneck(Builder& net, ValueId x, const std::string& prefix, const BottleneckShape& shape);

/// Two 1x1 side by side, bottlenecks behind the first, concatenated, 1x1.
ValueId cross_stage(Builder& net, ValueId x, const std::string& prefix, const BlockShape& shape,
                    int64_t first_kernel);

/// Three 5x5 max pools in a row, all four maps concatenated.
ValueId spatial_pyramid(Builder& net, ValueId x, const std::string& prefix, int64_t outputs);

ValueId transpose(Builder& net, ValueId x, const std::string& name, std::vector<int64_t> order);

}  // namespace onepass::zoo::yolo
