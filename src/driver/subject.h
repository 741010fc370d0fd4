// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pipeline.h"
#include "verify/subject.h"

namespace onepass::driver {

/// What verify needs to compare `model` with `network`: where the values of the reference lie in it. The
/// arguments must outlive the result. Throws Error("foreign_artefact") when `model` does not run the launches
/// of `program`, that is when it was compiled from another model or with other options.
verify::Subject make_subject(const Network& network, const Program& program,
                             const runtime::LoadedModel& model);

}  // namespace onepass::driver
