// SPDX-License-Identifier: Apache-2.0
//
// Groups that do not fill vectors: bundles, units, packed weights and cost.
#include <algorithm>
#include <numeric>

#include "base/diagnostic.h"
#include "kernels/conv_direct_geometry.h"
#include "kernels/conv_output.h"
#include "kernels/conv_ragged.h"

namespace onepass::kernels {

namespace {

constexpr size_t k_most_groups_of_vector = 4;
constexpr size_t k_most_units = 32;  ///< each has code of its own

int64_t groups_of_bundle(const ConvSpec& spec, int64_t lanes) {
  const int64_t outputs = spec.dst.c / spec.groups, channels = spec.src.c / spec.groups;
  return std::lcm(lanes / std::gcd(outputs, lanes), lanes / std::gcd(channels, lanes));
}

/// Output vectors of `groups` groups, each of `outputs`, as units of at most `most_vectors`.
std::vector<RaggedUnit> units_of(int64_t groups, int64_t outputs, int64_t lanes, int64_t most_vectors) {
  std::vector<RaggedUnit> units;
  for (int64_t first = 0; first < groups * outputs; first += lanes) {
    const int64_t end = std::min(first + lanes, groups * outputs), group = first / outputs;
    RaggedUnit unit{.vector = first / lanes, .group = group};
    for (int64_t start = (group + 1) * outputs; start < end; start += outputs)
      unit.starts.push_back(start - first);
    const bool joins = !units.empty() && units.back().group == group && units.back().starts.empty() &&
                       unit.starts.empty() && end == first + lanes && units.back().vectors < most_vectors;
    if (joins)
      ++units.back().vectors;
    else
      units.push_back(std::move(unit));
  }
  return units;
}

double unit_cycles(const RaggedGeometry& g, const RaggedUnit& unit, int64_t columns,
                   const targets::Target& target) {
  const ColumnTiles tiles(columns, ragged_pixels(unit, target));
  const auto cycles = [&](int64_t pixels) {
    constexpr double k_blend_fmas = 1.8;  // measured: what a load and a blend take beside the fma
    const double sources =
        static_cast<double>(unit.vectors) + k_blend_fmas * static_cast<double>(unit.starts.size());
    const double work = static_cast<double>(pixels) * sources;
    constexpr double k_fma_latency_cycles = 4;
    return static_cast<double>(g.group_channels * g.taps) * std::max(work / 2, k_fma_latency_cycles) + 20 +
           work;
  };
  return static_cast<double>(tiles.wide) * cycles(tiles.pixels) +
         static_cast<double>(tiles.count - tiles.wide) * cycles(tiles.pixels - 1);
}

double predicted_cycles(const ConvSpec& spec, const RaggedGeometry& g, const targets::Target& target) {
  double row = 0;
  for (size_t u = 0; u < g.units.size(); ++u) {
    const bool in_rest = static_cast<int64_t>(u) < g.rest_units;
    row +=
        static_cast<double>(g.bundles + (in_rest ? 1 : 0)) * unit_cycles(g, g.units[u], spec.dst.w, target);
  }
  for (const RaggedUnit& unit : g.partial) row += unit_cycles(g, unit, spec.dst.w, target);
  return row * static_cast<double>(spec.dst.n * spec.dst.h);
}

}  // namespace

bool is_ragged(const ConvSpec& spec, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes;
  const bool blocked = spec.src.block == lanes && spec.dst.block == lanes;
  if (spec.groups == 1 || !blocked || spec.phases) return false;
  const int64_t outputs = spec.dst.c / spec.groups, channels = spec.src.c / spec.groups;
  if (outputs % lanes == 0 && channels % lanes == 0) return false;
  const auto units = units_of(groups_of_bundle(spec, lanes), outputs, lanes, 1);
  return units.size() <= k_most_units && std::all_of(units.begin(), units.end(), [](const RaggedUnit& unit) {
           return unit.starts.size() < k_most_groups_of_vector;
         });
}

RaggedGeometry::RaggedGeometry(const ConvSpec& spec, int64_t most_vectors, const targets::Target& target)
    : lanes(target.vector_lanes),
      group_channels(spec.src.c / spec.groups),
      group_outputs(spec.dst.c / spec.groups),
      taps(spec.kernel_h * spec.kernel_w),
      bundle_groups(groups_of_bundle(spec, lanes)),
      bundles(spec.groups / bundle_groups),
      rest_groups(spec.groups % bundle_groups),
      units(units_of(bundle_groups, group_outputs, lanes, most_vectors)) {
  std::vector<RaggedUnit> rest = units_of(rest_groups, group_outputs, lanes, most_vectors);
  if (rest_groups * group_outputs % lanes != 0) {
    partial.push_back(std::move(rest.back()));
    rest.pop_back();
  }
  rest_units = static_cast<int64_t>(rest.size());
}

int64_t RaggedGeometry::elems_before(int64_t unit) const {
  int64_t elems = 0;
  for (int64_t u = 0; u < unit; ++u) elems += unit_elems(units[u]);
  return elems;
}

int64_t RaggedGeometry::weight_elems() const {
  const int64_t last = partial.empty() ? 0 : unit_elems(partial.front());
  return bundles * elems_before(size(units)) + elems_before(rest_units) + last;
}

std::vector<RaggedRun> RaggedGeometry::runs(const RaggedUnit& unit, int64_t begin, int64_t end) const {
  std::vector<RaggedRun> result;
  for (int64_t c = begin; c < end; ++c) {
    bool starts = c == begin || c % lanes == 0;
    for (size_t part = 0; part <= unit.starts.size(); ++part)
      starts |= ((unit.group + static_cast<int64_t>(part)) * group_channels + c) % lanes == 0;
    if (starts)
      result.push_back({c, 1});
    else
      ++result.back().count;
  }
  return result;
}

int64_t ragged_pixels(const RaggedUnit& unit, const targets::Target& target) {
  const int64_t most = most_pixels(unit.vectors, target);
  return unit.starts.empty() ? most
                             : std::max<int64_t>(4, most - 2);  // the blended source, and its second part
}

std::vector<ConvTile> conv_ragged_tiles(const ConvSpec& spec, const targets::Target& target) {
  std::vector<std::pair<double, ConvTile>> candidates;
  const int64_t vectors = std::max<int64_t>(1, spec.dst.c / spec.groups / target.vector_lanes);
  for (int64_t most = 1; most <= std::min<int64_t>(vectors, 4); ++most) {
    const RaggedGeometry g(spec, most, target);
    const ConvTile tile{.pixels = static_cast<int>(most_pixels(most, target)),
                        .vectors = static_cast<int>(most),
                        .rows_outer = g.weight_elems() * 4 <= target.l2_bytes / 2};
    candidates.emplace_back(predicted_cycles(spec, g, target), tile);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ConvTile> tiles;
  for (const auto& [cycles, tile] : candidates) tiles.push_back(tile);
  return tiles;
}

Estimate estimate_conv_ragged(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target) {
  const RaggedGeometry g(spec, tile.vectors, target);
  Estimate e;
  const auto outputs = static_cast<double>(spec.dst.values());
  e.flops =
      outputs * (2.0 * static_cast<double>(g.group_channels * g.taps) + flops_per_element(spec.epilogue));
  e.executed_flops =
      e.flops * static_cast<double>(spec.dst.blocks() * g.lanes) / static_cast<double>(spec.dst.c);
  e.pointwise_flops = outputs * flops_per_element(spec.epilogue);
  e.bytes_read = spec.src.value_bytes();
  for (const EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == StepOperand::Kind::map) e.bytes_read += step.operand.map.value_bytes();
  e.bytes_written = spec.dst.bytes();
  e.weight_bytes = g.weight_elems() * 4;
  e.l2_bytes = tile.rows_outer ? e.weight_bytes * spec.dst.n * spec.dst.h : e.bytes_read + e.weight_bytes;
  e.registers = tile.pixels * tile.vectors + tile.vectors + 1;
  const double peak_cycles = e.executed_flops / target.flops_per_cycle;
  e.efficiency = std::min(0.98, peak_cycles / std::max(1.0, predicted_cycles(spec, g, target)));
  return e;
}

std::vector<float> pack_conv_ragged(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target,
                                    std::span<const float> weights) {
  const RaggedGeometry g(spec, tile.vectors, target);
  require(static_cast<int64_t>(weights.size()) == spec.dst.c * g.group_channels * g.taps,
          "weights have the shape of the convolution");
  std::vector<float> packed(g.weight_elems(), 0.0F);
  const auto pack_unit = [&](int64_t bundle, const RaggedUnit& unit, float* to) {
    const int64_t first = (bundle * g.bundle_vectors() + unit.vector) * g.lanes;
    const int64_t width = unit.vectors * g.lanes;
    for (const RaggedRun& run : g.runs(unit, 0, g.group_channels))
      for (int64_t step = 0; step < g.taps * run.count; ++step)
        for (int64_t lane = 0; lane < width && first + lane < spec.dst.c; ++lane) {
          const int64_t c = run.channel + step % run.count, tap = step / run.count;
          to[(run.channel * g.taps + step) * width + lane] =
              weights[((first + lane) * g.group_channels + c) * g.taps + tap];
        }
  };
  const auto all = static_cast<int64_t>(g.units.size());
  const int64_t bundle_elems = g.elems_before(all);
  for (int64_t bundle = 0; bundle <= g.bundles; ++bundle)
    for (int64_t u = 0; u < (bundle < g.bundles ? all : g.rest_units); ++u)
      pack_unit(bundle, g.units[u], packed.data() + bundle * bundle_elems + g.elems_before(u));
  if (!g.partial.empty())
    pack_unit(g.bundles, g.partial.front(),
              packed.data() + g.bundles * bundle_elems + g.elems_before(g.rest_units));
  return packed;
}

}  // namespace onepass::kernels
