// SPDX-License-Identifier: Apache-2.0
//
// Concat, Split and Slice of plain values: what lies in place needs no launch, the rest is copied.
#include <fmt/format.h>

#include <algorithm>

#include "plan/cost.h"
#include "plan/grouping.h"
#include "plan/lowering.h"
#include "plan/routine_call_support.h"

namespace onepass::plan {

using ir::NodeId;
using ir::ValueId;

/// The value that is written where this one lies: views move nothing, nor do Transposes that a convolution
/// has done.
ValueId Lowering::storage_of(ValueId value) const {
  for (NodeId producer = graph_.producer(value); producer.valid(); producer = graph_.producer(value)) {
    const auto rows = rows_of_.find(producer);
    if (rows != rows_of_.end()) return rows->second;
    if (!is_view(graph_, producer)) break;
    value = graph_.node(producer).inputs[0];
  }
  return value;
}

void Lowering::place_plain() {
  plain_ = no_plain_placement(graph_);
  if (!options_.concat_slices) return;
  plain_ = place_plain_slices({.graph = graph_,
                               .groups = plan_.groups,
                               .forms = forms_,
                               .target = target_,
                               .storage_of = [this](ValueId value) { return storage_of(value); }});
  plan_.placements.insert(plan_.placements.end(), plain_.decisions.begin(), plain_.decisions.end());
  for (const PlainShared& shared : plain_.shared) {
    Buffer buffer{.name = shared.name, .size_bytes = shared.size_bytes, .value = {}};
    if (shared.output >= 0) {
      buffer.space = BufferSpace::output;
      buffer.index = shared.output;
    }
    plain_buffers_.push_back(add_buffer(std::move(buffer)));
  }
}

void Lowering::put_plain_inside(Buffer& buffer, const PlainPlace& place) const {
  buffer.inside = plain_buffers_.at(place.shared);
  buffer.inside_bytes = place.bytes;
  buffer.space = plan_.buffers[buffer.inside].space;
  buffer.index = plan_.buffers[buffer.inside].index;
}

/// False for nodes of which nothing lies in place.
bool Lowering::lower_plain_parts(int32_t group) {
  const NodeId node = plan_.groups[group].nodes.front();
  if (const ReplacedParts* replaced = plain_.replaced_by(node)) {
    node == replaced->split ? cut_replaced(group, *replaced) : join_replaced(group, *replaced);
    return true;
  }
  const auto parts = plain_parts(graph_, node);
  if (!parts || parts->rows > 1) return false;
  const ValueId whole = storage_of(parts->whole);
  const bool any = std::any_of(parts->parts.begin(), parts->parts.end(), [&](const BytePart& part) {
    return plain_.lies_inside(storage_of(part.value), part.first_bytes, whole);
  });
  if (any) parts->cuts ? cut_plain(group, *parts) : join_plain(group, *parts);
  return any;
}

/// The result is made of its operands where they lie, and of copies of the others.
void Lowering::join_plain(int32_t group, const PlainParts& parts) {
  const PlainPlace whole = plain_.of_value[parts.whole.index];
  std::vector<BufferPart> made_of;
  for (size_t p = 0; p < parts.parts.size(); ++p) {
    const BytePart& part = parts.parts[p];
    int32_t source = read(part.value, Form::plain);
    if (!plain_.lies_inside(storage_of(part.value), part.first_bytes, parts.whole)) {
      const std::string name = fmt::format("{} [{}]", plan_.groups[group].name, p);
      Buffer copy{.name = name, .size_bytes = part.size_bytes, .value = {}};
      put_plain_inside(copy, {whole.shared, whole.bytes + part.first_bytes});
      const int32_t dst = add_buffer(std::move(copy));
      copy_bytes(group, name, source, 0, dst);
      source = dst;
    }
    made_of.push_back({source, part.first_bytes, 0, part.size_bytes});
  }
  plan_.buffers[write(parts.whole, Form::plain)].parts = std::move(made_of);
}

void Lowering::cut_plain(int32_t group, const PlainParts& parts) {
  const int32_t src = read(parts.whole, Form::plain);
  for (size_t p = 0; p < parts.parts.size(); ++p) {
    const BytePart& part = parts.parts[p];
    const int32_t dst = write(part.value, Form::plain);
    if (plain_.lies_inside(part.value, part.first_bytes, storage_of(parts.whole)))
      plan_.buffers[dst].parts = {{src, 0, part.first_bytes, part.size_bytes}};
    else
      copy_bytes(group, fmt::format("{} [{}]", plan_.groups[group].name, p), src, part.first_bytes, dst);
  }
}

/// The parts that will be replaced.
void Lowering::cut_replaced(int32_t group, const ReplacedParts& parts) {
  const RoutineCall call = routines::split_parts({graph_, parts.split}, parts.kept).value();
  std::vector<int32_t> writes;
  const int32_t src = read(parts.source, Form::plain);
  for (const ValueId output : call.outputs) writes.push_back(write(output, Form::plain));
  if (!writes.empty()) push_routine(group, call, {src}, std::move(writes));
}

/// What replaces them goes to its places in the source.
void Lowering::join_replaced(int32_t group, const ReplacedParts& parts) {
  const RoutineCall call = routines::replace_parts({graph_, parts.concat}, parts.kept).value();
  std::vector<int32_t> reads = {read(parts.source, Form::plain)};
  for (const ValueId input : call.inputs) reads.push_back(read(input, Form::plain));
  const int32_t source = reads.front(), dst = write(graph_.node(parts.concat).outputs[0], Form::plain);
  int64_t moved_bytes = 0;
  for (const ValueId input : call.inputs) moved_bytes += plain_bytes(graph_, input);
  plan_.buffers[dst].shares = source;
  push_routine(group, call, std::move(reads), {dst});
  Launch& launch = plan_.launches.back();
  launch.may_take_over = {source};
  launch.estimate.bytes_read = launch.estimate.bytes_written = moved_bytes;
  launch.estimate.executed_flops = launch.estimate.flops = static_cast<double>(moved_bytes) / 4;
  launch.predicted_ns = predict_ns(launch.estimate, target_);
}

/// Bytes [first_bytes, + size of dst) of src.
void Lowering::copy_bytes(int32_t group, const std::string& name, int32_t src, int64_t first_bytes,
                          int32_t dst) {
  constexpr int64_t k_slice_bytes = 64 << 10;
  const int64_t size_bytes = plan_.buffers[dst].size_bytes;
  push({.symbol = "onepass_copy_1",
        .name = name,
        .family = "routine",
        .group = group,
        .reads = {src},
        .writes = {dst},
        .operands = {src, dst},
        .params = {size_bytes, k_slice_bytes, first_bytes, 1, size_bytes, 1},  // one axis, stride 1
        .slices = (size_bytes + k_slice_bytes - 1) / k_slice_bytes,
        .estimate = {.bytes_read = size_bytes, .bytes_written = size_bytes}});
}

}  // namespace onepass::plan
