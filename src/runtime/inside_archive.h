// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace onepass::runtime {

/// The bytes of libonepass_inside.a: the launch walker and the plain routines that are linked into every
/// model.so. The exported symbols are k_exported_symbols of runtime/exports.h.
std::span<const std::byte> inside_archive();

}  // namespace onepass::runtime
