// SPDX-License-Identifier: Apache-2.0
//
// Values that share a buffer form a component, as in placement.cpp: each stands some bytes behind the others'
// start. Launches write ranges that do not overlap; all else is made of them.
#include "plan/plain_placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "plan/grouping.h"
#include "plan/range.h"

namespace onepass::plan {

namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;
using patterns::Failure;

class PlainPlacer {
 public:
  explicit PlainPlacer(const PlainQuestion& question)
      : q_(question),
        graph_(question.graph),
        component_(graph_.value_capacity()),
        first_(graph_.value_capacity(), 0),
        output_of_(graph_.value_capacity(), -1),
        made_by_(graph_.value_capacity(), -1),
        over_(graph_.value_capacity(), false),
        result_(no_plain_placement(graph_)) {
    for (int32_t v = 0; v < static_cast<int32_t>(component_.size()); ++v) {
      component_[v] = v;
      members_.emplace_back(1, v);
    }
  }

  PlainPlacement run() {
    for (int32_t o = static_cast<int32_t>(graph_.outputs().size()); o-- > 0;)
      output_of_[storage(graph_.outputs()[o].value).index] = o;
    for (const Group& group : q_.groups) replace(group.nodes.front());
    for (const Group& group : q_.groups) collect(group.nodes.front());
    std::vector<int32_t> order(wholes_.size());
    for (size_t w = 0; w < order.size(); ++w) order[w] = static_cast<int32_t>(w);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return plain_bytes(graph_, wholes_[a].whole) > plain_bytes(graph_, wholes_[b].whole);
    });
    refusals_.resize(wholes_.size());
    for (const int32_t w : order) place_parts(w);
    finish();
    return std::move(result_);
  }

 private:
  ValueId storage(ValueId value) const { return q_.storage_of(value); }
  const std::string& name(ValueId value) const { return graph_.value(value).name; }
  bool blocked(ValueId value) const { return q_.forms[value.index] == Form::blocked; }

  /// Concats that lie in the place of what was split.
  void replace(NodeId concat) {
    const auto outcome = replaced_parts(graph_, concat);
    if (!outcome || blocked(graph_.node(concat).outputs[0])) return;
    if (const auto* failure = std::get_if<Failure>(&*outcome)) return refuse("concat_over", concat, *failure);
    const auto& parts = std::get<ReplacedParts>(*outcome);
    const ValueId source = storage(parts.source), result = graph_.node(concat).outputs[0];
    if (const auto failure = elsewhere(source)) return refuse("concat_over", concat, {"C3", failure->reason});
    if (result_.replaced_by(parts.split) != nullptr)
      return refuse("concat_over", concat,
                    {"C5", fmt::format("another Concat lies in the place of '{}'", name(parts.source))});
    over_[result.index] = true;
    unite(source, result, 0);
    result_.replaced.push_back(parts);
    const auto kept = std::count(parts.kept.begin(), parts.kept.end(), true);
    accept("concat_over", concat, fmt::format("{} of {} parts stay in place", kept, parts.kept.size()));
  }

  void collect(NodeId node) {
    if (result_.replaced_by(node) != nullptr) return;
    auto parts = plain_parts(graph_, node);
    if (!parts || blocked(graph_.node(node).outputs[0])) return;
    if (parts->rows > 1)
      return refuse("plain_slices", node,
                    {"C1", fmt::format("'{}' has {} rows before the axis", name(parts->whole), parts->rows)});
    if (const auto failure = elsewhere(storage(parts->whole))) return refuse("plain_slices", node, *failure);
    const auto number = static_cast<int32_t>(wholes_.size());
    if (!parts->cuts) made_by_[parts->whole.index] = number;
    if (parts->cuts)
      for (const BytePart& part : parts->parts) made_by_[part.value.index] = number;
    wholes_.push_back(std::move(*parts));
  }

  /// Why a value has no plain bytes that could lie anywhere.
  std::optional<Failure> elsewhere(ValueId value) const {
    const ir::Value& v = graph_.value(value);
    if (graph_.is_constant(value))
      return Failure{"C2", fmt::format("'{}' is a constant and lies with the weights", v.name)};
    if (v.is_input) return Failure{"C2", fmt::format("'{}' is an input and lies with the caller", v.name)};
    if (blocked(value) && blocked_is_plain(v.type, q_.target))
      return Failure{"C2", fmt::format("'{}' is read from its channel blocks", v.name)};
    return std::nullopt;
  }

  void place_parts(int32_t number) {
    const PlainParts& parts = wholes_[number];
    refusals_[number].resize(parts.parts.size());
    for (size_t p = 0; p < parts.parts.size(); ++p) refusals_[number][p] = place_part(parts, parts.parts[p]);
  }

  bool lies(const PlainParts& parts, const BytePart& part) const {
    const ValueId inner = storage(part.value), outer = storage(parts.whole);
    return inner != outer && component_[inner.index] == component_[outer.index] &&
           first_[inner.index] == first_[outer.index] + part.first_bytes;
  }

  std::optional<Failure> place_part(const PlainParts& parts, const BytePart& part) {
    if (lies(parts, part)) return std::nullopt;
    const ValueId inner = storage(part.value), outer = storage(parts.whole);
    if (auto failure = elsewhere(inner)) return failure;
    if (component_[inner.index] == component_[outer.index])
      return Failure{"C3", fmt::format("'{}' lies at other bytes of the same buffer already", name(inner))};
    const int32_t into = component_[outer.index], from = component_[inner.index];
    const std::vector<int32_t> moved = members_[from];
    const int64_t shift = unite(outer, inner, part.first_bytes);
    auto failure = refused_component(into, part.value, parts.whole);
    if (failure) separate(into, from, moved, shift);
    return failure;
  }

  /// Puts the component of `inner` into that of `outer`; returns how far it moved.
  int64_t unite(ValueId outer, ValueId inner, int64_t first_bytes) {
    const int32_t into = component_[outer.index], from = component_[inner.index];
    const int64_t shift = first_[outer.index] + first_bytes - first_[inner.index];
    for (const int32_t v : members_[from]) {
      component_[v] = into;
      first_[v] += shift;
      members_[into].push_back(v);
    }
    members_[from].clear();
    return shift;
  }

  void separate(int32_t from, int32_t into, const std::vector<int32_t>& moved, int64_t shift) {
    members_[from].resize(members_[from].size() - moved.size());
    members_[into] = moved;
    for (const int32_t v : moved) {
      component_[v] = into;
      first_[v] -= shift;
    }
  }

  std::optional<Failure> refused_component(int32_t component, ValueId part, ValueId whole) const {
    std::vector<Range> written;
    for (const int32_t v : members_[component]) append_written({v}, written);
    if (overlap(written))
      return Failure{"C4", fmt::format("'{}' lies beside another value, where '{}' needs room", name(part),
                                       name(whole))};
    const Range all = extent_of(component);
    int32_t outputs = 0;
    for (const int32_t v : members_[component]) {
      if (output_of_[v] < 0) continue;
      const bool is_all = first_[v] == all.begin && plain_bytes(graph_, {v}) == all.end - all.begin;
      if (++outputs > 1 || !is_all)
        return Failure{"C5", fmt::format("output '{}' would share a buffer with '{}'",
                                         graph_.outputs()[output_of_[v]].name, name(whole))};
    }
    return std::nullopt;
  }

  Range extent_of(int32_t component) const {
    Range all{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};
    for (const int32_t v : members_[component]) {
      all.begin = std::min(all.begin, first_[v]);
      all.end = std::max(all.end, first_[v] + plain_bytes(graph_, {v}));
    }
    return all;
  }

  /// The bytes that launches write for `value`, but for those that were another's before.
  void append_written(ValueId value, std::vector<Range>& ranges) const {
    const int64_t begin = first_[value.index];
    if (over_[value.index]) return;
    if (made_by_[value.index] >= 0) {
      const PlainParts& parts = wholes_[made_by_[value.index]];
      for (const BytePart& part : parts.parts) {
        if (parts.cuts && part.value == value && lies(parts, part)) return;
        if (!parts.cuts && !lies(parts, part))
          ranges.push_back({begin + part.first_bytes, begin + part.first_bytes + part.size_bytes});
      }
      if (!parts.cuts) return;
    }
    ranges.push_back({begin, begin + plain_bytes(graph_, value)});
  }

  void finish() {
    for (int32_t c = 0; c < static_cast<int32_t>(members_.size()); ++c)
      if (members_[c].size() > 1) number(c);
    for (size_t w = 0; w < wholes_.size(); ++w) decide(wholes_[w], refusals_[w]);
  }

  void number(int32_t component) {
    const Range all = extent_of(component);
    PlainShared shared{.name = fmt::format("bytes of '{}'", name({members_[component].front()})),
                       .size_bytes = all.end - all.begin};
    for (const int32_t v : members_[component]) {
      result_.of_value[v] = {static_cast<int32_t>(result_.shared.size()), first_[v] - all.begin};
      if (output_of_[v] >= 0) shared.output = output_of_[v];
    }
    result_.shared.push_back(std::move(shared));
  }

  void decide(const PlainParts& parts, const std::vector<std::optional<Failure>>& refusals) {
    size_t placed = 0;
    for (size_t p = 0; p < parts.parts.size(); ++p) {
      if (lies(parts, parts.parts[p]))
        ++placed;
      else
        refuse("plain_slices", parts.node, refusals[p].value());
    }
    if (placed > 0)
      accept("plain_slices", parts.node,
             fmt::format("{} of {} slices lie in place", placed, parts.parts.size()));
  }

  void accept(const char* pattern, NodeId node, std::string reason) {
    result_.decisions.push_back(
        {.pattern = pattern, .nodes = graph_.node(node).origins, .fused = true, .reason = std::move(reason)});
  }

  void refuse(const char* pattern, NodeId node, const Failure& failure) {
    result_.decisions.push_back({.pattern = pattern,
                                 .nodes = graph_.node(node).origins,
                                 .condition = failure.condition,
                                 .reason = failure.reason});
  }

  const PlainQuestion& q_;
  const Graph& graph_;
  std::vector<PlainParts> wholes_;
  std::vector<std::vector<std::optional<Failure>>> refusals_;  ///< by whole and part
  std::vector<int32_t> component_;                             ///< by value
  std::vector<int64_t> first_;                                 ///< by value: its first byte in its component
  std::vector<std::vector<int32_t>> members_;                  ///< by component
  std::vector<int32_t> output_of_;                             ///< by value: the graph output that lies there
  std::vector<int32_t> made_by_;  ///< by value: the Concat that makes it, the Split that does
  std::vector<bool> over_;        ///< by value: it is written over another
  PlainPlacement result_;
};

}  // namespace

bool PlainPlacement::lies_inside(ValueId part, int64_t first_bytes, ValueId whole) const {
  const PlainPlace &p = of_value[part.index], &w = of_value[whole.index];
  return p.shared >= 0 && p.shared == w.shared && p.bytes == w.bytes + first_bytes;
}

const ReplacedParts* PlainPlacement::replaced_by(NodeId node) const {
  const auto found = std::find_if(replaced.begin(), replaced.end(), [&](const ReplacedParts& parts) {
    return parts.split == node || parts.concat == node;
  });
  return found == replaced.end() ? nullptr : &*found;
}

PlainPlacement place_plain_slices(const PlainQuestion& question) {
  return PlainPlacer(question).run();
}

PlainPlacement no_plain_placement(const Graph& graph) {
  PlainPlacement placement;
  placement.of_value.resize(graph.value_capacity());
  return placement;
}

}  // namespace onepass::plan
