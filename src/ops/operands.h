// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ops/meaning.h"

namespace onepass::ops {

/// A known i32 or i64 operand of rank 0 or 1: axes, shapes, starts. Throws Error naming the node.
std::vector<int64_t> int_operand(const ShapeContext& context, size_t input);
/// The same, with one element.
int64_t int_scalar_operand(const ShapeContext& context, size_t input);
/// An integer attribute that the standard requires. Throws Error("missing_attribute").
int64_t required_int(const ir::Node& node, const char* name);

/// 0, 1, ... rank-1.
std::vector<int64_t> all_axes(int64_t rank);

/// Throws Error("counted_extent"): the operator cannot carry the data-dependent extent of input `input`.
[[noreturn]] void refuse_counted(const ShapeContext& context, size_t input, const char* accepted);

}  // namespace onepass::ops
