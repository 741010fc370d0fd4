// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "onnx/proto.h"

namespace onepass::onnx {

/// The whole of a regular file. Throws Error("cannot_read" or "too_large").
std::vector<std::byte> read_file(const std::string& path);

/// Throws Error: "truncated" where a field ends beyond the bytes, "not_onnx" otherwise.
pb::ModelProto parse_model(std::span<const std::byte> bytes);

}  // namespace onepass::onnx
