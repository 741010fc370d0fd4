// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ir/tensor.h"
#include "onnx/external_data.h"
#include "onnx/proto.h"

namespace onepass::onnx {

/// No tensor of a model may have more elements than this.
inline constexpr int64_t k_max_elems = int64_t{1} << 38;

/// Whether the product of the extents, zeros left out, stays within k_max_elems and none is negative.
bool is_sane_shape(const ir::Shape& shape);

/// Reads the tensors of one model; sizes are checked against the data before anything is allocated.
class TensorReader {
 public:
  explicit TensorReader(std::string folder) : external_(std::move(folder)) {}

  /// `what` names the tensor in messages: "initializer 'w'". Throws Error.
  ir::Tensor read(const pb::TensorProto& proto, const std::string& what);
  /// Whether a float16 or bfloat16 tensor was widened to float.
  bool widened_half() const { return widened_half_; }

 private:
  ExternalData external_;
  bool widened_half_ = false;
};

}  // namespace onepass::onnx
