// SPDX-License-Identifier: Apache-2.0
#include "plan/channel_rows.h"

#include "plan/family.h"
#include "plan/grouping.h"
#include "plan/transpose_axes.h"

namespace onepass::plan {

namespace {

/// n x c x h x w with rows of `block` channels, without gaps.
kernels::FeatureMap rows_map(const Extents& e, int64_t block) {
  kernels::FeatureMap map = kernels::plain_map(e.n, e.c, e.h, e.w);
  map.block = block;
  map.row_stride = e.w * block;
  map.plane_stride = e.h * map.row_stride;
  map.batch_stride = map.blocks() * map.plane_stride;
  return map;
}

/// The only reader of a value that is no graph output.
ir::NodeId only_reader(const ir::Graph& graph, ir::ValueId value) {
  const auto& uses = graph.value(value).uses;
  return uses.size() == 1 && !graph.is_output(value) ? uses.front().node : ir::NodeId{};
}

}  // namespace

std::optional<ChannelRows> channel_rows(const ir::Graph& graph, ir::ValueId result) {
  const auto extents = extents_of(graph.value(result).type);
  if (!extents) return std::nullopt;
  ChannelRows rows;
  ir::NodeId reader = only_reader(graph, result);
  while (reader.valid() && is_view(graph, reader)) {
    rows.views.push_back(reader);
    reader = only_reader(graph, graph.node(reader).outputs[0]);
  }
  if (!reader.valid()) return std::nullopt;
  const auto transpose = transpose_spec_of(graph, reader);
  if (!transpose) return std::nullopt;
  // Rows of the transposed matrices are channels, columns all pixels.
  const kernels::FeatureMap& matrices = transpose->src;
  const bool pixels = matrices.h == extents->h * extents->w && matrices.w == 1;
  if (!pixels || extents->c % matrices.c != 0) return std::nullopt;
  rows.transpose = reader;
  rows.map = rows_map(*extents, matrices.c);
  return rows;
}

}  // namespace onepass::plan
