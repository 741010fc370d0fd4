// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "artefact/description.h"
#include "driver/pipeline.h"

namespace onepass::driver {

/// The plan in the artefact's words.
artefact::Description describe(const Network& network, const Program& program, const CompileOptions& options);

/// Inputs, outputs, arena and target alone.
artefact::Description describe_interface(const Program& program);

/// Where a buffer lies when the model runs.
artefact::OperandRecord place(const plan::Buffer& buffer);

}  // namespace onepass::driver
