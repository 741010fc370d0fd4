// SPDX-License-Identifier: Apache-2.0
//
// Values that share a buffer form a component: each stands at a channel block relative to the others. A part
// joins the component of its whole at its own channels, unless two values that launches write would then
// overlap. So whatever lies at one block is one value's, and all others that cover it are made of that value.
#include "plan/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "plan/range.h"

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::ValueId;
using kernels::Halo;

class Placer {
 public:
  Placer(const PlacementQuestion& question, Halos& halos)
      : q_(question),
        graph_(question.graph),
        halos_(halos),
        component_(graph_.value_capacity()),
        block_(graph_.value_capacity(), 0),
        joined_by_(graph_.value_capacity(), -1),
        cut_by_(graph_.value_capacity(), -1),
        groups_of_(graph_.value_capacity()) {
    for (int32_t v = 0; v < static_cast<int32_t>(component_.size()); ++v) {
      component_[v] = v;
      members_.emplace_back(1, v);
    }
  }

  Placement run() {
    collect();
    std::vector<int32_t> order(wholes_.size());
    for (size_t r = 0; r < order.size(); ++r) order[r] = static_cast<int32_t>(r);
    const auto elems = [&](int32_t r) { return ir::element_count(type_of(wholes_[r].whole).dims); };
    std::sort(order.begin(), order.end(),
              [&](int32_t a, int32_t b) { return elems(a) != elems(b) ? elems(a) > elems(b) : a < b; });
    refusals_.resize(wholes_.size());
    for (const int32_t r : order) place_parts(r);
    return result();
  }

 private:
  const ir::TensorType& type_of(ValueId value) const { return graph_.value(value).type; }
  bool blocked(ValueId value) const { return q_.forms[value.index] == Form::blocked; }
  int64_t lanes() const { return q_.target.vector_lanes; }
  int64_t blocks(ValueId value) const { return channel_blocks(graph_, value, lanes()); }

  /// Nodes of blocked maps, and who reads or writes a value.
  void collect() {
    for (int32_t g = 0; g < static_cast<int32_t>(q_.groups.size()); ++g) {
      std::set<ValueId> touched;
      for (const ir::NodeId id : q_.groups[g].nodes) {
        const ir::Node& node = graph_.node(id);
        touched.insert(node.inputs.begin(), node.inputs.end());
        touched.insert(node.outputs.begin(), node.outputs.end());
      }
      for (const ValueId value : touched)
        if (value.valid()) groups_of_[value.index].push_back(g);
      collect_parts(q_.groups[g].nodes.front());
    }
  }

  void collect_parts(ir::NodeId node) {
    auto parts = channel_parts(graph_, node);
    if (!parts) return;
    const auto is_blocked = [&](const ChannelPart& part) { return blocked(part.value); };
    const bool any =
        blocked(parts->whole) || std::any_of(parts->parts.begin(), parts->parts.end(), is_blocked);
    if (!any) return;  // plain maps meet plain maps
    if (const auto failure = refused_whole(*parts)) return refuse(parts->node, parts->whole, *failure);
    const auto number = static_cast<int32_t>(wholes_.size());
    if (!parts->cuts) joined_by_[parts->whole.index] = number;
    if (parts->cuts)
      for (const ChannelPart& part : parts->parts) cut_by_[part.value.index] = number;
    wholes_.push_back(std::move(*parts));
  }

  std::optional<patterns::Failure> refused_whole(const ChannelParts& parts) const {
    if (const ChannelPart* across = part_across_blocks(graph_, parts, lanes()))
      return patterns::Failure{"C1", fmt::format("'{}', channels from {} on, {}, does not fill blocks of {}",
                                                 graph_.value(across->value).name, across->first,
                                                 ir::to_string(type_of(across->value)), lanes())};
    if (!blocked(parts.whole) || (parts.cuts && !blocked(parts.parts.front().value)))
      return patterns::Failure{"C1", "most of its maps are plain"};
    if (type_of(parts.whole).dims[0] != 1)
      return patterns::Failure{"C2", fmt::format("'{}' holds {} pictures", graph_.value(parts.whole).name,
                                                 type_of(parts.whole).dims[0])};
    return std::nullopt;
  }

