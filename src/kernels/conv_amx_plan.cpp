// SPDX-License-Identifier: Apache-2.0
//
// conv_amx: what it supports, its tiles, its packed weights and its cost.
#include <algorithm>
#include <bit>

#include "base/diagnostic.h"
#include "kernels/conv_amx_geometry.h"
#include "kernels/conv_amx_groups.h"
#include "kernels/conv_output.h"
#include "loops/tiles.h"

namespace onepass::kernels {

namespace {

/// Weights of a network are tens of megabytes, so that a layer finds its own beyond L2 in every run; fetching
/// ahead pays from some panels on.
constexpr int64_t k_streamed_bytes = 128 << 10;

constexpr int64_t k_tile_words = int64_t{loops::k_tile_rows} * loops::k_tile_words;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

int64_t row_blocks_of(const ConvSpec& spec, int64_t rows) {
  return ceil_div(spec.dst.h, rows);
}

/// Where the weight of a channel and tap meets its source: step of the reduction, pair of the step, half.
struct Place {
  int64_t step, pair, half;
};

Place place_of(const ConvSpec& spec, const AmxGeometry& g, int64_t c, int64_t tap) {
  if (!is_narrow(spec)) {
    const int64_t within = c % k_amx_channels, half = k_amx_channels / 2;
    return {c / k_amx_channels * g.taps + tap, within % half, within / half};
  }
  const int64_t word = tap % spec.kernel_w * g.pixel_words + c / 2;
  const int64_t chunks = g.taps / spec.kernel_h;
  return {tap / spec.kernel_w * chunks + word / loops::k_tile_words, word % loops::k_tile_words, c % 2};
}

double stage_cycles(const AmxGeometry& g) {
  // Per 32 channels of a position: loads, conversions and stores of its parts.
  const double per_position = g.parts == 3 ? 18 : g.parts == 2 ? 12 : 7;
  const int64_t positions = g.pixel_words > 0 ? g.pitch / loops::k_tile_words : g.pitch;
  return per_position * static_cast<double>(g.groups32 * g.phases_h * g.phases_w * g.staged_rows * positions);
}

double product_ns(const AmxGeometry& g, int products, int64_t panels, const targets::Target& target) {
  const double per_run = static_cast<double>(g.tiles * g.groups32 * g.taps * products);
  const double vectors =
      static_cast<double>(panels) * static_cast<double>(g.vectors) / static_cast<double>(g.panels);
  return per_run * vectors * static_cast<double>(g.segments) / target.tile_products_per_ns;
}

/// Staging, outputs and tile stores of one slice.
double vector_ns(const ConvSpec& spec, const AmxGeometry& g, const targets::Target& target) {
  const double vectors = static_cast<double>(g.panels_per_slice * g.vectors) / static_cast<double>(g.panels);
  const double outputs = static_cast<double>(g.rows * spec.dst.w) * vectors;
  const double stores = static_cast<double>(g.segments * g.tiles) * vectors;
  // The way of a vector through scratch hides behind tile products; rows of channels fill no cache lines.
  const double turns = plain_output_flops(spec, target) == 0 ? 0 : spec.dst.block == 1 ? 2 : 12;
  return (stage_cycles(g) + outputs * (4 + turns + flops_per_element(spec.epilogue) / 2) + 16 * stores) /
         target.clock_ghz;
}

bool stays_in_l2(const AmxGeometry& g, const targets::Target& target) {
  return g.weight_words() * 4 < target.l2_bytes / 2;
}

/// The weights' way from memory, where they lie again in every run.
double first_read_ns(const AmxGeometry& g, const targets::Target& target) {
  return static_cast<double>(g.weight_words()) * 4 / target.memory_bytes_per_ns;
}

/// Further blocks of rows find in L2 what fits it.
double reread_ns(const ConvSpec& spec, const AmxGeometry& g, const targets::Target& target) {
  const double bytes = static_cast<double>(g.weight_words()) * 4;
  const double again = bytes / (stays_in_l2(g, target) ? target.l2_bytes_per_ns : target.l3_bytes_per_ns);
  return again * static_cast<double>(spec.dst.n * g.row_blocks - 1);
}

double predicted_ns(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target) {
  constexpr double k_slice_ns = 100;
  const AmxGeometry g(spec, tile, target);
  const auto slices = static_cast<double>(spec.dst.n * g.row_blocks * tile.panel_slices);
  const double products = slices * product_ns(g, tile.products, g.panels_per_slice, target);
  const double stream = first_read_ns(g, target) + reread_ns(spec, g, target);
  // Without turns the first tiles wait for memory, and the others find the weights in L2.
  const double overlap = g.takes_turns() ? 0.8 : 0.3;
  return std::max(products, stream) + (1 - overlap) * std::min(products, stream) +
         slices * (vector_ns(spec, g, target) + k_slice_ns);
}

}  // namespace

int64_t parts_of(int products) {
  return products == 6 ? 3 : products == 3 ? 2 : 1;
}

uint32_t part_of(float value, int64_t part) {
  for (;; --part) {
    const uint32_t bits = loops::pack_bf16(std::bit_cast<uint32_t>(value), 0);
    if (part == 0) return bits;
    value -= std::bit_cast<float>(bits << 16);
  }
}

std::span<const PartPair> part_pairs(int products) {
  static constexpr PartPair k_six[] = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}};
  static constexpr PartPair k_three[] = {{1, 0}, {0, 0}, {0, 1}};
  static constexpr PartPair k_one[] = {{0, 0}};
  if (products == 6) return k_six;
  if (products == 3) return k_three;
  require(products == 1, "an f32 product is 6, 3 or 1 products of parts");
  return k_one;
}

