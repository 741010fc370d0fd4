// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "ir/graph.h"

namespace onepass::ir {

/// Reads a graph from its text form:
///
///   graph NAME {
///     x = input f32[1,3,8,8]
///     w = constant f32[4,3,3,3] random(seed=1)      # also random(seed=1, lo=0.5, hi=1.5), fill(0.5), iota
///     m = constant f32[4] {1, 2.5, nan, inf}        # or hex("..."), the little-endian bytes
///     y = Conv(x, w) {pads=[1,1,1,1], auto_pad="NOTSET"} @"conv1" @opset(13) @from("conv1", "bn1")
///     a: f32[1,2,8,8], b = Split(y, s) {axis=1}
///     z = Clip(y, _, m)                             # _ is an absent optional input or output
///     output z                                      # or: output "final name" = z
///   }
///
/// Names stand before they are read; those that are no [A-Za-z_][A-Za-z0-9_.]* are quoted. Types of computed
/// values, attributes and @ notes are optional. A number with '.', exponent, inf or nan is a float attribute,
/// any other an integer; a list with one float is a list of floats; `value=f32[1] {0}` is a tensor.
/// Random values: ir/random_tensor.h.
/// Throws Error("parse_error") with line:column and what was expected.
Graph parse(std::string_view text);

}  // namespace onepass::ir
