// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "targets/target.h"

namespace onepass::plan {

/// A value that is a range of another one's channels.
struct ChannelPart {
  ir::ValueId value;
  int64_t first = 0;  ///< its first channel in the whole
};

/// A node that puts maps side by side (Concat) or takes one apart (Split, Slice), along the channels.
struct ChannelParts {
  ir::NodeId node;
  ir::ValueId whole;
  std::vector<ChannelPart> parts;
  bool cuts = false;  ///< the whole is computed first
};

/// Nothing when `node` does not do that to f32 maps of rank 4.
std::optional<ChannelParts> channel_parts(const ir::Graph& graph, ir::NodeId node);

/// Where a Slice starts on an axis; nothing when that is not known, or when it steps on any.
std::optional<int64_t> slice_start(const ir::Graph& graph, ir::NodeId node, size_t axis);

/// Blocks of `lanes` channels; the last may be filled in part.
int64_t channel_blocks(const ir::Graph& graph, ir::ValueId map, int64_t lanes);

/// The first part that does not start at a channel block, or ends inside one before the whole does; null
/// when every part is whole blocks.
const ChannelPart* part_across_blocks(const ir::Graph& graph, const ChannelParts& parts, int64_t lanes);

/// Split or Slice whose parts are whole channel blocks.
bool cuts_between_blocks(const ir::Graph& graph, ir::NodeId node, const targets::Target& target);

}  // namespace onepass::plan