  void place_parts(int32_t number) {
    const ChannelParts& parts = wholes_[number];
    refusals_[number].resize(parts.parts.size());
    for (size_t p = 0; p < parts.parts.size(); ++p)
      if (!lies(parts, parts.parts[p])) refusals_[number][p] = place_part(parts, parts.parts[p]);
  }

  bool lies(const ChannelParts& parts, const ChannelPart& part) const {
    return component_[part.value.index] == component_[parts.whole.index] &&
           block_[part.value.index] == block_[parts.whole.index] + part.first / lanes();
  }

  /// Puts the part into the component of its whole, or says why it stays outside.
  std::optional<patterns::Failure> place_part(const ChannelParts& parts, const ChannelPart& part) {
    const ir::Value& value = graph_.value(part.value);
    if (graph_.is_constant(part.value))
      return patterns::Failure{"C3", fmt::format("'{}' is a constant and lies with the weights", value.name)};
    if (!blocked(part.value) && q_.storage == loops::Scalar::f32 && blocked_is_plain(value.type, q_.target))
      return patterns::Failure{
          "C4", fmt::format("'{}' is computed plain, and its one pixel is read from there", value.name)};
    if (component_[part.value.index] == component_[parts.whole.index])
      return patterns::Failure{
          "C5", fmt::format("'{}' lies at other channels of the same buffer already", value.name)};
    return merge(parts, part);
  }

  std::optional<patterns::Failure> merge(const ChannelParts& parts, const ChannelPart& part) {
    const int32_t into = component_[parts.whole.index], from = component_[part.value.index];
    const int64_t shift = block_[parts.whole.index] + part.first / lanes() - block_[part.value.index];
    const std::vector<int32_t> moved = members_[from];
    move(moved, into, shift);
    members_[into].insert(members_[into].end(), moved.begin(), moved.end());
    members_[from].clear();
    auto failure = refused_component(into, parts, part, moved);
    if (!failure) return std::nullopt;
    members_[into].resize(members_[into].size() - moved.size());
    members_[from] = moved;
    move(moved, from, -shift);
    return failure;
  }

  void move(const std::vector<int32_t>& values, int32_t component, int64_t shift) {
    for (const int32_t v : values) {
      component_[v] = component;
      block_[v] += shift;
    }
  }

  /// Checks a component into which `moved` have just come; gives it one halo.
  std::optional<patterns::Failure> refused_component(int32_t component, const ChannelParts& parts,
                                                     const ChannelPart& part,
                                                     const std::vector<int32_t>& moved) {
    std::vector<Range> written;
    for (const int32_t v : members_[component]) append_written({v}, written);
    if (overlap(written))
      return patterns::Failure{"C6",
                               fmt::format("'{}' lies beside another map, where '{}' needs room",
                                           graph_.value(part.value).name, graph_.value(parts.whole).name)};
    const Halo own = halo_of(members_[component].front()), other = halo_of(moved.front());
    if (own == other) return std::nullopt;
    return widen(component, moved.size(), parts, part);
  }

  Halo& halo_of(int32_t value) { return halos_[value][static_cast<int>(Form::blocked)]; }

  /// One halo for all, if what their readers and writers lose by it is less than the copy.
  std::optional<patterns::Failure> widen(int32_t component, size_t moved, const ChannelParts& parts,
                                         const ChannelPart& part) {
    const std::vector<int32_t>& members = members_[component];
    const Halo own = halo_of(members.front()), other = halo_of(members.back()),
               both = kernels::widest(own, other);
    const double copy_ns = q_.copy_ns(part.value, parts.whole), before_ns = predicted_ns(members);
    for (const int32_t v : members) halo_of(v) = both;
    const double wider_ns = predicted_ns(members) - before_ns;
    if (wider_ns <= copy_ns) return std::nullopt;
    for (size_t m = 0; m < members.size(); ++m)
      halo_of(members[m]) = m + moved < members.size() ? own : other;
    return patterns::Failure{
        "C7", fmt::format("predicted {:.0f} ns for one halo around '{}' and '{}', {:.0f} ns for the copy",
                          wider_ns, graph_.value(part.value).name, graph_.value(parts.whole).name, copy_ns)};
  }

  double predicted_ns(const std::vector<int32_t>& members) const {
    std::set<int32_t> groups;
    for (const int32_t v : members) groups.insert(groups_of_[v].begin(), groups_of_[v].end());
    double ns = 0;
    for (const int32_t g : groups) ns += q_.predicted_ns(g);
    return ns;
  }

