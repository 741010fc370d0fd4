// SPDX-License-Identifier: Apache-2.0
//
// conv_direct: what it supports, its tiles, its packed weights and its cost.
#include <algorithm>
#include <cmath>

#include "base/diagnostic.h"
#include "kernels/conv_direct_geometry.h"
#include "kernels/conv_output.h"
#include "kernels/conv_ragged.h"

namespace onepass::kernels {

namespace {

/// Cycles around the reduction of one tile: start, store, loop control.
double tile_overhead_cycles(int64_t pixels, int64_t vectors) {
  return 20.0 + static_cast<double>(pixels * vectors);
}

/// Cycles of one tile. Two vector loads and two fmas issue per cycle; weights stream from L2.
double tile_cycles(int64_t pixels, int64_t vectors, int64_t reduction, const targets::Target& target) {
  constexpr double k_l2_vectors_per_cycle = 0.6;
  constexpr double k_fma_latency_cycles = 4;
  const double fmas = static_cast<double>(pixels * vectors) / 2;
  const double loads = static_cast<double>(pixels + vectors) / 2;
  const double stream =
      static_cast<double>(vectors) / k_l2_vectors_per_cycle / (target.vector_lanes == 8 ? 2 : 1);
  return static_cast<double>(reduction) * std::max({fmas, loads, stream, k_fma_latency_cycles}) +
         tile_overhead_cycles(pixels, vectors);
}

double row_cycles(int64_t columns, int64_t most, int64_t vectors, int64_t reduction,
                  const targets::Target& target) {
  const ColumnTiles tiles(columns, most);
  return static_cast<double>(tiles.wide) * tile_cycles(tiles.pixels, vectors, reduction, target) +
         static_cast<double>(tiles.count - tiles.wide) *
             tile_cycles(tiles.pixels - 1, vectors, reduction, target);
}

double predicted_cycles(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target) {
  const DirectGeometry g(spec, tile, target);
  const int64_t columns = spec.dst.w * tile.merged_rows;
  double row = static_cast<double>(g.panels - 1) *
               row_cycles(columns, tile.pixels, g.panel_vectors, g.reduction(), target);
  const int64_t most = g.last_vectors == g.panel_vectors ? tile.pixels : most_pixels(g.last_vectors, target);
  row += row_cycles(columns, most, g.last_vectors, g.reduction(), target);
  return row * static_cast<double>(spec.dst.n * spec.groups * spec.dst.h / tile.merged_rows);
}

bool rows_contiguous(const FeatureMap& map) {
  return map.halo.empty() && map.row_stride == map.w * map.block;
}

bool can_merge_rows(const ConvSpec& spec) {
  const bool pointwise = spec.kernel_h == 1 && spec.kernel_w == 1 && spec.stride_h == 1 &&
                         spec.stride_w == 1 && spec.pad_top == 0 && spec.pad_left == 0;
  return pointwise && !spec.phases && rows_contiguous(spec.src) && rows_contiguous(spec.dst) &&
         std::all_of(spec.epilogue.steps.begin(), spec.epilogue.steps.end(), [](const EpilogueStep& step) {
           return step.operand.kind != StepOperand::Kind::map || rows_contiguous(step.operand.map);
         });
}

FeatureMap merged(FeatureMap map, int64_t rows) {
  map.h /= rows;
  map.w *= rows;
  map.row_stride *= rows;
  return map;
}

int64_t weight_bytes(const ConvSpec& spec, const DirectGeometry& g) {
  return g.group_elems() * spec.groups * 4;
}

int64_t map_bytes(const FeatureMap& map) {
  return map.bytes();
}

}  // namespace

int64_t most_pixels(int64_t vectors, const targets::Target& target) {
  // One temporary and the resident operand; a back end that folds broadcasts into the fma needs no temporary.
  const int64_t registers = target.vector_registers - 1;
  if (vectors == 1) return target.broadcast_operand ? 28 : 10;
  int64_t pixels = 1;
  while ((pixels + 1) * vectors + std::min(pixels + 1, vectors) <= registers) ++pixels;
  return pixels;
}

bool stages_source(const ConvSpec& spec) {
  return spec.src.block == 1 && spec.groups == 1 &&
         widest(spec.src.halo, required_halo(spec)) != spec.src.halo;
}

ConvSpec merge_rows(const ConvSpec& spec, int64_t merged_rows) {
  ConvSpec result = spec;
  if (merged_rows == 1) return result;
  result.src = merged(spec.src, merged_rows);
  result.dst = merged(spec.dst, merged_rows);
  for (EpilogueStep& step : result.epilogue.steps)
    if (step.operand.kind == StepOperand::Kind::map) step.operand.map = merged(step.operand.map, merged_rows);
  return result;
}

Halo required_halo(const ConvSpec& spec) {
  const auto beyond = [](int64_t out, int64_t stride, int64_t kernel, int64_t dilation, int64_t pad,
                         int64_t in) {
    return std::max<int64_t>(0, (out - 1) * stride - pad + (kernel - 1) * dilation - (in - 1));
  };
  return {spec.pad_top, spec.pad_left,
          beyond(spec.dst.h, spec.stride_h, spec.kernel_h, spec.dilation_h, spec.pad_top, spec.src.h),
          beyond(spec.dst.w, spec.stride_w, spec.kernel_w, spec.dilation_w, spec.pad_left, spec.src.w)};
}

bool conv_direct_supports(const ConvSpec& spec, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes;
  if (!conv_output_writes(spec, target)) return false;
  if (spec.groups == 1 || is_ragged(spec, target)) return true;
  if (spec.phases) return false;
  const bool by_pixel = spec.dst.block != lanes && spec.dst.block != 1;
  const bool whole_outputs = !by_pixel && spec.dst.c / spec.groups % lanes == 0;
  const bool whole_inputs = spec.src.block == 1 || spec.src.c / spec.groups % spec.src.block == 0;
  return whole_outputs && whole_inputs;
}

std::vector<ConvTile> conv_direct_tiles(const ConvSpec& spec, const targets::Target& target) {
  if (is_ragged(spec, target)) return conv_ragged_tiles(spec, target);
  std::vector<std::pair<double, ConvTile>> candidates;
  const int64_t outputs = (spec.dst.c / spec.groups + target.vector_lanes - 1) / target.vector_lanes;
  const int64_t most_vectors = std::min<int64_t>(outputs, target.broadcast_operand ? 8 : 4);
  const int64_t most_merged = can_merge_rows(spec) ? spec.dst.h : 1;
  for (int64_t vectors = 1; vectors <= most_vectors; ++vectors)
    for (int64_t merged_rows = 1; merged_rows <= most_merged; ++merged_rows) {
      if (spec.dst.h % merged_rows != 0) continue;
      ConvTile tile{.vectors = static_cast<int>(vectors), .merged_rows = merged_rows};
      const int64_t most = most_pixels(vectors, target);
      tile.pixels = static_cast<int>(ColumnTiles(spec.dst.w * merged_rows, most).pixels);
      tile.rows_outer = weight_bytes(spec, DirectGeometry(spec, tile, target)) <= target.l2_bytes / 2;
      candidates.emplace_back(predicted_cycles(spec, tile, target), tile);
    }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ConvTile> tiles;
  for (const auto& [cycles, tile] : candidates) tiles.push_back(tile);
  return tiles;
}

Estimate estimate_conv_direct(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target) {
  if (is_ragged(spec, target)) return estimate_conv_ragged(spec, tile, target);
  const DirectGeometry g(spec, tile, target);
  Estimate estimate;
  const double outputs = static_cast<double>(spec.dst.values());
  estimate.flops = outputs * (2.0 * static_cast<double>(g.reduction()) + flops_per_element(spec.epilogue));
  estimate.executed_flops =
      estimate.flops * static_cast<double>(g.vectors * g.lanes) / static_cast<double>(g.group_outputs);
  estimate.pointwise_flops = outputs * flops_per_element(spec.epilogue);
  estimate.bytes_read = spec.src.value_bytes();
  for (const EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == StepOperand::Kind::map) estimate.bytes_read += step.operand.map.value_bytes();
  estimate.bytes_written = map_bytes(spec.dst);
  estimate.weight_bytes = weight_bytes(spec, g);
  const int64_t rows = spec.dst.n * spec.dst.h / tile.merged_rows;
  estimate.l2_bytes =
      tile.rows_outer ? estimate.weight_bytes * rows : map_bytes(spec.src) * g.panels + estimate.weight_bytes;
  estimate.registers =
      static_cast<int>(tile.pixels * g.panel_vectors + std::min<int64_t>(tile.pixels, g.panel_vectors) + 1);
  const double peak_cycles = estimate.executed_flops / target.flops_per_cycle;
  estimate.efficiency = std::min(0.98, peak_cycles / std::max(1.0, predicted_cycles(spec, tile, target)));
  estimate.pointwise_flops += plain_output_flops(spec, target);
  estimate.executed_flops += plain_output_flops(spec, target);
  return estimate;
}

std::vector<float> pack_conv_direct(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target,
                                    std::span<const float> weights) {
  if (is_ragged(spec, target)) return pack_conv_ragged(spec, tile, target, weights);
  const DirectGeometry g(spec, tile, target);
  require(static_cast<int64_t>(weights.size()) == spec.dst.c * g.reduction(),
          "weights have the shape of the convolution");
  std::vector<float> packed(g.group_elems() * spec.groups, 0.0F);
  const int64_t block = spec.src.block == 1 ? g.group_channels : std::min(spec.src.block, g.group_channels);
  for (int64_t output = 0; output < spec.dst.c; ++output) {
    const int64_t group = output / g.group_outputs, within = output % g.group_outputs;
    const int64_t vector = within / g.lanes, lane = within % g.lanes;
    const int64_t panel = vector / g.panel_vectors;
    const int64_t width = (panel == g.panels - 1 ? g.last_vectors : g.panel_vectors) * g.lanes;
    float* base = packed.data() + group * g.group_elems() + panel * g.panel_elems() +
                  (vector - panel * g.panel_vectors) * g.lanes + lane;
    for (int64_t c = 0; c < g.group_channels; ++c)
      for (int64_t tap = 0; tap < g.taps; ++tap) {
        const int64_t first = c / block * block;
        const int64_t channels = std::min(block, g.group_channels - first);
        const int64_t step =
            spec.src.block == 1 ? c * g.taps + tap : first * g.taps + tap * channels + (c - first);
        base[step * width] = weights[output * g.reduction() + c * g.taps + tap];
      }
  }
  return packed;
}

std::vector<float> pad_channels(std::span<const float> values, const FeatureMap& dst,
                                const targets::Target& target) {
  const int64_t lanes = target.vector_lanes;
  std::vector<float> padded((dst.c + lanes - 1) / lanes * lanes, 0.0F);
  require(values.size() <= padded.size(), "one value for each channel");
  std::copy(values.begin(), values.end(), padded.begin());
  return padded;
}

}  // namespace onepass::kernels
