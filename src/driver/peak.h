// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "targets/target.h"

namespace onepass::driver {

/// The f32 FMA peak of one core in GF/s, measured now: independent fma chains in all but a few registers of
/// the target's full vector width, through the same code generator as every kernel. Best of short rounds for
/// about `milliseconds`. Throws Error("foreign_target") when this host cannot execute the target.
double measure_fma_peak_gflops(const targets::Target& target, double milliseconds = 50);

}  // namespace onepass::driver
