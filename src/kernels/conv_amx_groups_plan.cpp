// SPDX-License-Identifier: Apache-2.0
//
// conv_amx with groups: what it supports, its tiles, its packed weights and its cost.
#include <algorithm>
#include <bit>

#include "base/diagnostic.h"
#include "kernels/conv_amx_geometry.h"
#include "kernels/conv_amx_groups.h"
#include "kernels/conv_output.h"

namespace onepass::kernels {

namespace {

constexpr int64_t k_row_words = loops::k_tile_words;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Source columns from the first that an output reads to the last.
int64_t extent_w(const ConvSpec& spec) {
  return (spec.kernel_w - 1) * spec.dilation_w;
}

/// The cycles of staging, outputs and tile stores of one slice.
double vector_cycles(const ConvSpec& spec, const AmxGroupGeometry& g, const targets::Target& target) {
  const double per_vector = g.parts == 3 ? 12 : g.parts == 2 ? 9 : 6;
  const double channel_vectors = std::max(1.0, static_cast<double>(g.width) / target.vector_lanes);
  const double staged =
      per_vector * channel_vectors * static_cast<double>(g.phases_h * g.staged_rows * g.pitch);
  const double turns = plain_output_flops(spec, target) == 0 ? 0 : spec.dst.block == 1 ? 2 : 12;
  const auto outputs = static_cast<double>(g.rows * spec.dst.w * g.set_vectors);
  const double stores = 16 * static_cast<double>(g.set_groups * g.set_vectors * g.segments * g.tiles);
  return staged + outputs * (5 + turns + flops_per_element(spec.epilogue) / 2) + stores;
}

double first_read_ns(const AmxGroupGeometry& g, const targets::Target& target) {
  return static_cast<double>(g.weight_words()) * 4 / target.memory_bytes_per_ns;
}

double slices_of(const ConvSpec& spec, const AmxGroupGeometry& g) {
  return static_cast<double>(spec.dst.n * g.sets * g.row_blocks);
}

double predicted_ns(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target) {
  constexpr double k_slice_ns = 100, k_overlap = 0.3;
  const AmxGroupGeometry g(spec, tile, target);
  const double slices = slices_of(spec, g);
  const double products = slices *
                          static_cast<double>(g.set_groups * g.set_vectors * g.segments * g.tiles * g.steps) *
                          tile.products / target.tile_products_per_ns;
  const double stream = first_read_ns(g, target);
  return std::max(products, stream) + (1 - k_overlap) * std::min(products, stream) +
         slices * (vector_cycles(spec, g, target) / target.clock_ghz + k_slice_ns);
}

}  // namespace

AmxGroupGeometry::AmxGroupGeometry(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target)
    : parts(parts_of(tile.products)),
      width(spec.dst.c / spec.groups),
      sets(ceil_div(spec.dst.c, std::max<int64_t>(width, target.vector_lanes))),
      set_groups(std::max<int64_t>(1, target.vector_lanes / width)),
      set_vectors(std::max<int64_t>(1, width / target.vector_lanes)),
      position_words(width / 2),
      row_outputs(set_groups),
      row_steps(
          ceil_div(((row_outputs - 1) * spec.stride_w + extent_w(spec) + 1) * position_words, k_row_words)),
      steps(spec.kernel_h * row_steps),
      rows(tile.rows),
      row_blocks(ceil_div(spec.dst.h, rows)),
      unit_positions(std::max<int64_t>(1, k_row_words / position_words)),
      unit_words(unit_positions * position_words),
      slack_words(row_steps * k_row_words) {
  set_runs(spec);
}

void AmxGroupGeometry::set_runs(const ConvSpec& spec) {
  const int64_t extent_h = (spec.kernel_h - 1) * spec.dilation_h;
  phases_h = std::min(spec.stride_h, extent_h + 1);
  staged_rows = rows + extent_h / spec.stride_h;
  pitch = ceil_div((spec.dst.w - 1) * spec.stride_w + extent_w(spec) + 1, spec.stride_w) * spec.stride_w;
  const int64_t run = (rows - 1) * output_pitch(spec) + spec.dst.w;
  const bool one_run = ceil_div(run, tile_outputs()) <= rows * ceil_div(spec.dst.w, tile_outputs());
  segments = one_run ? 1 : rows;
  tiles = ceil_div(one_run ? run : spec.dst.w, tile_outputs());
  // The last tile of a run reads whole rows from every tap's offset, also behind the staged rows.
  const int64_t row_words = pitch * position_words;
  const int64_t last_read = (segments - 1 + extent_h / spec.stride_h) * row_words +
                            tiles * tile_outputs() * spec.stride_w * position_words + slack_words;
  const int64_t words = std::max(staged_rows * row_words + slack_words, last_read);
  plane_words = ceil_div(words, k_row_words) * k_row_words;
  part_words = set_groups * phases_h * plane_words;
}

bool conv_amx_groups_supports(const ConvSpec& spec, const targets::Target& target) {
  if (target.tile_products_per_ns == 0 || spec.groups == 1 || spec.phases) return false;
  const int64_t lanes = target.vector_lanes, width = spec.dst.c / spec.groups;
  const bool fits = width == 4 || width == 8 || width == lanes || width % k_amx_channels == 0;
  return spec.src.c == spec.dst.c && fits && spec.src.block == lanes && conv_output_writes(spec, target);
}

std::vector<AmxTile> conv_amx_groups_tiles(const ConvSpec& spec, int products,
                                           const targets::Target& target) {
  constexpr int64_t k_least_slices = 4, k_streamed_bytes = 128 << 10;
  std::vector<std::pair<double, AmxTile>> candidates;
  for (int64_t blocks = 1; blocks <= spec.dst.h; ++blocks) {
    AmxTile tile{.products = products, .rows = ceil_div(spec.dst.h, blocks)};
    const AmxGroupGeometry g(spec, tile, target);
    if (g.row_blocks != blocks) continue;
    if (spec.dst.n * g.sets * blocks < std::min(k_least_slices, spec.dst.n * g.sets * spec.dst.h)) continue;
    if ((g.stage_words() + g.sum_elems()) * 4 > target.l2_bytes * 3 / 5 && tile.rows > 1) continue;
    tile.streams_weights = g.weight_words() * 4 > k_streamed_bytes;
    candidates.emplace_back(predicted_ns(spec, tile, target), tile);
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<AmxTile> tiles;
  for (const auto& [ns, tile] : candidates) tiles.push_back(tile);
  return tiles;
}

Estimate estimate_conv_amx_groups(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target) {
  const AmxGroupGeometry g(spec, tile, target);
  Estimate e;
  const auto reduction = static_cast<double>(g.width * spec.kernel_h * spec.kernel_w);
  e.flops = static_cast<double>(spec.dst.values()) * (2 * reduction + flops_per_element(spec.epilogue));
  const int64_t products = g.set_groups * g.set_vectors * g.segments * g.tiles * g.steps;
  e.executed_flops = 2.0 * slices_of(spec, g) * static_cast<double>(products) * loops::k_tile_rows *
                     target.vector_lanes * k_amx_channels;
  e.bytes_read = spec.src.value_bytes();
  for (const EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == StepOperand::Kind::map) e.bytes_read += step.operand.map.value_bytes();
  e.bytes_written = spec.dst.bytes();
  e.weight_bytes = g.weight_words() * 4;
  e.l2_bytes = e.weight_bytes * g.row_blocks * spec.dst.n;
  e.scratch_bytes = (g.stage_words() + g.sum_elems()) * 4;
  e.registers = 8;
  // Whoever weighs the estimate adds the weights' way from memory.
  const double ns = predicted_ns(spec, tile, target) - first_read_ns(g, target);
  e.efficiency = e.executed_flops / target.flops_per_cycle / std::max(1.0, ns * target.clock_ghz);
  return e;
}

std::vector<float> pack_conv_amx_groups(const ConvSpec& spec, const AmxTile& tile,
                                        const targets::Target& target, std::span<const float> weights) {
  const AmxGroupGeometry g(spec, tile, target);
  const int64_t lanes = target.vector_lanes, kernel_taps = spec.kernel_h * spec.kernel_w;
  const int64_t chunk = std::min<int64_t>(g.width, k_amx_channels), half = chunk / 2;
  require(static_cast<int64_t>(weights.size()) == spec.dst.c * g.width * kernel_taps,
          "weights have the shape of the convolution");
  std::vector<float> packed(g.weight_words(), 0.0F);
  const auto place = [&](int64_t k, int64_t kh, int64_t column, int64_t c, int64_t shifted) {
    const int64_t word = column * g.position_words + c / chunk * half + c % half;
    const int64_t step = kh * g.row_steps + word / k_row_words;
    const int64_t lane = g.width < lanes ? shifted * g.width + k % g.width : k % lanes;
    return k / std::min(g.width, lanes) * g.group_words() + step * g.step_words() +
           word % k_row_words * k_row_words + lane;
  };
  for (int64_t k = 0; k < spec.dst.c; ++k)
    for (int64_t c = 0; c < g.width; ++c)
      for (int64_t tap = 0; tap < kernel_taps; ++tap)
        for (int64_t shifted = 0; shifted < g.row_outputs; ++shifted)
          for (int64_t part = 0; part < g.parts; ++part) {
            const int64_t column = shifted * spec.stride_w + tap % spec.kernel_w * spec.dilation_w;
            float& word = packed[place(k, tap / spec.kernel_w, column, c, shifted) +
                                 part * loops::k_tile_rows * loops::k_tile_words];
            const uint32_t bits = part_of(weights[(k * g.width + c) * kernel_taps + tap], part);
            const int64_t high = c % chunk / half;
            word = std::bit_cast<float>(std::bit_cast<uint32_t>(word) | bits << (16 * high));
          }
  return packed;
}

}  // namespace onepass::kernels