bool is_narrow(const ConvSpec& spec) {
  return spec.src.block == 1;
}

AmxGeometry::AmxGeometry(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target)
    : parts(parts_of(tile.products)),
      vectors(ceil_div(spec.dst.c, target.vector_lanes)),
      panels(ceil_div(vectors, k_amx_panel_vectors)),
      last_vectors(vectors - (panels - 1) * k_amx_panel_vectors),
      panels_per_slice(ceil_div(panels, tile.panel_slices)),
      row_blocks(row_blocks_of(spec, tile.rows)),
      rows(tile.rows) {
  is_narrow(spec) ? set_narrow(spec) : set_wide(spec);
  set_chunks();
}

/// A turn's weights stay in L2, and are many enough that moving the sums does not matter.
void AmxGeometry::set_chunks() {
  constexpr int64_t k_chunk_bytes = 144 << 10;
  const int64_t group_bytes = taps * parts * k_amx_panel_vectors * k_tile_words * 4;
  const int64_t most = std::max<int64_t>(1, k_chunk_bytes / group_bytes);
  chunks = takes_turns() ? ceil_div(groups32, most) : 1;
  chunk_groups = ceil_div(groups32, chunks);
  chunks = ceil_div(groups32, chunk_groups);
}

void AmxGeometry::set_wide(const ConvSpec& spec) {
  const int64_t extent_h = (spec.kernel_h - 1) * spec.dilation_h;
  const int64_t extent_w = (spec.kernel_w - 1) * spec.dilation_w;
  groups32 = ceil_div(spec.src.c, k_amx_channels);
  taps = spec.kernel_h * spec.kernel_w;
  position_words = loops::k_tile_words;
  phases_h = std::min(spec.stride_h, extent_h + 1);
  phases_w = std::min(spec.stride_w, extent_w + 1);
  pitch = spec.dst.w + extent_w / spec.stride_w;
  staged_rows = rows + extent_h / spec.stride_h;
  // One run over all rows computes outputs in the columns of the padding too; runs of one row waste the rest
  // of their last tile.
  const int64_t run = (rows - 1) * pitch + spec.dst.w;
  const bool one_run = ceil_div(run, loops::k_tile_rows) <= rows * ceil_div(spec.dst.w, loops::k_tile_rows);
  segments = one_run ? 1 : rows;
  tiles = ceil_div(one_run ? run : spec.dst.w, loops::k_tile_rows);
  // The last tile of a run reads whole tiles from every tap's offset, also behind the staged rows.
  const int64_t last_read = (segments - 1) * pitch + tiles * loops::k_tile_rows +
                            extent_h / spec.stride_h * pitch + extent_w / spec.stride_w;
  plane_words = std::max(staged_rows * pitch, last_read) * position_words;
  part_words = groups32 * phases_h * phases_w * plane_words;
}

void AmxGeometry::set_narrow(const ConvSpec& spec) {
  pixel_words = ceil_div(spec.src.c, 2);
  position_words = spec.stride_w * pixel_words;
  const int64_t chunks = ceil_div(spec.kernel_w * pixel_words, loops::k_tile_words);
  groups32 = 1;
  taps = spec.kernel_h * chunks;
  segments = rows;
  tiles = ceil_div(spec.dst.w, loops::k_tile_rows);
  staged_rows = (rows - 1) * spec.stride_h + (spec.kernel_h - 1) * spec.dilation_h + 1;
  const int64_t last_read = (tiles * loops::k_tile_rows - 1) * position_words + chunks * loops::k_tile_words;
  const int64_t written = (spec.pad_left + spec.src.w + loops::k_tile_words) * pixel_words;
  pitch = ceil_div(std::max(last_read, written), loops::k_tile_words) * loops::k_tile_words;
  part_words = plane_words = staged_rows * pitch;
}

int64_t AmxGeometry::panel_words(int64_t panel_vectors) const {
  return groups32 * taps * parts * panel_vectors * k_tile_words;
}

int64_t AmxGeometry::weight_words() const {
  return (panels - 1) * panel_words(k_amx_panel_vectors) + panel_words(last_vectors);
}

