// SPDX-License-Identifier: Apache-2.0
//
// Nodes that move elements by a rule known at compile time: one strided copy each.
#include <algorithm>
#include <numeric>

#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

namespace {

constexpr int64_t k_block_rows = 8;  ///< rows that the routine transposes together

/// dst over `dims` (row-major), src from `offset` with `strides`.
std::optional<RoutineCall> copy(const NodeView& view, int64_t offset, Ints dims, Ints strides) {
  IndexSpace space{.dims = std::move(dims), .strides = {std::move(strides)}};
  const int64_t elems = ir::element_count(space.dims);
  space.merge_axes();
  if (!space.fits()) return std::nullopt;
  RoutineCall call = call_of(view, sized_symbol("copy", view.type(0).dtype), {0});
  call.params.push_back(offset);
  space.append_to(call.params);
  const int64_t inner = space.dims.back();
  const bool transposes = space.dims.size() > 1 && space.strides[0][space.dims.size() - 2] == 1;
  set_work(call, elems, 1, transposes ? std::max<int64_t>(1, inner * k_block_rows) : 1);
  return call;
}

struct AxisSlice {
  int64_t axis, start, step;
};

/// The first element that a slice takes, clamped as ONNX says.
int64_t clamped_start(int64_t start, int64_t step, int64_t extent) {
  if (start < 0) start += extent;
  return std::clamp<int64_t>(start, 0, step > 0 ? extent : std::max<int64_t>(0, extent - 1));
}

/// An optional list of integers: its default when absent, nothing when present and not known.
std::optional<Ints> ints_or(const NodeView& view, size_t input, Ints absent) {
  return view.has(input) ? view.constant_ints(input) : std::optional(std::move(absent));
}

/// A view of the input as `shape`, axes permuted.
std::optional<RoutineCall> permuted_copy(const NodeView& view, const ir::Shape& shape,
                                         const Ints& permutation) {
  const ir::Shape own = ir::row_major_strides(shape);
  Ints dims, strides;
  for (const int64_t axis : permutation) {
    dims.push_back(shape[static_cast<size_t>(axis)]);
    strides.push_back(own[static_cast<size_t>(axis)]);
  }
  return copy(view, 0, std::move(dims), std::move(strides));
}

/// Whether the slice leaves a data-dependent axis as it is.
bool keeps_counted_axis(const NodeView& view) {
  const int axis = view.type(0).counted_axis;
  return axis < 0 || view.dims(0)[static_cast<size_t>(axis)] == view.result().dims[static_cast<size_t>(axis)];
}

}  // namespace

std::optional<RoutineCall> same_elements(const NodeView& view) {
  for (size_t output = 1; output < view.node().outputs.size(); ++output)
    if (view.wants(output)) return std::nullopt;  // the mask of a Dropout
  return copy(view, 0, {ir::element_count(view.dims(0))}, {1});
}

std::optional<RoutineCall> transpose(const NodeView& view) {
  Ints reversed(view.dims(0).size());
  std::iota(reversed.rbegin(), reversed.rend(), int64_t{0});
  return permuted_copy(view, view.dims(0), view.node().attributes.get_ints("perm", reversed));
}

std::optional<RoutineCall> slice(const NodeView& view) {
  const ir::Shape& src = view.dims(0);
  const auto starts = view.constant_ints(1);
  if (!starts || !keeps_counted_axis(view)) return std::nullopt;
  Ints all(starts->size());
  std::iota(all.begin(), all.end(), int64_t{0});
  const auto axes = ints_or(view, 3, all);
  const auto steps = ints_or(view, 4, Ints(starts->size(), 1));
  if (!axes || !steps) return std::nullopt;
  Ints strides = ir::row_major_strides(src);
  int64_t offset = 0;
  for (size_t i = 0; i < starts->size(); ++i) {
    const auto axis = static_cast<size_t>(from_front((*axes)[i], src.size()));
    offset += clamped_start((*starts)[i], (*steps)[i], src[axis]) * strides[axis];
    if (view.result().dims[axis] > 1) strides[axis] *= (*steps)[i];
  }
  return copy(view, offset, view.result().dims, std::move(strides));
}

std::optional<RoutineCall> expand(const NodeView& view) {
  return copy(view, 0, view.result().dims, broadcast_strides(view.dims(0), view.result().dims));
}

std::optional<RoutineCall> tile(const NodeView& view) {
  const ir::Shape own = ir::row_major_strides(view.dims(0));
  Ints dims, strides;
  for (size_t axis = 0; axis < own.size(); ++axis) {
    const int64_t extent = view.dims(0)[axis];
    append(dims, {extent == 0 ? 1 : view.result().dims[axis] / extent, extent});
    append(strides, {0, own[axis]});
  }
  return copy(view, 0, std::move(dims), std::move(strides));
}

std::optional<RoutineCall> depth_to_space(const NodeView& view) {
  const ir::Shape& s = view.dims(0);
  const int64_t b = view.attribute("blocksize", 1);
  const int64_t c = s[1] / (b * b);
  if (view.node().attributes.get_string("mode", "DCR") == "CRD")
    return permuted_copy(view, {s[0], c, b, b, s[2], s[3]}, {0, 1, 4, 2, 5, 3});
  return permuted_copy(view, {s[0], b, b, c, s[2], s[3]}, {0, 3, 4, 1, 5, 2});
}

std::optional<RoutineCall> space_to_depth(const NodeView& view) {
  const ir::Shape& s = view.dims(0);
  const int64_t b = view.attribute("blocksize", 1);
  return permuted_copy(view, {s[0], s[1], s[2] / b, b, s[3] / b, b}, {0, 3, 5, 1, 2, 4});
}

}  // namespace onepass::plan::routines
