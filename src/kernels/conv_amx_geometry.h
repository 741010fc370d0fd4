// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>

#include "kernels/conv.h"

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

/// The counts that conv_amx's generator, packing and estimate share. A slice computes `rows` rows of outputs
/// for some panels of output channels. It first stages the source rows that it reads: split into parts, with
/// their padding, one plane for every phase of the strides, `pitch` positions to a row, so that output
/// position p of every tap reads position p + (a constant of the tap).
struct AmxGeometry {
  int64_t parts, groups32, taps, vectors, panels, last_vectors, panels_per_slice, row_blocks, rows;
  int64_t reach_h, reach_w;  ///< largest tap offset within a phase
  int64_t phases_h, phases_w;
  int64_t pitch, staged_rows;
  int64_t segment_rows, segments, tiles;  ///< rows whose positions lie in one run; 16-position tiles of a run
  int64_t plane_positions, plane_words, part_words;

  AmxGeometry(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target);
  int64_t panel_words(int64_t panel_vectors) const;
  int64_t weight_words() const;
  int64_t stage_words() const { return parts * part_words; }
  int64_t sum_elems() const;
};

}  // namespace onepass::kernels
