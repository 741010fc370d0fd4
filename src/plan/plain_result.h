// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "plan/layout.h"

namespace onepass::plan {

/// Which convolutions write their result plain at once, or transposed, instead of in blocks that launches
/// convert.
class PlainResults {
 public:
  /// All must outlive it.
  PlainResults(const ir::Graph& graph, const std::vector<Group>& groups, const targets::Target& target,
               const PlanOptions& options);

  /// For a convolution whose source is made in the form `native`: how to write the result. Plain, when
  /// everybody reads it plain, a kernel writes it so, and no other with a conversion behind it is faster;
  /// rows, when a Transpose alone reads it (channel_rows.h) and the same holds.
  Form form_of(const Group& group, Form native) const;

 private:
  bool read_plain(ir::ValueId value) const;
  bool reads_plain(ir::NodeId reader, ir::ValueId value) const;
  std::optional<double> kernel_ns(const Group& group, Form native, const kernels::FeatureMap& dst) const;

  const ir::Graph& graph_;
  const std::vector<Group>& groups_;
  const targets::Target& target_;
  const PlanOptions& options_;
  std::vector<int32_t> group_of_;  ///< by node; -1: none
};

}  // namespace onepass::plan
