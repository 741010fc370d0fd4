// SPDX-License-Identifier: Apache-2.0
//
// Concat, Split and Slice of blocked maps: what lies in place needs no launch, the rest is copied.
#include <fmt/format.h>

#include "plan/conv_parts.h"
#include "plan/cost.h"
#include "plan/lowering.h"

namespace onepass::plan {

using ir::ValueId;
using kernels::FeatureMap;

namespace {

/// The channel blocks of `map` as a part of a buffer with planes of this stride.
FeatureMap in_planes_of(FeatureMap map, const FeatureMap& shared) {
  map.plane_stride = shared.plane_stride;
  map.batch_stride = map.blocks() * map.plane_stride;
  return map;
}

}  // namespace

void Lowering::place_slices() {
  placement_ = no_placement(graph_);
  if (!options_.concat_slices) return;
  const PlacementQuestion question{
      .graph = graph_,
      .groups = plan_.groups,
      .forms = forms_,
      .target = target_,
      .storage = options_.storage,
      .predicted_ns = [this](int32_t group) { return predicted_group_ns(group); },
      .copy_ns =
          [this](ValueId part, ValueId whole) {
            const FeatureMap from = map(part, Form::blocked);
            const kernels::LayoutSpec copy{from,
                                           kernels::channel_slice(map(whole, Form::blocked), 0, from.c)};
            return predict_ns(kernels::estimate(copy, target_), target_);
          }};
  placement_ = plan::place_slices(question, halos_);
  plan_.placements = placement_.decisions;
  for (const SharedBuffer& shared : placement_.shared) {
    ir::TensorType type = graph_.value(shared.members.front()).type;
    type.dims[1] = shared.blocks * target_.vector_lanes;
    const kernels::Halo& halo = halos_[shared.members.front().index][static_cast<int>(Form::blocked)];
    shared_maps_.push_back(map_of(type, Form::blocked, halo, target_, options_.storage));
    shared_buffers_.push_back(
        add_buffer({.name = shared.name, .size_bytes = shared_maps_.back().bytes(), .value = {}}));
  }
}

/// A group under the halos as they stand; nothing for groups whose kernels do not depend on them.
double Lowering::predicted_group_ns(int32_t index) const {
  const Group& group = plan_.groups[index];
  const ir::NodeId anchor = group.nodes.front();
  const Family family = family_of(graph_, anchor, target_);
  if (family == Family::upsample) {
    const FeatureMap dst = map(group.result, Form::blocked);
    return predict_ns(kernels::estimate(kernels::LayoutSpec{dst, dst}, target_), target_);
  }
  if (family != Family::conv && family != Family::pool && family != Family::elementwise) return 0;
  GroupMaps maps = maps_of(group, family);
  const size_t parts = family == Family::conv ? conv_parts(graph_, anchor).size() : 1;
  double ns = 0;
  for (; maps.part < parts; ++maps.part)
    ns += predict_ns(kernels::estimate(choose_kernel(graph_, group, family, maps, target_,
                                                     options_.policy_for(graph_, anchor)),
                                       target_),
                     target_);
  return ns;
}

FeatureMap Lowering::placed_map(ValueId value, FeatureMap map) const {
  // Shared buffers are made one after another from the placement: before that no value is in one.
  const int32_t shared = placement_.of_value.empty() ? -1 : placement_.of_value[value.index].shared;
  return shared < 0 ? map : in_planes_of(map, shared_maps_.at(shared));
}

void Lowering::put_inside(Buffer& buffer, const Place& place) const {
  buffer.inside = shared_buffers_.at(place.shared);
  buffer.inside_bytes = place.block * shared_maps_[place.shared].plane_stride *
                        loops::element_bytes(shared_maps_[place.shared].scalar);
}

void Lowering::lower_concat(int32_t index) {
  const Group& group = plan_.groups[index];
  const ChannelParts parts = channel_parts(graph_, group.nodes.front()).value();
  std::vector<int32_t> sources;
  for (const ChannelPart& part : parts.parts) sources.push_back(read(part.value, Form::blocked));
  const int32_t dst = write(group.result, Form::blocked);
  if (placement_.placed(group.result)) return assemble(index, parts, sources, dst);
  const FeatureMap whole = map(group.result, Form::blocked);
  for (size_t p = 0; p < sources.size(); ++p) {
    const FeatureMap from = map(parts.parts[p].value, Form::blocked);
    const kernels::LayoutSpec spec{from, kernels::channel_slice(whole, parts.parts[p].first, from.c)};
    launch(index, fmt::format("{} [{}]", group.name, p), spec, {sources[p]}, dst);
  }
}

/// The result is made of its operands where they lie, and of copies of the others.
void Lowering::assemble(int32_t index, const ChannelParts& parts, const std::vector<int32_t>& sources,
                        int32_t dst) {
  const Place whole = placement_.of_value[parts.whole.index];
  const FeatureMap& shared = shared_maps_[whole.shared];
  std::vector<BufferPart> made_of;
  for (size_t p = 0; p < sources.size(); ++p) {
    const ChannelPart& part = parts.parts[p];
    const int64_t block = part.first / target_.vector_lanes;
    int32_t source = sources[p];
    if (!placement_.lies_inside(part.value, block, parts.whole)) {
      const FeatureMap from = map(part.value, Form::blocked);
      FeatureMap to =
          map_of(graph_.value(part.value).type, Form::blocked, shared.halo, target_, options_.storage);
      to = in_planes_of(to, shared);
      const std::string name = fmt::format("{} [{}]", plan_.groups[index].name, p);
      Buffer copy{.name = name, .size_bytes = to.bytes(), .value = {}, .map = to};
      put_inside(copy, {whole.shared, whole.block + block});
      source = add_buffer(std::move(copy));
      launch(index, name, kernels::LayoutSpec{from, to}, {sources[p]}, source);
    }
    const int64_t size_bytes = plan_.buffers[source].size_bytes;
    made_of.push_back(
        {source, plan_.buffers[source].inside_bytes - plan_.buffers[dst].inside_bytes, 0, size_bytes});
  }
  plan_.buffers[dst].parts = std::move(made_of);
}

void Lowering::lower_split(int32_t index) {
  const Group& group = plan_.groups[index];
  const ChannelParts parts = channel_parts(graph_, group.nodes.front()).value();
  const int32_t src = read(parts.whole, Form::blocked);
  const FeatureMap whole = map(parts.whole, Form::blocked);
  for (size_t p = 0; p < parts.parts.size(); ++p) {
    const ChannelPart& part = parts.parts[p];
    const int32_t dst = write(part.value, Form::blocked);
    Buffer& buffer = plan_.buffers[dst];
    if (placement_.lies_inside(part.value, part.first / target_.vector_lanes, parts.whole)) {
      buffer.parts = {{src, 0, buffer.inside_bytes - plan_.buffers[src].inside_bytes, buffer.size_bytes}};
      continue;
    }
    const FeatureMap to = map(part.value, Form::blocked);
    const kernels::LayoutSpec spec{kernels::channel_slice(whole, part.first, to.c), to};
    launch(index, fmt::format("{} [{}]", group.name, p), spec, {src}, dst);
  }
}

}  // namespace onepass::plan
