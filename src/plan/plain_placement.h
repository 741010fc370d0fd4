// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "plan/layout.h"
#include "plan/plain_slices.h"
#include "plan/plan.h"

// plain_slices and concat_over (docs/patterns.md): where nothing but extents of 1 stands before the axis, the
// operands of a Concat and the parts of a Split are ranges of its bytes and lie there; and a Concat that puts
// some parts of a Split back in their places lies in the place of what was split.
namespace onepass::plan {

/// Where the plain bytes of a value lie: in a buffer that several share.
struct PlainPlace {
  int32_t shared = -1;  ///< number in PlainPlacement::shared; -1: the value has a buffer of its own
  int64_t bytes = 0;    ///< from its start
};

struct PlainShared {
  std::string name;
  int64_t size_bytes = 0;
  int32_t output = -1;  ///< the graph output that it is
};

/// Places are those of storage: of the value that is written, not of what views make of it.
struct PlainPlacement {
  std::vector<PlainPlace> of_value;
  std::vector<PlainShared> shared;
  std::vector<ReplacedParts> replaced;
  std::vector<Decision> decisions;

  bool placed(ir::ValueId value) const { return of_value[value.index].shared >= 0; }
  /// `part` lies `first_bytes` behind the start of `whole`.
  bool lies_inside(ir::ValueId part, int64_t first_bytes, ir::ValueId whole) const;
  /// The entry of `replaced` for a Split or Concat; null when there is none.
  const ReplacedParts* replaced_by(ir::NodeId node) const;
};

struct PlainQuestion {
  const ir::Graph& graph;
  const std::vector<Group>& groups;
  const std::vector<Form>& forms;  ///< native, by value
  const targets::Target& target;
  std::function<ir::ValueId(ir::ValueId)> storage_of;  ///< the value that is written where this one lies
};

/// The largest whole first; each part in turn.
PlainPlacement place_plain_slices(const PlainQuestion& question);
PlainPlacement no_plain_placement(const ir::Graph& graph);

}  // namespace onepass::plan
