// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/tensor.h"
#include "runtime/loaded_model.h"
#include "verify/preprocess.h"

namespace onepass::tool {

/// Fills the session's inputs from `sources`, each [NAME=]FILE.npy, [NAME=]PICTURE or [NAME=]random; without
/// NAME they go to the inputs in order. Inputs that get nothing are random (seeded). Throws
/// Error("bad_input").
void fill_inputs(const runtime::LoadedModel& model, runtime::Session& session,
                 const std::vector<std::string>& sources, const verify::PreprocessByInput& preprocessing);

/// The outputs of the last run with their actual extents.
struct NamedTensor {
  std::string name;
  ir::Tensor tensor;
};
std::vector<NamedTensor> outputs_of(const runtime::LoadedModel& model, const runtime::Session& session);

}  // namespace onepass::tool
