// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/pointwise.h"

namespace onepass::kernels {

/// The one window is the whole map.
bool is_global_pool(const PoolSpec& spec);
/// Sums in several chains, which are then added pairwise: rounding differs from one chain's, the order is
/// fixed. Of maxima that are zero, the sign may be that of any.
loops::LoopNest global_pool(const std::string& name, const PoolSpec& spec, const targets::Target& target);

}  // namespace onepass::kernels
