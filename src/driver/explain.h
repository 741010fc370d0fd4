// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/pipeline.h"
#include "report/explanation.h"

namespace onepass::driver {

/// What compiling does with these options, beside what the network costs unfused and folded.
report::Explanation explain_network(const Network& network, CompileOptions options);

}  // namespace onepass::driver
