// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>

#include "kernels/conv.h"
#include "kernels/transpose.h"

namespace onepass::kernels {

/// Whether ConvOutput can write spec.dst: blocked by the target's vector; without halo also rows of channels
/// (all of them, or blocks of at least a vector) or plain, where maps that the epilogue reads are blocked.
bool conv_output_writes(const ConvSpec& spec, const targets::Target& target);

/// What the way through scratch costs where dst is plain or rows of a part of the channels; else 0. Part of
/// pointwise_flops.
double plain_output_flops(const ConvSpec& spec, const targets::Target& target);

/// What happens to the finished sums of a convolution: bias, epilogue, store, zero halo.
///
/// A plain dst gets its rows in runs: the finished vectors of a run of pixels go to scratch that stays in L1,
/// and are then transposed in registers, a square of `lanes` pixels by `lanes` channels at a time. Rows of
/// channels in several blocks are written from such runs too, vectors between two blocks in two pieces.
class ConvOutput {
 public:
  /// Declares bias (if any), the epilogue's operands and dst, in this order. `spec` must outlive it. A row of
  /// outputs is written for at most `most_vectors` channel vectors at a time.
  ConvOutput(loops::Builder& builder, const ConvSpec& spec, int64_t bias_elems, int64_t most_vectors,
             int vector_lanes);

  /// Channels [vector * lanes, + lanes) of a pixel.
  struct At {
    loops::Affine n, vector, y, x;
  };
  /// Channel vectors [vector, + vectors) of one row of outputs.
  struct Row {
    loops::Affine n, vector, y;
    int64_t vectors = 1;
    /// Which of them holds fewer channels than lanes.
    enum class Tail { none, last, unknown };
    Tail tail = Tail::none;  ///< unknown: one vector, of any block
  };
  using Columns = std::function<void(const loops::Affine& begin, int64_t width)>;
  /// Calls body(begin, width) for runs of columns that together are the row; the body stores them all.
  void row(const Row& row, const Columns& body);

  /// Inside `row`. `partial`: the vector is the last one and holds fewer channels than lanes. In a blocked
  /// map the others are written as zero, in rows of channels they are not written.
  void store(loops::Value sum, const At& at, bool partial);
  /// Whether `partial` makes a difference.
  bool treats_partial() const;
  bool has_halo() const { return !destination(spec_).halo.empty(); }
  /// The part of dst's halo that belongs to a row; once per row and vector.
  void zero_halo(const loops::Affine& n, const loops::Affine& vector, const loops::Affine& y);

 private:
  /// Where a vector of outputs lies in the destination: in the whole result where outputs are phases of it.
  struct Place {
    loops::Affine block, y, x, phase_column;
  };
  Place place_of(const loops::Affine& vector, const loops::Affine& y, const loops::Affine& x) const;

  /// Lanes [lane, + count) of a vector of the run, to channels of one block from `inside` on.
  struct Piece {
    loops::Affine block, inside, slot;
    int64_t lane, count;
  };

  bool blocked() const { return spec_.dst.block == lanes_; }
  bool runs() const { return plain_ || cut_; }
  loops::Affine channel_block(const loops::Affine& vector) const { return blocked() || runs() ? vector : 0; }
  int64_t tail() const { return destination(spec_).c % lanes_; }
  loops::Value masked(const loops::Value& value) const;
  loops::Affine run_index(const loops::Affine& slot, const loops::Affine& pixel) const;
  void write_run(int64_t width);
  void write_rows(const loops::Affine& slot, int64_t width, std::span<const int64_t> cut);
  void write_piece(const Piece& piece, int64_t width);
  void write_vector(const loops::Affine& slot, int64_t width);
  void write_squares(const loops::Affine& slot, int64_t width, int64_t channels);
  void write_square(const loops::Affine& slot, const loops::Affine& x, int64_t pixels, int64_t channels);

  loops::Builder& b_;
  const ConvSpec& spec_;
  const int lanes_;
  const bool plain_, cut_;
  const int64_t run_pixels_;
  const FeatureMap finished_;  ///< as the finished vectors lie: the destination, blocked where it is plain
  loops::BufferId bias_;
  EpilogueEmitter epilogue_;
  loops::BufferId dst_, run_;
  SquareRegisters square_{};
  Row row_;
  loops::Affine begin_;  ///< first column of the run
};

}  // namespace onepass::kernels
