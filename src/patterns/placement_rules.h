// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "patterns/pattern.h"

namespace onepass::patterns {

/// concat_slices: what plan/placement.cpp checks. The graph does not change; maps move.
inline constexpr Condition k_concat_slices[] = {
    {"C1",
     "the node works along the channels of f32 maps of rank 4 in channel blocks, and every slice is whole "
     "blocks"},
    {"C2", "a map holds one picture, so that its blocks lie one after another"},
    {"C3", "the slice is computed: constants lie with the weights"},
    {"C4", "the slice's blocks are bytes of their own: one pixel that is computed plain is read from there"},
    {"C5",
     "the slice does not lie at other channels of the same buffer already (twice in one Concat, another "
     "order)"},
    {"C6", "nothing else lies where the rest of the map needs room"},
    {"C7", "one halo for all that share the buffer is predicted to cost no more than the copy"}};

}  // namespace onepass::patterns
