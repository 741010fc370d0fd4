// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "artefact/format.h"
#include "ir/graph.h"
#include "runtime/loaded_model.h"

namespace onepass::verify {

/// Where element (n, c, y, x) of a value in channel blocks lies, in elements:
/// origin + n * batch_stride + c / block * plane_stride + y * row_stride + x * block + c % block.
struct Layout {
  int64_t n = 1, c = 1, h = 1, w = 1;
  int64_t block = 1;
  int64_t row_stride = 0, plane_stride = 0, batch_stride = 0;
  int64_t origin = 0;
};

/// A value inside the compiled model, to be read when the launches before `launch` have run.
struct Probe {
  std::string name;   ///< of what computes it, in the user's node names
  ir::ValueId value;  ///< in the reference graph
  int32_t launch = 0;
  artefact::OperandRecord place;
  std::optional<Layout> layout;                  ///< none: row-major
  std::optional<artefact::OperandRecord> count;  ///< int64 extent of the counted axis
};

/// A node that chooses (selection.h), as the compiled model runs it.
struct Selection {
  ir::NodeId node;            ///< in the reference graph
  std::vector<Probe> inputs;  ///< what is compared
  Probe choice;
};

/// A compiled model beside the network that it stands for.
struct Subject {
  const ir::Graph* reference = nullptr;  ///< as read, typed, before any pass
  const runtime::LoadedModel* model = nullptr;
  std::vector<Selection> selections;  ///< in the order of the reference graph
  std::vector<Probe> groups;          ///< the result of each, in execution order
};

/// What the compiled model computed.
struct FusedRun {
  std::vector<ir::Tensor> outputs;
  std::vector<std::vector<ir::Tensor>> selection_inputs;
  std::vector<ir::Tensor> choices;
  std::vector<ir::Tensor> groups;  ///< empty unless asked for
};

FusedRun run_fused(const Subject& subject, runtime::Session& session, const std::vector<ir::Tensor>& inputs,
                   bool with_groups);

}  // namespace onepass::verify
