// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "patterns/pattern.h"

namespace onepass::patterns {

/// The ids that a pattern gives to the conditions of a Pad in front of a windowed node.
struct PadConditions {
  const char* mode;      ///< mode is constant
  const char* known;     ///< pads, value and axes are constants
  const char* spatial;   ///< nothing is padded on the axes of frames and channels
  const char* positive;  ///< no amount is negative
  const char* auto_pad;  ///< the windowed node has auto_pad NOTSET or VALID
};

/// The Pad -> `op` pair with root `window`.
std::optional<Match> match_pad(const ir::Graph& graph, ir::NodeId window);

/// The first of the conditions that fails. `rank` is the rank of the padded tensor.
std::optional<Failure> pad_failure(const ir::Graph& graph, const Match& match, const PadConditions& ids);

/// Of a checked pair: the value that is padded with, and the sum of both pads (begins, then ends).
double pad_value(const ir::Graph& graph, ir::NodeId pad);
std::vector<int64_t> summed_pads(const ir::Graph& graph, const Match& match);

/// A node like `window` that pads by itself, reading the input of the Pad.
ir::ValueId rebuild_window(ir::Graph& graph, const Match& match, ir::Attributes attributes);

}  // namespace onepass::patterns
