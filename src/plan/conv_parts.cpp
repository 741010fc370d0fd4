// SPDX-License-Identifier: Apache-2.0
#include "plan/conv_parts.h"

#include "plan/family.h"
#include "plan/routine_call_window.h"

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::NodeId;
using kernels::ConvSpec;

/// Nothing without a spatial axis or with three.
std::optional<kernels::TransposedConv> transposed_of(const Graph& graph, NodeId id) {
  const routines::NodeView view{graph, id};
  const auto in = extents_of(view.type(0)), out = extents_of(view.result());
  const ir::Shape& weights = view.dims(1);
  if (!in || !out || weights.size() != view.dims(0).size()) return std::nullopt;
  const routines::SlidingWindow w =
      routines::transposed_window_of(view, {weights.begin() + 2, weights.end()});
  const size_t last = w.kernel.size() - 1;
  const auto above = [&](const routines::Ints& values, int64_t absent) {
    return last == 0 ? absent : values[0];
  };
  return kernels::TransposedConv{.src = kernels::plain_map(in->n, in->c, in->h, in->w),
                                 .dst = kernels::plain_map(out->n, out->c, out->h, out->w),
                                 .kernel_h = above(w.kernel, 1),
                                 .kernel_w = w.kernel[last],
                                 .stride_h = above(w.strides, 1),
                                 .stride_w = w.strides[last],
                                 .dilation_h = above(w.dilations, 1),
                                 .dilation_w = w.dilations[last],
                                 .pad_top = above(w.pads, 0),
                                 .pad_left = w.pads[last],
                                 .groups = view.attribute("group", 1),
                                 .bias = view.has(2)};
}

}  // namespace

std::vector<ConvSpec> conv_parts(const Graph& graph, NodeId node) {
  if (graph.node(node).op == ir::Op::Conv) return {conv_spec_of(graph, node)};
  const auto transposed = transposed_of(graph, node);
  return transposed ? kernels::convolutions_of(*transposed) : std::vector<ConvSpec>{};
}

std::vector<ConvSpec> blocked_conv_parts(const Graph& graph, NodeId node, const targets::Target& target) {
  std::vector<ConvSpec> parts = conv_parts(graph, node);
  for (ConvSpec& part : parts) {
    part.src.block = target.vector_lanes;
    const kernels::FeatureMap& map = kernels::destination(part);
    if (part.phases)
      kernels::set_destination(part, kernels::blocked_map(map.n, map.c, map.h, map.w, target.vector_lanes));
    else
      part.dst.block = target.vector_lanes;
  }
  return parts;
}

std::vector<float> conv_weights(const Graph& graph, NodeId node, const ConvSpec& part) {
  const std::span<const float> weights = graph.constant_input(node, 1)->data<float>();
  if (graph.node(node).op == ir::Op::Conv) return {weights.begin(), weights.end()};
  return kernels::part_weights(transposed_of(graph, node).value(), part, weights);
}

}  // namespace onepass::plan
