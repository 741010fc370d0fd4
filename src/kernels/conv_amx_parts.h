// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "loops/builder.h"

namespace onepass::kernels {

/// Splits f32 vectors into parts inside a nest: v = v0 + v1 + v2, each the bf16 nearest to what is left.
class PartSplitter {
 public:
  /// Splits up to `pairs` pairs of vectors at a time.
  PartSplitter(loops::Builder& builder, int64_t parts, int pairs, int vector_lanes);

  using Pair = std::pair<loops::Value, loops::Value>;  ///< becomes the low and the high half of a word
  /// `store` gets the words of one part, one vector for each pair.
  using Store = std::function<void(int64_t part, const std::vector<loops::Value>& words)>;
  void split(const std::vector<Pair>& pairs, const Store& store);

 private:
  void take_away(int pair);

  loops::Builder& b_;
  const int64_t parts_;
  const int lanes_;
  loops::RegisterId rest_, words_;
};

}  // namespace onepass::kernels
