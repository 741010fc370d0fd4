// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "ops/meaning.h"

namespace onepass::ops {

/// No value may have more elements: an absurd extent in a file must not become an allocation.
constexpr int64_t k_max_elements = int64_t{1} << 31;

/// `type` itself. Throws Error("bad_extent") for a negative extent and Error("too_large") above
/// k_max_elements.
ir::TensorType checked(const ir::Node& node, ir::TensorType type);

/// The result of a shape rule for a node with one output: checks `type` and that no second output is asked
/// for.
std::vector<ir::TensorType> one_output(const ShapeContext& context, ir::TensorType type);

/// `axis` counted from the front. Throws Error("bad_axis") outside [-rank, rank - 1].
int64_t normalized_axis(const ir::Node& node, int64_t axis, int64_t rank);

/// `axes` counted from the front, in increasing order. Throws Error("bad_axis") for a repeated one too.
std::vector<int64_t> normalized_axes(const ir::Node& node, const std::vector<int64_t>& axes, int64_t rank);

/// numpy broadcasting of two shapes. Throws Error("not_broadcastable").
ir::Shape broadcast_shapes(const ir::Node& node, const ir::Shape& a, const ir::Shape& b);

/// numpy broadcasting of two types of any element types: the extents and a counted axis that survives.
/// The element type of the result is that of `a`.
ir::TensorType broadcast_types(const ir::Node& node, const ir::TensorType& a, const ir::TensorType& b);

bool is_float(ir::DType dtype);    ///< f32 or f64
bool is_integer(ir::DType dtype);  ///< i64, i32, i8 or u8
bool is_numeric(ir::DType dtype);  ///< not bool, not undefined

/// Throws Error("unsupported_type") unless input `input` has one of `accepted`.
void require_dtype(const ShapeContext& context, size_t input, std::initializer_list<ir::DType> accepted);
/// The same for f32 and f64.
void require_float(const ShapeContext& context, size_t input);
/// Throws Error("unsupported_type") unless both inputs, where present, have the same element type.
void require_same_dtype(const ShapeContext& context, size_t input_a, size_t input_b);
/// Throws Error("bad_rank") unless min_rank <= rank <= max_rank.
void require_rank(const ShapeContext& context, size_t input, int64_t min_rank, int64_t max_rank);
/// Throws Error("counted_extent") when an input has a data-dependent extent, for operators that cannot have
/// one.
void require_static_extents(const ShapeContext& context);

}  // namespace onepass::ops
