// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "kernels/conv_amx_geometry.h"
#include "kernels/conv_amx_parts.h"

namespace onepass::kernels {

// The source rows of a slice, split into parts in scratch, with their padding: word p of a position and its
// neighbours are what the rows of a source tile read. Both classes offer the same.

/// For every step of a chunk of the reduction: its word in the stage, from a position's first word, and its
/// place among the steps of a panel's weights.
using AmxStep = std::function<void(const loops::Affine& source, const loops::Affine& step)>;

/// Blocked maps and rows of channels. A position is 32 channels, pairs of c and c + 16; one plane for each 32
/// channels and each phase of the strides.
class AmxWideSource {
 public:
  AmxWideSource(loops::Builder& builder, const ConvSpec& spec, const AmxGeometry& geometry, int vector_lanes);

  /// Fills the stage for the output rows from y on.
  void stage(const loops::Affine& n, const loops::Affine& y);
  loops::BufferId buffer() const { return stage_; }
  int64_t row_words() const { return g_.pitch * g_.position_words; }  ///< between output rows
  void each_step(const loops::Affine& chunk, const AmxStep& step) const;

 private:
  struct Row {
    loops::Affine y;
    int64_t first_x;   ///< source column of the first position
    loops::Affine to;  ///< of the first position, in part 0
  };
  void stage_channels(const loops::Affine& group, int64_t channels);
  void stage_row(const loops::Affine& group, int64_t channels, const Row& row);
  void zero_positions(const loops::Affine& to, int64_t begin, int64_t end);
  void stage_pixel(const loops::Affine& group, int64_t channels, const Row& row, const loops::Affine& x);
  loops::Value source(const loops::Affine& group, int64_t offset, int64_t channels, const loops::Affine& y,
                      const loops::Affine& x) const;
  void each_tap(const loops::Affine& group, const AmxStep& step) const;
  void each_tap_of_phases(const loops::Affine& group, const AmxStep& step) const;

  loops::Builder& b_;
  const ConvSpec& spec_;
  const AmxGeometry& g_;
  const int lanes_;
  loops::BufferId src_, stage_;
  PartSplitter splitter_;
  loops::Affine n_, y_;
};

/// Plain maps of few channels. A row is its pixels one after another, each with an even number of channels,
/// so that 32 neighbours hold the taps of a kernel row.
class AmxNarrowSource {
 public:
  AmxNarrowSource(loops::Builder& builder, const ConvSpec& spec, const AmxGeometry& geometry,
                  int vector_lanes);

  void stage(const loops::Affine& n, const loops::Affine& y);
  loops::BufferId buffer() const { return stage_; }
  int64_t row_words() const { return g_.pitch * spec_.stride_h; }
  void each_step(const loops::Affine& chunk, const AmxStep& step) const;

 private:
  void stage_row(const loops::Affine& n, const loops::Affine& y, const loops::Affine& to);
  void stage_pixels(const loops::Affine& from, const loops::Affine& to, std::optional<int> active);

  loops::Builder& b_;
  const ConvSpec& spec_;
  const AmxGeometry& g_;
  const int lanes_;
  loops::BufferId src_, stage_;
  PartSplitter splitter_;
};

}  // namespace onepass::kernels
