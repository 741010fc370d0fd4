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

/// plain_slices: what plan/plain_placement.cpp checks. The graph does not change; values move.
inline constexpr Condition k_plain_slices[] = {
    {"C1", "the extents before the axis are all 1, so that a slice is one range of bytes of the whole"},
    {"C2",
     "slice and whole are computed, and read from plain bytes of their own: constants lie with the weights, "
     "inputs with the caller"},
    {"C3",
     "the slice does not lie at other bytes of the same buffer already (twice in one Concat, another order)"},
    {"C4", "nothing else lies where the rest of the whole needs room"},
    {"C5", "a graph output shares its buffer with its own slices alone"}};

/// concat_over: what plan/plain_slices.cpp checks.
inline constexpr Condition k_concat_over[] = {
    {"C1", "Concat and Split work along one axis, on as many parts of the same types"},
    {"C2",
     "nobody but the Split reads what it splits, and nobody but the Concat what it keeps; none is an output"},
    {"C3", "what is split is written as one: no input or constant, and not made of slices"},
    {"C4", "half of it or more is kept"},
    {"C5", "no other Concat lies in its place"}};

}  // namespace onepass::patterns
