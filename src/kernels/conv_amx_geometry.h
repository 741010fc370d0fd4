// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "kernels/conv.h"
#include "loops/nest.h"

namespace onepass::kernels {

constexpr int64_t k_amx_panel_vectors = 2;  ///< output vectors of a register tile, beside 2 source tiles
constexpr int64_t k_amx_channels = 32;      ///< channels of a tile product: 16 pairs of bf16

/// One product of parts: part a of src times part b of the weights.
struct PartPair {
  int a, b;
};

/// The products that stand for one f32 product, in an order in which neighbours share a part. amx6 leaves out
/// products below 2^-24 of the largest, amx3 below 2^-16 (docs/numerics.md).
std::span<const PartPair> part_pairs(int products);

/// Parts of each value that `products` products of parts need.
int64_t parts_of(int products);

/// Part `part` of `value` as bf16: rounded to nearest after the parts before, as the kernel splits its
/// source.
uint32_t part_of(float value, int64_t part);

/// Plain maps of few channels are staged pixel by pixel (AmxNarrowSource).
bool is_narrow(const ConvSpec& spec);

/// The counts that conv_amx's generator, packing and estimate share. A slice computes `rows` rows of outputs
/// for some panels of output channels. It first stages the source rows that it reads: split into parts, with
/// their padding. Output position p of a run of positions reads, for every step of the reduction, the words
/// from p * position_words + (a constant of the step) on.
struct AmxGeometry {
  static constexpr int64_t k_tiles_at_once = 2;  ///< of positions

  int64_t parts;
  int64_t groups32, taps;            ///< steps of the reduction: groups of 32 channels times taps
  int64_t chunk_groups, chunks = 1;  ///< the reduction in turns: groups of 32 channels of a turn, turns
  int64_t vectors, panels, last_vectors, panels_per_slice, row_blocks, rows;
  int64_t pixel_words = 0;  ///< narrow: words of a pixel
  int64_t position_words;   ///< between neighbouring outputs
  int64_t phases_h = 1, phases_w = 1;
  int64_t pitch, staged_rows;  ///< of the stage: positions of a row (narrow: words), rows of a plane
  int64_t segments, tiles;     ///< runs of positions of a slice, tiles of 16 positions of a run
  int64_t plane_words, part_words;

  AmxGeometry(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target);
  int64_t panel_words(int64_t panel_vectors) const;
  int64_t weight_words() const;
  int64_t stage_words() const { return parts * part_words; }
  int64_t pairs_of_run() const { return (tiles + k_tiles_at_once - 1) / k_tiles_at_once; }
  int64_t pairs() const { return pairs_of_run() * segments; }
  /// With few pairs of tiles the time is that of the memory, which the first pair alone keeps busier.
  bool takes_turns() const { return pairs() > 2; }
  int64_t sum_rows() const { return segments * tiles * loops::k_tile_rows; }  ///< of one output vector
  int64_t sum_elems() const;

 private:
  void set_wide(const ConvSpec& spec);
  void set_narrow(const ConvSpec& spec);
  void set_chunks();
};

}  // namespace onepass::kernels