  /// The blocks that launches write for `value`: all, those of operands that are copied, or none.
  void append_written(ValueId value, std::vector<Range>& ranges) const {
    const int64_t begin = block_[value.index];
    if (const int32_t cut = cut_by_[value.index]; cut >= 0)
      for (const ChannelPart& part : wholes_[cut].parts)
        if (part.value == value && lies(wholes_[cut], part)) return;
    if (const int32_t joined = joined_by_[value.index]; joined >= 0) {
      for (const ChannelPart& part : wholes_[joined].parts) {
        const int64_t first = begin + part.first / lanes();
        if (!lies(wholes_[joined], part)) ranges.push_back({first, first + blocks(part.value)});
      }
      return;
    }
    ranges.push_back({begin, begin + blocks(value)});
  }

  Placement result() {
    Placement placement = no_placement(graph_);
    for (size_t r = 0; r < wholes_.size(); ++r) {
      const ValueId whole = wholes_[r].whole;
      const int32_t component = component_[whole.index];
      if (members_[component].size() > 1 && !placement.placed(whole)) number(component, whole, placement);
      decide(wholes_[r], refusals_[r]);
    }
    placement.decisions = std::move(decisions_);
    return placement;
  }

  void number(int32_t component, ValueId named_after, Placement& placement) const {
    int64_t first = std::numeric_limits<int64_t>::max(), end = std::numeric_limits<int64_t>::min();
    SharedBuffer shared{.name = fmt::format("slices of '{}'", graph_.value(named_after).name)};
    for (const int32_t v : members_[component]) {
      first = std::min(first, block_[v]);
      end = std::max(end, block_[v] + blocks({v}));
      shared.members.push_back({v});
    }
    shared.blocks = end - first;
    for (const int32_t v : members_[component])
      placement.of_value[v] = {static_cast<int32_t>(placement.shared.size()), block_[v] - first};
    placement.shared.push_back(std::move(shared));
  }

  void decide(const ChannelParts& parts, const std::vector<std::optional<patterns::Failure>>& refusals) {
    size_t placed = 0;
    for (size_t p = 0; p < parts.parts.size(); ++p) {
      if (lies(parts, parts.parts[p]))
        ++placed;
      else
        refuse(parts.node, parts.parts[p].value, refusals[p].value());
    }
    if (placed == 0) return;
    decisions_.push_back({.pattern = "concat_slices",
                          .nodes = graph_.node(parts.node).origins,
                          .fused = true,
                          .reason = fmt::format("{} of {} slices lie in place", placed, parts.parts.size())});
  }

  void refuse(ir::NodeId node, ValueId map, const patterns::Failure& failure) {
    Decision decision{.pattern = "concat_slices", .condition = failure.condition, .reason = failure.reason};
    const ir::NodeId producer = graph_.producer(map);
    if (producer.valid() && producer != node) decision.nodes = graph_.node(producer).origins;
    const auto& origins = graph_.node(node).origins;
    decision.nodes.insert(decision.nodes.end(), origins.begin(), origins.end());
    decisions_.push_back(std::move(decision));
  }

  const PlacementQuestion& q_;
  const Graph& graph_;
  Halos& halos_;
  std::vector<ChannelParts> wholes_;
  std::vector<std::vector<std::optional<patterns::Failure>>> refusals_;  ///< by whole and part
  std::vector<int32_t> component_;                                       ///< by value
  std::vector<int64_t> block_;                   ///< by value: where it stands in its component
  std::vector<std::vector<int32_t>> members_;    ///< by component
  std::vector<int32_t> joined_by_, cut_by_;      ///< by value: the Concat that makes it, the Split that does
  std::vector<std::vector<int32_t>> groups_of_;  ///< by value: groups that read or write it
  std::vector<Decision> decisions_;
};

}  // namespace

bool Placement::lies_inside(ValueId part, int64_t first_block, ValueId whole) const {
  const Place &p = of_value[part.index], &w = of_value[whole.index];
  return p.shared >= 0 && p.shared == w.shared && p.block == w.block + first_block;
}

Placement place_slices(const PlacementQuestion& question, Halos& halos) {
  return Placer(question, halos).run();
}

Placement no_placement(const Graph& graph) {
  Placement placement;
  placement.of_value.resize(graph.value_capacity());
  return placement;
}

}  // namespace onepass::plan
