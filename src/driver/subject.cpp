// SPDX-License-Identifier: Apache-2.0
//
// Probes: the plan knows where a value of the optimised graph lies after which launch; names tie it to the
// value of the graph as read that it stands for. A rewrite keeps the name of the value that it computes anew.
#include "driver/subject.h"

#include <fmt/format.h>

#include <map>

#include "driver/describe.h"
#include "verify/selection.h"

namespace onepass::driver {

namespace {

verify::Layout layout_of(const kernels::FeatureMap& map) {
  return {.n = map.n,
          .c = map.c,
          .h = map.h,
          .w = map.w,
          .block = map.block,
          .row_stride = map.row_stride,
          .plane_stride = map.plane_stride,
          .batch_stride = map.batch_stride,
          .origin = map.offset + map.halo.top * map.row_stride + map.halo.left * map.block};
}

/// Groups by number: the first launch of each, and one past the last. A view has none.
struct LaunchRange {
  int32_t first = -1, end = -1;
};

std::vector<LaunchRange> launches_of_groups(const plan::Plan& plan) {
  std::vector<LaunchRange> ranges(plan.groups.size());
  for (int32_t l = 0; l < static_cast<int32_t>(plan.launches.size()); ++l) {
    if (plan.launches[l].group < 0) continue;
    LaunchRange& range = ranges[plan.launches[l].group];
    if (range.first < 0) range.first = l;
    range.end = l + 1;
  }
  return ranges;
}

class Probes {
 public:
  Probes(const Network& network, const Program& program)
      : reference_(network.model.graph), program_(program) {
    for (int32_t v = 0; v < static_cast<int32_t>(reference_.value_capacity()); ++v)
      by_name_[reference_.value({v}).name] = {v};
    ranges_ = launches_of_groups(program.plan);
    for (int32_t b = 0; b < static_cast<int32_t>(program.plan.buffers.size()); ++b)
      if (!program.plan.buffers[b].parts.empty()) made_of_parts_[program.plan.buffers[b].value] = b;
  }

  std::vector<verify::Probe> groups() const;
  std::vector<verify::Selection> selections() const;

 private:
  /// The value of the reference that `value` of the program stands for; invalid when it is new.
  ir::ValueId reference_value(ir::ValueId value) const;
  verify::Probe probe(int32_t buffer, ir::ValueId value, int32_t launch, const std::string& name) const;
  verify::Selection selection(const plan::Group& group, const LaunchRange& range) const;

  const ir::Graph& reference_;
  const Program& program_;
  std::map<std::string, ir::ValueId> by_name_;
  std::vector<LaunchRange> ranges_;
  std::map<ir::ValueId, int32_t> made_of_parts_;  ///< by value: buffers of which no launch writes the whole
};

ir::ValueId Probes::reference_value(ir::ValueId value) const {
  const ir::Value& mine = program_.graph.value(value);
  const auto found = by_name_.find(mine.name);
  if (found == by_name_.end()) return {};
  const ir::Value& theirs = reference_.value(found->second);
  const bool computed = theirs.producer.valid() && mine.type == theirs.type;
  return computed ? found->second : ir::ValueId{};
}

verify::Probe Probes::probe(int32_t buffer, ir::ValueId value, int32_t launch,
                            const std::string& name) const {
  const plan::Buffer& b = program_.plan.buffers[buffer];
  verify::Probe result{
      .name = name, .value = value, .launch = launch, .place = place(b), .layout = {}, .count = {}};
  if (b.map) result.layout = layout_of(*b.map);
  return result;
}

std::vector<verify::Probe> Probes::groups() const {
  std::vector<verify::Probe> result;
  const plan::Plan& plan = program_.plan;
  for (size_t g = 0; g < plan.groups.size(); ++g) {
    const plan::Group& group = plan.groups[g];
    const ir::ValueId value = reference_value(group.result);
    // Rows that data decide are compared where they are chosen, and as outputs.
    if (!value.valid() || reference_.value(value).type.counted_axis >= 0) continue;
    if (const auto whole = made_of_parts_.find(group.result); whole != made_of_parts_.end()) {
      const int32_t reader = plan.buffers[whole->second].first_launch;
      if (reader >= 0) result.push_back(probe(whole->second, value, reader, group.name));
      continue;
    }
    if (ranges_[g].end < 0) continue;
    result.push_back(
        probe(plan.launches[ranges_[g].end - 1].writes.front(), value, ranges_[g].end, group.name));
  }
  return result;
}

verify::Selection Probes::selection(const plan::Group& group, const LaunchRange& range) const {
  const ir::Node& mine = program_.graph.node(group.nodes.front());
  const auto choice = static_cast<size_t>(verify::choice_output(mine.op));
  const ir::ValueId choice_value = reference_value(mine.outputs[choice]);
  require(choice_value.valid(), "rewrites leave nodes that choose as they are");
  verify::Selection result{.node = reference_.producer(choice_value)};
  const ir::Node& theirs = reference_.node(result.node);
  const plan::Launch& launch = program_.plan.launches[range.first];
  for (int i = 0; i < verify::compared_inputs(mine.op); ++i)
    if (program_.plan.buffers[launch.operands[i]].space != plan::BufferSpace::weights)
      result.inputs.push_back(probe(launch.operands[i], theirs.inputs[i], range.first, group.name));
  result.choice = probe(launch.operands[launch.reads.size() + choice], choice_value, range.end, group.name);
  const bool counts = launch.operands.size() > launch.reads.size() + mine.outputs.size();
  if (counts) result.choice.count = place(program_.plan.buffers[launch.operands.back()]);
  return result;
}

std::vector<verify::Selection> Probes::selections() const {
  std::vector<verify::Selection> result;
  for (size_t g = 0; g < program_.plan.groups.size(); ++g) {
    const plan::Group& group = program_.plan.groups[g];
    if (ranges_[g].end < 0 || !verify::is_selection(program_.graph.node(group.nodes.front()).op)) continue;
    result.push_back(selection(group, ranges_[g]));
  }
  return result;
}

void check_launches(const Program& program, const runtime::LoadedModel& model) {
  const auto refuse = [](std::string message) {
    throw Error({.code = "foreign_artefact",
                 .message = std::move(message),
                 .accepted = "an artefact of this model and these options",
                 .hint = "give verify the options that compile was given"});
  };
  const auto theirs = model.launches();
  const auto& mine = program.plan.launches;
  if (theirs.size() != mine.size())
    refuse(fmt::format("the artefact has {} launches; this model and these options make {}", theirs.size(),
                       mine.size()));
  for (size_t l = 0; l < mine.size(); ++l) {
    bool same = mine[l].name == theirs[l].name &&
                mine[l].operands.size() == static_cast<size_t>(theirs[l].operand_count);
    for (size_t o = 0; same && o < mine[l].operands.size(); ++o) {
      const artefact::OperandRecord a = place(program.plan.buffers[mine[l].operands[o]]),
                                    b = theirs[l].operands[o];
      same = a.space == b.space && a.index == b.index && a.offset_bytes == b.offset_bytes;
    }
    if (!same)
      refuse(fmt::format("launch {} of the artefact, '{}', is not '{}'", l, theirs[l].name, mine[l].name));
  }
}

}  // namespace

verify::Subject make_subject(const Network& network, const Program& program,
                             const runtime::LoadedModel& model) {
  check_launches(program, model);
  const Probes probes(network, program);
  return {.reference = &network.model.graph,
          .model = &model,
          .selections = probes.selections(),
          .groups = probes.groups()};
}

}  // namespace onepass::driver
