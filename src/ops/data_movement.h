// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "ir/tensor.h"

// Moving elements without looking at them: the same for every element type of a size.
namespace onepass::ops {

/// Where element (i0, i1, ...) of a block lies: offset + sum of i * strides, in elements.
struct StridedBlock {
  int64_t offset = 0;
  ir::Shape strides;
};

/// The whole of `tensor` as a block.
StridedBlock whole(const ir::Tensor& tensor);

/// Copies a block of shape `extents` from src to dst (of one element type).
void copy_block(const ir::Tensor& src, const StridedBlock& from, ir::Tensor& dst, const StridedBlock& to,
                const ir::Shape& extents);

/// src with its axes in the order `permutation`, into dst.
void transpose_into(const ir::Tensor& src, const std::vector<int64_t>& permutation, ir::Tensor& dst);

constexpr int64_t k_fill = -1;  ///< an index that stands for the fill element

/// Along `axis`, element i of the result is element indices[i] of src, or `fill` (one element of src's type)
/// where indices[i] is k_fill.
ir::Tensor take(const ir::Tensor& src, int64_t axis, const std::vector<int64_t>& indices,
                const std::byte* fill = nullptr);

/// Every element of dst becomes the one at `element`.
void fill_with(ir::Tensor& dst, const std::byte* element);

}  // namespace onepass::ops
