// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "property/network_builder.h"

namespace onepass::test {

/// A part of a network: adds its nodes behind values that fit, or nothing.
using Block = void (*)(NetworkBuilder&);

// blocks_conv.cpp
std::optional<Item> add_conv(NetworkBuilder& net, const Item& x, bool same_extents);
std::optional<Item> add_batch_norm(NetworkBuilder& net, const Item& x);
void conv(NetworkBuilder& net);
void conv_batch_norm_activation(NetworkBuilder& net);
void residual(NetworkBuilder& net);
void shared_weights(NetworkBuilder& net);
void transposed_conv(NetworkBuilder& net);
void head(NetworkBuilder& net);  ///< Gemm or MatMul, perhaps Softmax

// blocks_pointwise.cpp
std::optional<Item> add_activation(NetworkBuilder& net, const Item& x);
void activation(NetworkBuilder& net);
void batch_norm(NetworkBuilder& net);
void affine(NetworkBuilder& net);  ///< one binary operator with a constant
void binary(NetworkBuilder& net);
void decomposed(NetworkBuilder& net);    ///< an activation as exporters spell it out
void gate(NetworkBuilder& net);          ///< squeeze and excite
void spatial_gate(NetworkBuilder& net);  ///< one factor per pixel

// blocks_movement.cpp
void pool(NetworkBuilder& net);
void concat(NetworkBuilder& net);
void split(NetworkBuilder& net);
void slice(NetworkBuilder& net);
void pad(NetworkBuilder& net);
void transpose(NetworkBuilder& net);
void reshape(NetworkBuilder& net);
void upsample(NetworkBuilder& net);
void reduce(NetworkBuilder& net);
void rearrange(NetworkBuilder& net);

inline bool is_map(const Item& item) {
  return item.dims.size() == 4;
}

}  // namespace onepass::test
