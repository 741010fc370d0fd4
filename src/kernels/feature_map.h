// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "loops/builder.h"

namespace onepass::kernels {

/// Rows and columns around a map that hold zeros, so that convolutions read padding without branches.
struct Halo {
  int64_t top = 0, left = 0, bottom = 0, right = 0;
  bool operator==(const Halo&) const = default;
  bool empty() const { return *this == Halo{}; }
};

/// Smallest halo that holds both.
Halo widest(const Halo& a, const Halo& b);

/// How a value n x c x h x w lies in memory. Element (n, c, y, x) is at
///   offset + n * batch_stride + (c / block) * plane_stride + (y + halo.top) * row_stride
///          + (x + halo.left) * block + c % block          (elements)
/// block = 1 is plain NCHW; block = the target's vector lanes is the channel-blocked layout NCHWc; block = c
/// is rows of channels (a row-major matrix [w, c] has h = 1). Lanes beyond c in the last block are zero.
struct FeatureMap {
  int64_t n = 1, c = 1, h = 1, w = 1;
  int64_t block = 1;
  loops::Scalar scalar = loops::Scalar::f32;  ///< in memory: f32, or bf16 where the error budget allows
  Halo halo;
  int64_t row_stride = 1, plane_stride = 1, batch_stride = 1;
  int64_t offset = 0;
  /// Memory holds plane_stride / row_stride rows of each plane at a time, at the address that the first of
  /// them has; planes overlap, so that the map is never whole.
  bool held = false;

  int64_t blocks() const { return (c + block - 1) / block; }
  /// One past the last element of the buffer.
  int64_t elems() const {
    const int64_t last_plane = held ? (h + halo.top + halo.bottom) * row_stride : plane_stride;
    return offset + (n - 1) * batch_stride + (blocks() - 1) * plane_stride + last_plane;
  }
  int64_t bytes() const { return elems() * loops::element_bytes(scalar); }
  int64_t values() const { return n * c * h * w; }
  int64_t value_bytes() const { return values() * loops::element_bytes(scalar); }
  bool operator==(const FeatureMap&) const = default;
};

/// Plain NCHW, optionally with a halo (halo rows and columns around each plane).
FeatureMap plain_map(int64_t n, int64_t c, int64_t h, int64_t w, const Halo& halo = {});
/// NCHWc with zero halo; the plane stride is kept off multiples of 4 KiB.
FeatureMap blocked_map(int64_t n, int64_t c, int64_t h, int64_t w, int64_t block, const Halo& halo = {});
/// The same map in bf16.
FeatureMap in_bf16(FeatureMap map);
/// A row-major matrix [rows, columns]: rows are pixels, columns are channels.
FeatureMap matrix_map(int64_t rows, int64_t columns);
/// The channels [first, first + count) of a blocked map, as a map of their own; first is a multiple of block.
FeatureMap channel_slice(const FeatureMap& map, int64_t first, int64_t count);

/// The same map, of which memory holds `rows` rows at a time, halo rows counted. One picture.
FeatureMap held_map(FeatureMap map, int64_t rows);

/// Declares the buffer of a map.
loops::BufferId input_map(loops::Builder& builder, std::string name, const FeatureMap& map);
loops::BufferId output_map(loops::Builder& builder, std::string name, const FeatureMap& map);

/// Index of lane 0 of pixel (y, x) in channel block `channel_block` (each affine).
loops::Affine pixel_index(const FeatureMap& map, const loops::Affine& n, const loops::Affine& channel_block,
                          const loops::Affine& y, const loops::Affine& x);

}  // namespace onepass::kernels
