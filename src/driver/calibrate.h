// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "targets/machine.h"

namespace onepass::driver {

/// Measures this machine in about two seconds: every class that it executes, through the same code generators
/// and runtime as every model. Allocates 256 MiB to reach memory behind the caches.
targets::Machine calibrate();

}  // namespace onepass::driver
