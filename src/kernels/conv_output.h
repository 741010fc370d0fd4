// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/conv.h"

namespace onepass::kernels {

/// What happens to the finished sums of a convolution: bias, epilogue, store, zero halo.
class ConvOutput {
 public:
  /// Declares bias (if any), the epilogue's operands and dst, in this order. `spec` must outlive it.
  ConvOutput(loops::Builder& builder, const ConvSpec& spec, int64_t bias_elems, int vector_lanes);

  /// Channels [vector * lanes, + lanes) of a pixel.
  struct At {
    loops::Affine n, vector, y, x;
  };
  /// `partial`: the vector is the last one and holds fewer channels than lanes. In a blocked map the others
  /// are written as zero, in rows of channels they are not written.
  void store(loops::Value sum, const At& at, bool partial);
  /// The part of dst's halo that belongs to a row; once per row and vector.
  void zero_halo(const loops::Affine& n, const loops::Affine& vector, const loops::Affine& y);

 private:
  bool blocked() const { return spec_.dst.block == lanes_; }
  loops::Affine channel_block(const loops::Affine& vector) const { return blocked() ? vector : 0; }

  loops::Builder& b_;
  const ConvSpec& spec_;
  const int lanes_;
  loops::BufferId bias_;
  EpilogueEmitter epilogue_;
  loops::BufferId dst_;
};

}  // namespace onepass::kernels