int64_t AmxGeometry::sum_elems() const {
  return k_amx_panel_vectors * sum_rows() * loops::k_tile_words;
}

bool conv_amx_supports(const ConvSpec& spec, const targets::Target& target) {
  if (spec.groups > 1) return conv_amx_groups_supports(spec, target);
  const int64_t lanes = target.vector_lanes;
  constexpr int64_t k_most_narrow_channels = 4;
  const bool narrow = is_narrow(spec) && spec.src.c <= k_most_narrow_channels && spec.dilation_w == 1;
  const bool reads =
      spec.src.block == lanes || (spec.src.block >= spec.src.c && spec.src.block > 1) || narrow;
  return target.tile_products_per_ns > 0 && reads && conv_output_writes(spec, target);
}

std::vector<AmxTile> conv_amx_tiles(const ConvSpec& spec, int products, const targets::Target& target) {
  if (spec.groups > 1) return conv_amx_groups_tiles(spec, products, target);
  std::vector<std::pair<double, AmxTile>> candidates;
  const int64_t panels = ceil_div(ceil_div(spec.dst.c, target.vector_lanes), k_amx_panel_vectors);
  const auto add = [&](AmxTile tile) {
    // Fewer slices than cores would leave cores idle; up to here a slice's fixed cost decides.
    constexpr int64_t k_least_slices = 4;
    const AmxGeometry g(spec, tile, target);
    const auto most =
        spec.dst.n * spec.dst.h * static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(panels)));
    if (spec.dst.n * g.row_blocks * tile.panel_slices < std::min(k_least_slices, most)) return;
    if ((g.stage_words() + g.sum_elems()) * 4 > target.l2_bytes * 3 / 5 && tile.rows > 1) return;
    tile.streams_weights = g.weight_words() * 4 > k_streamed_bytes;
    candidates.emplace_back(predicted_ns(spec, tile, target), tile);
  };
  for (int64_t blocks = 1; blocks <= spec.dst.h; ++blocks) {
    const int64_t rows = ceil_div(spec.dst.h, blocks);
    if (row_blocks_of(spec, rows) != blocks) continue;
    for (int64_t panel_slices = 1; panel_slices <= std::min<int64_t>(panels, 16); panel_slices *= 2)
      add({.products = products, .rows = rows, .panel_slices = panel_slices});
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<AmxTile> tiles;
  for (const auto& [ns, tile] : candidates) tiles.push_back(tile);
  return tiles;
}

Estimate estimate_conv_amx(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target) {
  if (spec.groups > 1) return estimate_conv_amx_groups(spec, tile, target);
  const AmxGeometry g(spec, tile, target);
  Estimate e;
  const double reduction = static_cast<double>(spec.src.c * spec.kernel_h * spec.kernel_w);
  e.flops = static_cast<double>(spec.dst.values()) * (2 * reduction + flops_per_element(spec.epilogue));
  e.executed_flops =
      2.0 * static_cast<double>(spec.dst.n * g.row_blocks * g.segments * g.tiles * loops::k_tile_rows *
                                g.vectors * target.vector_lanes * g.groups32 * k_amx_channels * g.taps);
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
  const double cycles = ns * target.clock_ghz;
  e.efficiency = e.executed_flops / target.flops_per_cycle / std::max(1.0, cycles);
  return e;
}

std::vector<float> pack_conv_amx(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target,
                                 std::span<const float> weights) {
  if (spec.groups > 1) return pack_conv_amx_groups(spec, tile, target, weights);
  const AmxGeometry g(spec, tile, target);
  const int64_t lanes = target.vector_lanes, kernel_taps = spec.kernel_h * spec.kernel_w;
  require(static_cast<int64_t>(weights.size()) == spec.dst.c * spec.src.c * kernel_taps,
          "weights have the shape of the convolution");
  std::vector<float> packed(g.weight_words(), 0.0F);
  for (int64_t k = 0; k < spec.dst.c; ++k) {
    const int64_t vector = k / lanes, panel = vector / k_amx_panel_vectors;
    const int64_t width = panel == g.panels - 1 ? g.last_vectors : k_amx_panel_vectors;
    const int64_t within = vector - panel * k_amx_panel_vectors;
    for (int64_t c = 0; c < spec.src.c; ++c)
      for (int64_t tap = 0; tap < kernel_taps; ++tap)
        for (int64_t part = 0; part < g.parts; ++part) {
          const Place place = place_of(spec, g, c, tap);
          const int64_t row = (place.step * g.parts + part) * width + within;
          float& word = packed[panel * g.panel_words(k_amx_panel_vectors) + row * k_tile_words +
                               place.pair * loops::k_tile_words + k % lanes];
          const uint32_t bits = part_of(weights[(k * spec.src.c + c) * kernel_taps + tap], part);
          word = std::bit_cast<float>(std::bit_cast<uint32_t>(word) | bits << (16 * place.half));
        }
  }
  return packed;
}

}  // namespace onepass::kernels
