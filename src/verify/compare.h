// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ir/graph.h"

namespace onepass::verify {

/// Which operand of a Concat each element of a value came from, through nodes that only move elements. Each
/// operand has a scale of its own: a detector's output mixes boxes up to 640 with scores up to 1.
struct Segments {
  std::vector<int32_t> of_element;  ///< empty: one segment
  int32_t count = 1;
};

Segments segments_of(const ir::Graph& graph, ir::ValueId value);

/// max |a - b| / max(1, max |b|), the greatest over the segments. NaN matches NaN and an infinity the same
/// infinity; any other non-finite difference, another shape or another kind of type gives infinity. Integers
/// are equal (0) or not (infinity).
double error(const ir::Tensor& a, const ir::Tensor& b, const Segments& segments = {});

struct Errors {
  double reference = 0;  ///< from the reference in float
  double referee = 0;    ///< from the reference in double
  double own = 0;        ///< the reference's own, from the referee
};

/// Parity: within tolerance of the reference; or of the referee, and nearer to it than the reference is.
bool holds(const Errors& errors, double tolerance);

/// Parity at the network's own accuracy: no farther from the referee than twice `own`, the float reference's
/// greatest error over all frames. Two float evaluations, each off by what float arithmetic costs this
/// network, cannot be asked to agree better; where a network amplifies rounding (inputs up to 255, cancelling
/// sums, an exponential behind them) that is more than a fixed tolerance, for every order of the sums.
bool holds_at_own_accuracy(const Errors& errors, double own);

}  // namespace onepass::verify
