// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "plan/layout.h"
#include "plan/plan.h"
#include "plan/slices.h"

// concat_slices (docs/patterns.md): with one picture, a range of whole channel blocks is a range of bytes.
// So the operands of a Concat may lie inside its result, and the parts of a Split inside its operand.
namespace onepass::plan {

/// Where the blocked map of a value lies: in a buffer that several share, from a channel block on.
struct Place {
  int32_t shared = -1;  ///< number in Placement::shared; -1: the value has a buffer of its own
  int64_t block = 0;
};

/// A buffer of channel blocks. Its members have one halo and one plane stride.
struct SharedBuffer {
  std::string name;
  int64_t blocks = 0;
  std::vector<ir::ValueId> members;
};

struct Placement {
  std::vector<Place> of_value;
  std::vector<SharedBuffer> shared;
  std::vector<Decision>
      decisions;  ///< one for each node of which a part lies in place, one for each other part

  bool placed(ir::ValueId value) const { return of_value[value.index].shared >= 0; }
  /// `part` lies in its own channels of `whole`.
  bool lies_inside(ir::ValueId part, int64_t first_block, ir::ValueId whole) const;
};

using Halos = std::vector<std::array<kernels::Halo, k_form_count>>;  ///< by value and form

struct PlacementQuestion {
  const ir::Graph& graph;
  const std::vector<Group>& groups;
  const std::vector<Form>& forms;  ///< native, by value
  const targets::Target& target;
  loops::Scalar storage;
  std::function<double(int32_t group)> predicted_ns;                   ///< under the halos as they stand
  std::function<double(ir::ValueId part, ir::ValueId whole)> copy_ns;  ///< of a part beside its whole
};

/// The largest whole first; each part in turn. Members of a shared buffer get its halo in `halos`.
Placement place_slices(const PlacementQuestion& question, Halos& halos);
/// Every value in a buffer of its own.
Placement no_placement(const ir::Graph& graph);

}  // namespace onepass::plan
