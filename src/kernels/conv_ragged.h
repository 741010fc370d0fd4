// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/conv.h"

// conv_direct for groups whose channels do not fill whole vectors. What it declares holds here too.
namespace onepass::kernels {

/// Whether groups start or end inside vectors, and no vector of outputs holds channels of more than a few.
bool is_ragged(const ConvSpec& spec, const targets::Target& target);

/// Output vectors that are computed together: either all of one group, or one vector whose lanes belong to
/// several.
struct RaggedUnit {
  int64_t vector = 0, vectors = 1;  ///< of its bundle
  int64_t group = 0;                ///< of lane 0, in its bundle
  std::vector<int64_t> starts;      ///< lanes where the next groups start
};

/// Channels [channel, + count) of every group of a unit lie next to each other, each in one source block.
/// Runs end at multiples of the vector, so that those of one block of channels are those of the next.
struct RaggedRun {
  int64_t channel = 0, count = 1;
};

/// Groups come in bundles whose channels fill whole vectors; the rest of the groups is like the beginning of
/// a bundle, but for a last vector that is not full.
struct RaggedGeometry {
  int64_t lanes, group_channels, group_outputs, taps;
  int64_t bundle_groups, bundles, rest_groups;
  std::vector<RaggedUnit> units;    ///< of a bundle
  std::vector<RaggedUnit> partial;  ///< the last vector of the rest, if it is not full
  int64_t rest_units;               ///< units of the rest before it

  RaggedGeometry(const ConvSpec& spec, int64_t most_vectors, const targets::Target& target);

  int64_t bundle_vectors() const { return bundle_groups * group_outputs / lanes; }
  int64_t bundle_blocks() const { return bundle_groups * group_channels / lanes; }
  int64_t count() const { return bundles * size(units) + rest_units + size(partial); }
  int64_t unit_elems(const RaggedUnit& unit) const { return group_channels * taps * unit.vectors * lanes; }
  int64_t elems_before(int64_t unit) const;  ///< of weights, in a bundle
  int64_t weight_elems() const;
  /// Of the channels [begin, end) of a group.
  std::vector<RaggedRun> runs(const RaggedUnit& unit, int64_t begin, int64_t end) const;

 private:
  static int64_t size(const std::vector<RaggedUnit>& units) { return static_cast<int64_t>(units.size()); }
};

/// Pixels of a unit's tile.
int64_t ragged_pixels(const RaggedUnit& unit, const targets::Target& target);

std::vector<ConvTile> conv_ragged_tiles(const ConvSpec& spec, const targets::Target& target);
loops::LoopNest conv_ragged(const std::string& name, const ConvSpec& spec, const ConvTile& tile,
                            const targets::Target& target);
Estimate estimate_conv_ragged(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target);
/// In the order of units, runs of channels, taps, channels, vectors.
std::vector<float> pack_conv_ragged(const ConvSpec& spec, const ConvTile& tile, const targets::Target& target,
                                    std::span<const float> weights);

}  // namespace onepass::kernels
