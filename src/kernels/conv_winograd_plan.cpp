// SPDX-License-Identifier: Apache-2.0
//
// conv_winograd: what it supports, its tiles, its packed weights and its cost.
#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv_winograd_geometry.h"

namespace onepass::kernels {

namespace {

constexpr int64_t k_source_bytes = 512 << 10;  ///< of V in one block of tiles

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

/// Cycles per tile and channel vector of the transforms, counted with their loads and stores.
double input_cycles(int64_t m) {
  return m == 4 ? 130 : 50;
}
double output_cycles(int64_t m) {
  return m == 4 ? 110 : 45;
}

double block_cycles(const WinogradGeometry& g, int64_t tiles, const targets::Target& target) {
  constexpr double k_product_share = 0.9;  // of the FMA rate, for short sums between transforms
  const double lanes_cycles =
      static_cast<double>(g.points * tiles * g.padded_channels() * g.vectors) / 2 / k_product_share;
  const double overhead = static_cast<double>(g.points * g.panels) * 25;
  const double transforms =
      static_cast<double>(tiles) * (input_cycles(g.m) * static_cast<double>(g.channel_blocks) +
                                    output_cycles(g.m) * static_cast<double>(g.vectors));
  // Transformed weights stream once for every block of tiles.
  const double weight_bytes = static_cast<double>(g.weight_elems()) * 4;
  const double bytes_per_ns = weight_bytes < 0.6 * static_cast<double>(target.l2_bytes)
                                  ? target.l2_bytes_per_ns
                                  : target.l3_bytes_per_ns;
  return std::max(lanes_cycles + overhead, weight_bytes / bytes_per_ns * target.clock_ghz) + transforms;
}

int64_t scratch_elems(const WinogradGeometry& g) {
  return g.points * (g.source_point_stride + g.product_point_stride);
}

double predicted_cycles(const ConvSpec& spec, const WinogradTile& tile, const targets::Target& target) {
  const WinogradGeometry g(spec, tile, target);
  const int64_t whole = g.image_tiles / g.block_tiles, rest = g.image_tiles % g.block_tiles;
  const double image = static_cast<double>(whole) * block_cycles(g, g.block_tiles, target) +
                       (rest > 0 ? block_cycles(g, rest, target) : 0);
  // V and M of a block share L2 with the weights; the more they fill, the more of both is fetched twice.
  const double filled = static_cast<double>(scratch_elems(g)) * 4 / static_cast<double>(target.l2_bytes);
  return image * static_cast<double>(spec.dst.n) * (1 + 0.2 * std::max(0.0, filled - 0.1));
}

}  // namespace

WinogradGeometry::WinogradGeometry(const ConvSpec& spec, const WinogradTile& tile,
                                   const targets::Target& target)
    : lanes(target.vector_lanes),
      alpha(tile.m + 2),
      m(tile.m),
      points(alpha * alpha),
      tile_rows(ceil_div(spec.dst.h, tile.m)),
      tile_columns(ceil_div(spec.dst.w, tile.m)),
      image_tiles(tile_rows * tile_columns),
      block_tiles(ceil_div(image_tiles, ceil_div(image_tiles, tile.tiles))),
      blocks(ceil_div(image_tiles, block_tiles)),
      channel_blocks(ceil_div(spec.src.c, lanes)),
      vectors(ceil_div(spec.dst.c, lanes)),
      panel_vectors(std::min<int64_t>(tile.vectors, vectors)),
      panels(ceil_div(vectors, panel_vectors)),
      last_vectors(vectors - (panels - 1) * panel_vectors),
      source_point_stride(channel_blocks * block_tiles * lanes + lanes),
      product_point_stride(block_tiles * panel_vectors * lanes + lanes) {}

bool conv_winograd_supports(const ConvSpec& spec, const targets::Target& target) {
  const bool window = spec.kernel_h == 3 && spec.kernel_w == 3 && spec.stride_h == 1 && spec.stride_w == 1 &&
                      spec.dilation_h == 1 && spec.dilation_w == 1;
  return window && spec.groups == 1 && !spec.phases && spec.src.block == target.vector_lanes &&
         spec.dst.block == target.vector_lanes;
}

Halo winograd_halo(const ConvSpec& spec, const WinogradTile& tile) {
  const auto behind = [&](int64_t out, int64_t in, int64_t pad) {
    return std::max<int64_t>(0, ceil_div(out, tile.m) * tile.m + 2 - pad - in);
  };
  return {spec.pad_top, spec.pad_left, behind(spec.dst.h, spec.src.h, spec.pad_top),
          behind(spec.dst.w, spec.src.w, spec.pad_left)};
}

std::vector<WinogradTile> conv_winograd_tiles(const ConvSpec& spec, const targets::Target& target) {
  std::vector<std::pair<double, WinogradTile>> candidates;
  const int64_t most_vectors = target.vector_registers >= 32 ? 2 : 2;
  for (int64_t m : {int64_t{4}, int64_t{2}})
    for (int64_t factor = 1; factor <= 4; ++factor) {
      WinogradTile tile{.m = m, .vectors = static_cast<int>(most_vectors)};
      const int64_t pixels =
          most_pixels(std::min<int64_t>(most_vectors, ceil_div(spec.dst.c, target.vector_lanes)), target);
      const WinogradGeometry shape(spec, tile, target);
      const int64_t fits = k_source_bytes / (shape.points * shape.padded_channels() * 4);
      tile.tiles = std::max<int64_t>(1, std::min(shape.image_tiles, factor * pixels));
      if (factor > 1 && tile.tiles > fits) break;
      candidates.emplace_back(predicted_cycles(spec, tile, target), tile);
    }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<WinogradTile> tiles;
  for (const auto& [cycles, tile] : candidates) tiles.push_back(tile);
  return tiles;
}

Estimate estimate_conv_winograd(const ConvSpec& spec, const WinogradTile& tile,
                                const targets::Target& target) {
  const WinogradGeometry g(spec, tile, target);
  Estimate e;
  e.flops = static_cast<double>(spec.dst.values()) *
            (18.0 * static_cast<double>(spec.src.c) + flops_per_element(spec.epilogue));
  e.executed_flops = 2.0 * static_cast<double>(spec.dst.n * g.image_tiles * g.points * g.padded_channels() *
                                               g.vectors * g.lanes);
  e.bytes_read = spec.src.value_bytes();
  for (const EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == StepOperand::Kind::map) e.bytes_read += step.operand.map.value_bytes();
  e.bytes_written = spec.dst.bytes();
  e.weight_bytes = g.weight_elems() * 4;
  e.l2_bytes = e.weight_bytes * g.blocks * spec.dst.n;
  e.scratch_bytes = scratch_elems(g) * 4;
  e.registers =
      static_cast<int>(most_pixels(g.panel_vectors, target) * g.panel_vectors + g.panel_vectors + 1);
  e.efficiency = std::min(
      0.98, e.executed_flops / target.flops_per_cycle / std::max(1.0, predicted_cycles(spec, tile, target)));
  e.pointwise_flops = static_cast<double>(spec.dst.values()) * flops_per_element(spec.epilogue);
  e.executed_flops += e.pointwise_flops;
  return e;
}

std::vector<float> pack_conv_winograd(const ConvSpec& spec, const WinogradTile& tile,
                                      const targets::Target& target, std::span<const float> weights) {
  const WinogradGeometry g(spec, tile, target);
  require(static_cast<int64_t>(weights.size()) == spec.dst.c * spec.src.c * 9,
          "weights have the shape of the convolution");
  std::vector<float> packed(g.weight_elems(), 0.0F);
  for (int64_t k = 0; k < spec.dst.c; ++k) {
    const int64_t vector = k / g.lanes, panel = vector / g.panel_vectors;
    const int64_t width = (panel == g.panels - 1 ? g.last_vectors : g.panel_vectors) * g.lanes;
    float* base =
        packed.data() + panel * g.panel_elems() + (vector - panel * g.panel_vectors) * g.lanes + k % g.lanes;
    for (int64_t c = 0; c < spec.src.c; ++c) {
      const std::vector<double> filter =
          transform_filter(g.transform(), weights.data() + (k * spec.src.c + c) * 9);
      for (int64_t point = 0; point < g.points; ++point)
        base[(point * g.padded_channels() + c) * width] = static_cast<float>(filter[point]);
    }
  }
  return packed;
}

}  // namespace onepass::kernels
