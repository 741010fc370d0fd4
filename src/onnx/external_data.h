// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace onepass::onnx {

/// Reads weights that lie beside the model. A location must be relative and, links resolved, stay inside the
/// model's folder. All that is read from one file may not exceed `k_max_sharing` times its size.
class ExternalData {
 public:
  static constexpr int64_t k_max_sharing = 4;

  explicit ExternalData(std::string folder) : folder_(std::move(folder)) {}

  /// The bytes of `tensor`, exactly `size_bytes`. `what` names the tensor in messages. Throws Error.
  std::vector<std::byte> read(const pb::TensorProto& tensor, int64_t size_bytes, const std::string& what);

 private:
  std::string folder_;  ///< "": external data is refused
  std::map<std::string, int64_t> read_bytes_;
};

}  // namespace onepass::onnx
