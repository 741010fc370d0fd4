// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pipeline.h"
#include "onepass/onepass.h"

struct onepass_options {
  onepass::driver::CompileOptions compile;
};

namespace onepass::capi {

/// What the handle holds, or the defaults for null.
driver::CompileOptions compile_options(const onepass_options* options);

}  // namespace onepass::capi
