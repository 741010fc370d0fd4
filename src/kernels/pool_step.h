// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "kernels/pointwise.h"
#include "kernels/rows.h"

namespace onepass::kernels {

/// How the rows of a pool whose windows are not the whole map are shared out to slices.
RowGrid pool_grid(const PoolSpec& spec);

/// The value of a window without taps.
inline loops::Value pool_start(PoolSpec::Kind kind, int lanes) {
  const double start = kind == PoolSpec::Kind::max ? -std::numeric_limits<double>::infinity() : 0;
  return loops::constant(start, lanes);
}

/// One more tap. `max(tap, acc)` keeps acc where the two are equal or acc is NaN; a NaN tap has to be put in.
inline loops::Value pool_step(PoolSpec::Kind kind, const loops::Value& acc, const loops::Value& tap) {
  if (kind == PoolSpec::Kind::average) return loops::binary(loops::Binary::add, acc, tap);
  return loops::select(loops::Compare::ne, tap, tap, tap, loops::binary(loops::Binary::max, tap, acc));
}

}  // namespace onepass::kernels
