// SPDX-License-Identifier: Apache-2.0
#include "plan/transpose_axes.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace onepass::plan {

namespace {

using Ints = std::vector<int64_t>;

/// Source axes in the order of the result, without those of extent 1.
Ints moved_axes(const ir::Node& node, const ir::Shape& dims) {
  Ints reversed(dims.size());
  std::iota(reversed.rbegin(), reversed.rend(), int64_t{0});
  Ints axes;
  for (const int64_t axis : node.attributes.get_ints("perm", reversed))
    if (dims[static_cast<size_t>(axis)] != 1) axes.push_back(axis);
  return axes;
}

/// Axes that follow each other in the source as in the result.
struct Run {
  int64_t first = 0, extent = 1;
};

std::vector<Run> runs_of(const Ints& axes, const ir::Shape& dims) {
  const auto follows = [&](int64_t before, int64_t axis) {
    return axis > before && std::all_of(dims.begin() + before + 1, dims.begin() + axis,
                                        [](int64_t extent) { return extent == 1; });
  };
  std::vector<Run> runs;
  for (size_t i = 0; i < axes.size(); ++i) {
    if (i == 0 || !follows(axes[i - 1], axes[i])) runs.push_back({.first = axes[i]});
    runs.back().extent *= dims[static_cast<size_t>(axes[i])];
  }
  return runs;
}

}  // namespace

std::optional<kernels::TransposeSpec> transpose_spec_of(const ir::Graph& graph, ir::NodeId id) {
  const ir::Node& node = graph.node(id);
  const ir::TensorType& type = graph.value(node.inputs[0]).type;
  if (node.op != ir::Op::Transpose || type.dtype != ir::DType::f32 || type.counted_axis >= 0 ||
      ir::element_count(type.dims) == 0)
    return std::nullopt;
  const std::vector<Run> runs = runs_of(moved_axes(node, type.dims), type.dims);
  // Of the runs in the result's order, two neighbours are the wrong way round and all others in place.
  for (size_t at = 0; at + 1 < runs.size(); ++at) {
    std::vector<Run> swapped = runs;
    std::swap(swapped[at], swapped[at + 1]);
    if (!std::is_sorted(swapped.begin(), swapped.end(),
                        [](const Run& a, const Run& b) { return a.first < b.first; }))
      continue;
    const auto product = [&](size_t begin, size_t end) {
      int64_t elems = 1;
      for (size_t i = begin; i < end; ++i) elems *= runs[i].extent;
      return elems;
    };
    return kernels::transpose_spec(product(0, at), swapped[at].extent, swapped[at + 1].extent,
                                   product(at + 2, runs.size()));
  }
  return std::nullopt;
}

}  // namespace onepass::plan
