// SPDX-License-Identifier: Apache-2.0
#include "plan/routine_call_support.h"

#include <algorithm>

namespace onepass::plan::routines {

namespace {

/// A slice of about this many element operations hides the cost of handing it out.
constexpr int64_t k_slice_elems = 16384;
constexpr int64_t k_max_slices = 256;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace

bool NodeView::wants(size_t output) const {
  if (output >= node().outputs.size() || !node().outputs[output].valid()) return false;
  return graph.use_count(node().outputs[output]) > 0;
}

std::optional<Ints> NodeView::constant_ints(size_t input) const {
  const ir::Tensor* tensor = constant(input);
  if (tensor == nullptr || tensor->dtype() == ir::DType::f32 || tensor->dtype() == ir::DType::f64)
    return std::nullopt;
  return tensor->to_ints();
}

RoutineCall call_of(const NodeView& view, std::string symbol, std::initializer_list<size_t> inputs) {
  RoutineCall call{.symbol = std::move(symbol), .outputs = {view.node().outputs.at(0)}};
  for (const size_t input : inputs) call.inputs.push_back(view.node().inputs.at(input));
  call.params = {0, 1};
  return call;
}

void set_work(RoutineCall& call, int64_t units, int64_t unit_elems, int64_t granule) {
  int64_t step = std::max<int64_t>(1, k_slice_elems / std::max<int64_t>(1, unit_elems));
  step = std::max(step, ceil_div(units, k_max_slices));
  step = ceil_div(step, granule) * granule;
  call.params[0] = units;
  call.params[1] = step;
  call.slices = std::max<int64_t>(1, ceil_div(units, step));
}

std::string symbol_of(const char* stem, ir::DType dtype) {
  return std::string("onepass_") + stem + "_" + ir::name(dtype);
}

std::string sized_symbol(const char* stem, ir::DType dtype) {
  return std::string("onepass_") + stem + "_" + std::to_string(ir::size_bytes(dtype));
}

void IndexSpace::merge_axes() {
  IndexSpace merged{.dims = {}, .strides = std::vector<Ints>(strides.size())};
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] == 1) continue;
    const auto continues = [&](size_t operand) {
      return merged.strides[operand].back() == strides[operand][axis] * dims[axis];
    };
    bool joins = !merged.dims.empty();
    for (size_t operand = 0; operand < strides.size() && joins; ++operand) joins = continues(operand);
    if (!joins) merged.dims.push_back(1);
    merged.dims.back() *= dims[axis];
    for (size_t operand = 0; operand < strides.size(); ++operand) {
      if (!joins) merged.strides[operand].push_back(0);
      merged.strides[operand].back() = strides[operand][axis];
    }
  }
  if (merged.dims.empty()) {
    merged.dims.push_back(1);
    for (Ints& operand : merged.strides) operand.push_back(1);
  }
  *this = std::move(merged);
}

void IndexSpace::append_to(Ints& params) const {
  params.push_back(static_cast<int64_t>(dims.size()));
  append(params, dims);
  for (const Ints& operand : strides) append(params, operand);
}

Ints broadcast_strides(const ir::Shape& src, const ir::Shape& dst) {
  const ir::Shape own = ir::row_major_strides(src);
  Ints strides(dst.size(), 0);
  for (size_t axis = 0; axis < src.size(); ++axis)
    if (src[axis] != 1) strides[dst.size() - src.size() + axis] = own[axis];
  return strides;
}

Lines lines_of(const ir::Shape& dims, int64_t axis) {
  const auto at = static_cast<size_t>(axis);
  Lines lines{.extent = dims[at], .stride = 1, .count = 1};
  for (size_t other = 0; other < dims.size(); ++other) {
    if (other > at) lines.stride *= dims[other];
    if (other != at) lines.count *= dims[other];
  }
  return lines;
}

}  // namespace onepass::plan::routines
