// SPDX-License-Identifier: Apache-2.0
#include "ops/data_movement.h"

#include <cstring>

namespace onepass::ops {

namespace {

struct Row {
  int64_t count;
  int64_t src_stride;
  int64_t dst_stride;
};

template <class Word>
void copy_row(const std::byte* src, std::byte* dst, const Row& row) {
  if (row.src_stride == 1 && row.dst_stride == 1) {
    std::memcpy(dst, src, static_cast<size_t>(row.count) * sizeof(Word));
    return;
  }
  const Word* from = reinterpret_cast<const Word*>(src);
  Word* to = reinterpret_cast<Word*>(dst);
  for (int64_t i = 0; i < row.count; ++i) to[i * row.dst_stride] = from[i * row.src_stride];
}

void copy_row(int64_t element_bytes, const std::byte* src, std::byte* dst, const Row& row) {
  if (element_bytes == 1) return copy_row<uint8_t>(src, dst, row);
  if (element_bytes == 4) return copy_row<uint32_t>(src, dst, row);
  return copy_row<uint64_t>(src, dst, row);
}

int64_t dot(const ir::Shape& index, const ir::Shape& strides) {
  int64_t sum = 0;
  for (size_t axis = 0; axis < index.size(); ++axis) sum += index[axis] * strides[axis];
  return sum;
}

/// The next index in row-major order over all axes but the last; false after the last one.
bool next_row(ir::Shape& index, const ir::Shape& extents) {
  for (size_t axis = extents.size() - 1; axis-- > 0;) {
    if (++index[axis] < extents[axis]) return true;
    index[axis] = 0;
  }
  return false;
}

int64_t product(const ir::Shape& shape, size_t first, size_t last) {
  int64_t result = 1;
  for (size_t axis = first; axis < last; ++axis) result *= shape[axis];
  return result;
}

}  // namespace

StridedBlock whole(const ir::Tensor& tensor) {
  return {0, ir::row_major_strides(tensor.shape())};
}

void copy_block(const ir::Tensor& src, const StridedBlock& from, ir::Tensor& dst, const StridedBlock& to,
                const ir::Shape& extents) {
  require(src.dtype() == dst.dtype(), "elements are moved between tensors of one type");
  const int64_t size = ir::size_bytes(src.dtype());
  const std::byte* src_bytes = src.bytes() + from.offset * size;
  std::byte* dst_bytes = dst.bytes() + to.offset * size;
  if (ir::element_count(extents) == 0) return;
  if (extents.empty()) {
    std::memcpy(dst_bytes, src_bytes, static_cast<size_t>(size));
    return;
  }
  const Row row{extents.back(), from.strides.back(), to.strides.back()};
  ir::Shape index(extents.size(), 0);
  do {
    copy_row(size, src_bytes + dot(index, from.strides) * size, dst_bytes + dot(index, to.strides) * size,
             row);
  } while (next_row(index, extents));
}

void transpose_into(const ir::Tensor& src, const std::vector<int64_t>& permutation, ir::Tensor& dst) {
  const ir::Shape src_strides = ir::row_major_strides(src.shape());
  StridedBlock from;
  ir::Shape extents;
  for (const int64_t axis : permutation) {
    from.strides.push_back(src_strides[axis]);
    extents.push_back(src.shape()[axis]);
  }
  copy_block(src, from, dst, {0, ir::row_major_strides(extents)}, extents);
}

ir::Tensor take(const ir::Tensor& src, int64_t axis, const std::vector<int64_t>& indices,
                const std::byte* fill) {
  const auto at = static_cast<size_t>(axis);
  const int64_t size = ir::size_bytes(src.dtype());
  const int64_t outer = product(src.shape(), 0, at);
  const int64_t inner = product(src.shape(), at + 1, src.shape().size());
  ir::Shape shape = src.shape();
  shape[at] = static_cast<int64_t>(indices.size());
  ir::Tensor result(src.dtype(), shape);
  std::byte* to = result.bytes();
  for (int64_t block = 0; block < outer; ++block) {
    const std::byte* from = src.bytes() + block * src.shape()[at] * inner * size;
    for (const int64_t index : indices) {
      const bool filled = index == k_fill;
      copy_row(size, filled ? fill : from + index * inner * size, to, {inner, filled ? 0 : 1, 1});
      to += inner * size;
    }
  }
  return result;
}

void fill_with(ir::Tensor& dst, const std::byte* element) {
  copy_row(ir::size_bytes(dst.dtype()), element, dst.bytes(), {dst.size(), 0, 1});
}

}  // namespace onepass::ops
