// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "ir/tensor.h"

namespace onepass::verify {

/// NumPy's .npy, version 1.0 to 3.0, C order, little-endian f4 f8 i8 i4 i1 u1 and bool; f2 is read as f32.
/// Throws Error("cannot_read" | "bad_npy").
ir::Tensor read_npy(const std::string& path);
ir::Tensor decode_npy(std::span<const std::byte> bytes, const std::string& name);

/// The file appears by rename. Throws Error("cannot_write").
void write_npy(const std::string& path, const ir::Tensor& tensor);
std::string encode_npy(const ir::Tensor& tensor);

}  // namespace onepass::verify
