// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx/proto.h"

namespace onepass::onnx {

/// The model's opset of the standard operators. Throws Error for what can be refused before anything is
/// built: versions, functions, sparse weights, and all operators and domains that are not ours, in one Error.
int check_model(const pb::ModelProto& model);

}  // namespace onepass::onnx
