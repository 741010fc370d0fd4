// SPDX-License-Identifier: Apache-2.0
//
// Concat, Split, Gather and Pad.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "plan/routine_call_support.h"

namespace onepass::plan::routines {

namespace {

int64_t inner_bytes(const ir::TensorType& type, int64_t axis) {
  int64_t bytes = ir::size_bytes(type.dtype);
  for (size_t i = static_cast<size_t>(axis) + 1; i < type.dims.size(); ++i) bytes *= type.dims[i];
  return bytes;
}

int64_t outer_count(const ir::Shape& dims, int64_t axis) {
  return std::accumulate(dims.begin(), dims.begin() + axis, int64_t{1}, std::multiplies<>());
}

struct Part {
  int64_t start_bytes, size_bytes;
};

void set_parts(RoutineCall& call, const std::vector<Part>& parts, int64_t rows, int64_t row_bytes) {
  const auto count = static_cast<int64_t>(parts.size());
  append(call.params, {count, row_bytes});
  for (const Part& part : parts) call.params.push_back(part.size_bytes);
  for (const Part& part : parts) call.params.push_back(part.start_bytes);
  set_work(call, rows * count, count == 0 ? 1 : row_bytes / count / 4);
}

/// Extents of the outputs of a Split along its axis.
Ints split_sizes(const NodeView& view, int64_t extent) {
  if (const auto sizes = view.constant_ints(1)) return *sizes;
  const auto count = static_cast<int64_t>(view.node().outputs.size());
  Ints sizes(static_cast<size_t>(count), (extent + count - 1) / count);
  sizes.back() = extent - sizes.front() * (count - 1);
  return sizes;
}

struct AxisPad {
  int64_t begin = 0, end = 0;
};

std::optional<std::vector<AxisPad>> pads_of(const NodeView& view) {
  const size_t rank = view.dims(0).size();
  Ints axes(rank);
  std::iota(axes.begin(), axes.end(), int64_t{0});
  if (view.has(3)) {
    const auto named = view.constant_ints(3);
    if (!named) return std::nullopt;
    axes = *named;
  }
  const auto pads = view.constant_ints(1);
  if (!pads) return std::nullopt;
  std::vector<AxisPad> result(rank);
  for (size_t i = 0; i < axes.size(); ++i)
    result[static_cast<size_t>(from_front(axes[i], rank))] = {(*pads)[i], (*pads)[axes.size() + i]};
  return result;
}

/// The source element behind element i of the padded axis (i counted from the source's first), or -1 for the
/// fill value.
int64_t source_of(const std::string& mode, int64_t i, int64_t first, int64_t last) {
  if (i >= first && i <= last) return i;
  const int64_t kept = last - first + 1;
  if (mode == "edge") return std::clamp(i, first, last);
  if (mode == "reflect") return i < first ? 2 * first - i : 2 * last - i;
  if (mode == "wrap") return first + ((i - first) % kept + kept) % kept;
  return -1;
}

void append_axis_table(Ints& params, const std::string& mode, const AxisPad& pad, int64_t extent,
                       int64_t stride) {
  const int64_t first = std::max<int64_t>(0, -pad.begin);
  const int64_t last = extent - 1 - std::max<int64_t>(0, -pad.end);
  for (int64_t i = -pad.begin; i < extent + pad.end; ++i) {
    const int64_t source = source_of(mode, i, first, last);
    params.push_back(source < 0 ? -1 : source * stride);
  }
}

/// The bits of a fill value that is known, or zero.
int64_t fill_bits(const NodeView& view) {
  const ir::Tensor* value = view.has(2) ? view.constant(2) : nullptr;
  int64_t bits = 0;
  if (value != nullptr) std::memcpy(&bits, value->bytes(), static_cast<size_t>(value->size_bytes()));
  return bits;
}

/// The call up to the parameters that describe the axes.
RoutineCall pad_call(const NodeView& view) {
  const ir::DType dtype = view.type(0).dtype;
  if (view.has(2) && view.constant(2) == nullptr)
    return call_of(view, sized_symbol("index_copy_filled", dtype), {0, 2});
  RoutineCall call = call_of(view, sized_symbol("index_copy", dtype), {0});
  call.params.push_back(fill_bits(view));
  return call;
}

}  // namespace

std::optional<RoutineCall> concat(const NodeView& view) {
  const ir::TensorType& dst = view.result();
  const int64_t axis = from_front(view.attribute("axis", 0), dst.dims.size());
  if (axis == dst.counted_axis) return std::nullopt;
  RoutineCall call = call_of(view, "onepass_concat", {});
  call.inputs = view.node().inputs;
  std::vector<Part> parts;
  int64_t start = 0;
  for (size_t input = 0; input < call.inputs.size(); ++input) {
    parts.push_back({start, view.dims(input)[static_cast<size_t>(axis)] * inner_bytes(dst, axis)});
    start += parts.back().size_bytes;
  }
  set_parts(call, parts, outer_count(dst.dims, axis), start);
  return call;
}

std::optional<RoutineCall> replace_parts(const NodeView& view, const std::vector<bool>& kept) {
  const ir::TensorType& dst = view.result();
  const int64_t axis = from_front(view.attribute("axis", 0), dst.dims.size());
  RoutineCall call = call_of(view, "onepass_replace_parts", {});
  std::vector<Part> parts;
  int64_t start = 0;
  for (size_t input = 0; input < kept.size(); ++input) {
    const int64_t size = view.dims(input)[static_cast<size_t>(axis)] * inner_bytes(dst, axis);
    if (!kept[input]) {
      parts.push_back({start, size});
      call.inputs.push_back(view.node().inputs[input]);
    }
    start += size;
  }
  set_parts(call, parts, outer_count(dst.dims, axis), start);
  // A unit is a row: with all its parts, and with the rest where the source is no destination.
  const int64_t rows = outer_count(dst.dims, axis);
  set_work(call, rows, static_cast<int64_t>(parts.size()) * 4);
  return call;
}

std::optional<RoutineCall> split(const NodeView& view) {
  return split_parts(view, std::vector<bool>(view.node().outputs.size(), false));
}

std::optional<RoutineCall> split_parts(const NodeView& view, const std::vector<bool>& kept) {
  const ir::TensorType& src = view.type(0);
  const int64_t axis = from_front(view.attribute("axis", 0), src.dims.size());
  if (axis == src.counted_axis || (view.has(1) && !view.constant_ints(1))) return std::nullopt;
  RoutineCall call{.symbol = "onepass_split", .params = {0, 1}, .inputs = {view.node().inputs[0]}};
  const int64_t extent = src.dims[static_cast<size_t>(axis)];
  const Ints sizes = split_sizes(view, extent);
  std::vector<Part> parts;
  int64_t start = 0;
  for (size_t output = 0; output < sizes.size(); ++output) {
    const int64_t size = sizes[output] * inner_bytes(src, axis);
    if (view.node().outputs[output].valid() && !kept[output]) {
      parts.push_back({start, size});
      call.outputs.push_back(view.node().outputs[output]);
    }
    start += size;
  }
  set_parts(call, parts, outer_count(src.dims, axis), extent * inner_bytes(src, axis));
  return call;
}

std::optional<RoutineCall> gather(const NodeView& view) {
  const ir::TensorType& src = view.type(0);
  const int64_t axis = from_front(view.attribute("axis", 0), src.dims.size());
  if (axis == src.counted_axis) return std::nullopt;
  const int64_t index_count = ir::element_count(view.dims(1));
  const int64_t row_bytes = inner_bytes(src, axis);
  RoutineCall call = call_of(view, symbol_of("gather", view.type(1).dtype), {0, 1});
  append(call.params, {src.dims[static_cast<size_t>(axis)], index_count, row_bytes});
  set_work(call, outer_count(src.dims, axis) * index_count, row_bytes / 4 + 4);
  return call;
}

std::optional<RoutineCall> pad(const NodeView& view) {
  const auto pads = pads_of(view);
  const ir::Shape& src = view.dims(0);
  if (!pads || src.empty() || src.size() > 16) return std::nullopt;
  const std::string mode = view.node().attributes.get_string("mode", "constant");
  const ir::Shape strides = ir::row_major_strides(src);
  const ir::Shape& dst = view.result().dims;
  RoutineCall call = pad_call(view);
  call.params.push_back(static_cast<int64_t>(dst.size()));
  append(call.params, dst);
  for (size_t axis = 0; axis < src.size(); ++axis)
    append_axis_table(call.params, mode, (*pads)[axis], src[axis], strides[axis]);
  set_work(call, outer_count(dst, static_cast<int64_t>(dst.size()) - 1), dst.back());
  return call;
}

}  // namespace onepass::plan::routines
