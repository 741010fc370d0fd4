// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "kernels/conv.h"
#include "loops/nest.h"

// conv_amx for convolutions of several groups (conv_amx_groups.cpp).
namespace onepass::kernels {

/// The counts that the generator, packing and estimate share. A set is one output vector and its groups, or
/// one group and its output vectors. The stage holds a plane for each group of a set, phase of the vertical
/// stride and part: rows of positions, one after another, each the channels of the group in pairs of c and
/// c + half a chunk, so that one row of a source tile reads neighbouring positions. Output p of a run reads
/// from position p * stride_w on.
struct AmxGroupGeometry {
  int64_t parts;
  int64_t width;           ///< channels of a group
  int64_t sets;            ///< along the channels
  int64_t set_groups;      ///< groups of a set: planes
  int64_t set_vectors;     ///< output vectors of a set
  int64_t position_words;  ///< of the stage
  int64_t row_outputs;     ///< outputs side by side in a row of sums, where a group fills no vector
  int64_t row_steps;       ///< steps of the reduction for one kernel row
  int64_t steps;           ///< all of them
  int64_t rows, row_blocks;
  int64_t phases_h, staged_rows, pitch;  ///< of a plane: rows, positions of a row
  int64_t segments, tiles;               ///< runs of outputs, tiles of a run
  int64_t plane_words, part_words;
  int64_t unit_positions, unit_words;  ///< positions that are staged together, their words
  int64_t slack_words;                 ///< zeros behind the rows of a plane

  AmxGroupGeometry(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target);
  int64_t output_pitch(const ConvSpec& spec) const { return pitch / spec.stride_w; }
  int64_t tile_outputs() const { return loops::k_tile_rows * row_outputs; }
  int64_t step_words() const { return parts * loops::k_tile_rows * loops::k_tile_words; }
  /// Of one group for one output vector.
  int64_t group_words() const { return steps * step_words(); }
  int64_t set_words() const { return set_groups * set_vectors * group_words(); }
  int64_t weight_words() const { return sets * set_words(); }
  int64_t stage_words() const { return parts * part_words; }
  int64_t sum_rows() const { return segments * tiles * loops::k_tile_rows; }  ///< of one group
  int64_t sum_elems() const { return set_groups * sum_rows() * loops::k_tile_words; }

 private:
  void set_runs(const ConvSpec& spec);
};

/// Groups of as many output as input channels: 4, 8 or 16, or a multiple of 32, in blocked maps.
bool conv_amx_groups_supports(const ConvSpec& spec, const targets::Target& target);
loops::LoopNest conv_amx_groups(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
                                const targets::Target& target);
/// Heights of a block of rows worth considering, best first.
std::vector<AmxTile> conv_amx_groups_tiles(const ConvSpec& spec, int products, const targets::Target& target);
Estimate estimate_conv_amx_groups(const ConvSpec& spec, const AmxTile& tile, const targets::Target& target);
/// [set][output vector or group of the set][kh][step][part][pair][output lane]
std::vector<float> pack_conv_amx_groups(const ConvSpec& spec, const AmxTile& tile,
                                        const targets::Target& target, std::span<const float> weights);

}  // namespace onepass::kernels
