// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "plan/family.h"

namespace onepass::plan {

namespace {

/// One value per spatial axis (h, w) from an attribute; rank-3 values have no h.
std::pair<int64_t, int64_t> pair_of(const std::vector<int64_t>& values, int64_t absent) {
  if (values.size() == 2) return {values[0], values[1]};
  if (values.size() == 1) return {absent, values[0]};
  return {absent, absent};
}

/// SAME_UPPER and SAME_LOWER: pads that make out = ceil(in / stride); the odd one goes behind or before.
std::pair<int64_t, int64_t> same_pads(int64_t in, int64_t out, int64_t kernel, int64_t stride,
                                      int64_t dilation, bool upper) {
  const int64_t total = std::max<int64_t>(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - in);
  const int64_t less = total / 2;
  return upper ? std::pair{less, total - less} : std::pair{total - less, less};
}

void resolve_pads(Window& w, const ir::Attributes& attributes, const Extents& in, const Extents& out) {
  const std::string auto_pad = attributes.get_string("auto_pad", "NOTSET");
  if (auto_pad == "VALID") return;
  if (auto_pad.starts_with("SAME")) {
    const bool upper = auto_pad == "SAME_UPPER";
    std::tie(w.pad_top, w.pad_bottom) = same_pads(in.h, out.h, w.kernel_h, w.stride_h, w.dilation_h, upper);
    std::tie(w.pad_left, w.pad_right) = same_pads(in.w, out.w, w.kernel_w, w.stride_w, w.dilation_w, upper);
    return;
  }
  const std::vector<int64_t> pads = attributes.get_ints("pads");
  if (pads.size() == 4)
    std::tie(w.pad_top, w.pad_left, w.pad_bottom, w.pad_right) = std::tie(pads[0], pads[1], pads[2], pads[3]);
  if (pads.size() == 2) std::tie(w.pad_left, w.pad_right) = std::tie(pads[0], pads[1]);
}

}  // namespace

Window window_of(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const Extents in = extents_of(graph.value(node.inputs.at(0)).type).value();
  const Extents out = extents_of(graph.value(node.outputs.at(0)).type).value();
  Window window;
  if (node.op == ir::Op::GlobalAveragePool || node.op == ir::Op::GlobalMaxPool) {
    window.kernel_h = in.h;
    window.kernel_w = in.w;
    return window;
  }
  std::vector<int64_t> kernel = node.attributes.get_ints("kernel_shape");
  if (node.op == ir::Op::Conv) {
    const ir::Shape& weights = graph.value(node.inputs.at(1)).type.dims;
    kernel.assign(weights.begin() + 2, weights.end());
  }
  std::tie(window.kernel_h, window.kernel_w) = pair_of(kernel, 1);
  std::tie(window.stride_h, window.stride_w) = pair_of(node.attributes.get_ints("strides"), 1);
  std::tie(window.dilation_h, window.dilation_w) = pair_of(node.attributes.get_ints("dilations"), 1);
  resolve_pads(window, node.attributes, in, out);
  return window;
}

}  // namespace onepass::plan
