// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace onepass::test {

/// A small network in text form, the same for the same seed on every machine: convolutions of every kind,
/// folded and decomposed spellings around them, residual adds, concats, pools, gates, movements, heads,
/// several graph outputs. Values stay of the order of one, and operators that jump (Floor, ThresholdedRelu,
/// ..) read values without rounding errors alone, so that two correct programs agree within rounding.
std::string random_graph(uint32_t seed);

}  // namespace onepass::test
