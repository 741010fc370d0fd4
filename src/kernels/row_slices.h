// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/choice.h"

namespace onepass::kernels {

/// Rows of the result that one group of slices computes.
struct RowGroup {
  int64_t begin = 0, end = 0;  ///< first row, one past the last
  int64_t done = 0;            ///< rows [0, done) are complete once this group and those before it are
  bool operator==(const RowGroup&) const = default;
};

/// How the slices of a kernel lie over the rows of its result, from top to bottom: slice
///   (o * groups.size() + g) * repeat + r     with 0 <= o < outer, 0 <= r < repeat
/// belongs to group g. Rows [begin, end) read rows [begin * stride - before, (end - 1) * stride - before +
/// extent) of the source, each divided by `divisor` and clipped to it, and the same rows of other maps.
struct RowSlices {
  int64_t outer = 1, repeat = 1;
  std::vector<RowGroup> groups;
  int64_t stride = 1, before = 0, extent = 1, divisor = 1;

  /// Source rows that `group` reads, of `src_rows`.
  int64_t first_source_row(const RowGroup& group, int64_t src_rows) const;
  int64_t end_source_row(const RowGroup& group, int64_t src_rows) const;
};

/// Nothing for kernels whose slices are no rows, and for batches.
std::optional<RowSlices> row_slices(const KernelChoice& choice, const targets::Target& target);

/// The kernel with the same packed weights whose groups have at most about `rows` rows, where its tile leaves
/// that open, and no slices along the channels.
KernelChoice with_rows(const KernelChoice& choice, int64_t rows, const targets::Target& target);

}  // namespace onepass::kernels
