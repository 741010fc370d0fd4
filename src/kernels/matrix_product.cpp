// SPDX-License-Identifier: Apache-2.0
//
// Register tiles of rows x column vectors, as conv_direct has them for a matrix of weights:
//
//   acc[p][v] = 0
//   for k:  acc[p][v] = fma(left[row + p][k], right[k][column vector v], acc[p][v])
//   dst[row + p][v] = epilogue(acc[p][v])
//
// A slice is a chunk of rows by one panel of column vectors, which stays in L2 for all chunks. The right
// operand is read where it lies: a panel of it is a strip of rows with gaps between them.
#include "kernels/matrix_product.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv_direct_geometry.h"
#include "kernels/rows.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::BufferId;
using loops::Value;

constexpr int64_t k_inner_unroll = 2;
constexpr int64_t k_slice_fmas = 256 << 10;  ///< less work is not worth the hand-over to a thread

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

FeatureMap matrices(int64_t count, int64_t rows, int64_t columns) {
  FeatureMap map = matrix_map(rows, columns);
  map.n = count;
  return map;
}

/// The product as a convolution of pixels, of which the tiles and their cost are known.
ConvSpec as_conv(const MatrixProductSpec& spec) {
  return {.src = spec.src, .dst = spec.dst, .epilogue = spec.epilogue};
}

ConvTile tile_of(const MatrixProductSpec& spec, const targets::Target& target) {
  return conv_direct_tiles(as_conv(spec), target).front();
}

class ProductEmitter {
 public:
  ProductEmitter(const std::string& name, const MatrixProductSpec& spec, const targets::Target& target)
      : spec_(spec),
        tile_(tile_of(spec, target)),
        geometry_(as_conv(spec), tile_, target),
        tiles_(spec.dst.w, tile_.pixels),
        lanes_(target.vector_lanes),
        b_(name),
        left_(input_map(b_, "left", spec.src)),
        right_(input_map(b_, "right", spec.right)),
        epilogue_(b_, spec.epilogue, spec.dst, lanes_),
        dst_(output_map(b_, "dst", spec.dst)) {
    const loops::Type vector{loops::Scalar::f32, lanes_};
    const auto panel = static_cast<int>(geometry_.panel_vectors);
    acc_ = b_.registers("acc", vector, tile_.pixels * panel);
    resident_ = b_.registers("resident", vector, std::max(tile_.pixels, panel));
    streamed_ = b_.registers("streamed", vector, 1);
  }

  loops::LoopNest emit() {
    const int64_t tile_fmas = tile_.pixels * spec_.src.c * geometry_.panel_vectors * lanes_;
    const int64_t chunk = std::min(tiles_.count, ceil_div(k_slice_fmas, tile_fmas));
    const int64_t chunks = ceil_div(tiles_.count, chunk);
    const Affine slice = b_.slices(spec_.dst.n * geometry_.panels * chunks);
    const Affine strip = b_.floor_div(slice, chunks);
    n_ = b_.floor_div(strip, geometry_.panels);
    panel_ = b_.mod(strip, geometry_.panels);
    const Affine first = b_.mod(slice, chunks) * chunk;
    const Affine end = tiles_.count % chunk == 0 ? first + chunk : b_.min(first + chunk, tiles_.count);
    b_.loop("tile", first, end, 1, [&](Affine tile) { emit_rows(tile); });
    return b_.finish();
  }

 private:
  /// The first tiles have a row more than the others.
  void emit_rows(const Affine& tile) {
    const int64_t edge = tiles_.wide * tiles_.pixels;
    const auto wide = [&] { emit_panel(tile * tiles_.pixels, tiles_.pixels); };
    const auto narrow = [&] {
      emit_panel((tile - tiles_.wide) * (tiles_.pixels - 1) + edge, tiles_.pixels - 1);
    };
    if (tiles_.wide == tiles_.count) return wide();
    b_.when(loops::Compare::lt, tile, tiles_.wide, wide, narrow);
  }

  /// The last panel has code of its own when it is narrower or ends in a partial vector.
  void emit_panel(const Affine& row, int64_t rows) {
    row_ = row;
    rows_ = rows;
    const bool special = geometry_.last_vectors != geometry_.panel_vectors || geometry_.tail() != 0;
    const auto last = [&] { emit_tile(geometry_.last_vectors, geometry_.tail()); };
    const auto full = [&] { emit_tile(geometry_.panel_vectors, 0); };
    if (geometry_.panels == 1) return last();
    if (!special) return full();
    b_.when(loops::Compare::eq, panel_, geometry_.panels - 1, last, full);
  }

  void emit_tile(int64_t vectors, int64_t tail) {
    vectors_ = vectors;
    tail_ = tail;
    each_sum([&](const Affine& p, const Affine& v, std::optional<int>) {
      b_.assign(acc_, slot(p, v), loops::constant(0, lanes_));
    });
    const int64_t whole = spec_.src.c / k_inner_unroll * k_inner_unroll;
    const auto steps = [&](const Affine& k, int64_t count) {
      b_.unrolled("i", count, [&](Affine i) { step(k + i); });
    };
    if (whole > 0) b_.loop("k", 0, whole, k_inner_unroll, [&](Affine k) { steps(k, k_inner_unroll); });
    if (whole < spec_.src.c) steps(whole, spec_.src.c - whole);
    each_sum([&](const Affine& p, const Affine& v, std::optional<int> active) { store(p, v, active); });
  }

  /// body(row, vector, lanes that exist).
  template <class Sum>
  void each_sum(const Sum& body) {
    b_.unrolled("p", rows_, [&](Affine p) {
      each_vector([&](const Affine& v, std::optional<int> active) { body(p, v, active); });
    });
  }

  template <class Vector>
  void each_vector(const Vector& body) {
    const int64_t full = tail_ == 0 ? vectors_ : vectors_ - 1;
    b_.unrolled("v", full, [&](Affine v) { body(v, std::optional<int>()); });
    if (full < vectors_) body(Affine(full), std::optional<int>(static_cast<int>(tail_)));
  }

  Affine slot(const Affine& p, const Affine& v) const { return p * vectors_ + v; }
  Affine channel(const Affine& v) const { return (panel_ * geometry_.panel_vectors + v) * lanes_; }

  /// The operand with fewer vectors stays in registers for a step, the other streams (conv_direct.cpp).
  void step(const Affine& k) {
    const auto left = [&](const Affine& p) {
      return b_.broadcast(left_, pixel_index(spec_.src, n_, 0, 0, row_ + p) + k, lanes_);
    };
    const Affine from = pixel_index(spec_.right, spec_.right.n == 1 ? Affine(0) : n_, 0, 0, k);
    const auto right = [&](const Affine& v, std::optional<int> active) {
      return b_.load(right_, from + channel(v), lanes_, active);
    };
    if (vectors_ <= rows_) {
      each_vector(
          [&](const Affine& v, std::optional<int> active) { b_.assign(resident_, v, right(v, active)); });
      b_.unrolled("p", rows_, [&](Affine p) {
        b_.assign(streamed_, 0, left(p));
        b_.unrolled("v", vectors_,
                    [&](Affine v) { accumulate(p, v, b_.read(streamed_), b_.read(resident_, v)); });
      });
    } else {
      b_.unrolled("p", rows_, [&](Affine p) { b_.assign(resident_, p, left(p)); });
      each_vector([&](const Affine& v, std::optional<int> active) {
        b_.assign(streamed_, 0, right(v, active));
        b_.unrolled("p", rows_,
                    [&](Affine p) { accumulate(p, v, b_.read(resident_, p), b_.read(streamed_)); });
      });
    }
  }

  void accumulate(const Affine& p, const Affine& v, Value left, Value right) {
    b_.assign(acc_, slot(p, v), loops::fma(std::move(left), std::move(right), b_.read(acc_, slot(p, v))));
  }

  void store(const Affine& p, const Affine& v, std::optional<int> active) {
    const Value result =
        epilogue_.apply(b_.read(acc_, slot(p, v)), {n_, 0, 0, row_ + p, lanes_, channel(v), active});
    b_.store(dst_, pixel_index(spec_.dst, n_, 0, 0, row_ + p) + channel(v), result, active);
  }

  const MatrixProductSpec& spec_;
  const ConvTile tile_;
  const DirectGeometry geometry_;
  const ColumnTiles tiles_;  ///< of the rows
  const int lanes_;
  loops::Builder b_;
  const BufferId left_, right_;
  const EpilogueEmitter epilogue_;
  const BufferId dst_;
  loops::RegisterId acc_, resident_, streamed_;
  Affine n_, panel_, row_;
  int64_t rows_ = 0, vectors_ = 0, tail_ = 0;
};

MatrixProductExtents extents_of(const MatrixProductSpec& spec) {
  return {.matrices = spec.dst.n,
          .rows = spec.dst.w,
          .inner = spec.src.c,
          .columns = spec.dst.c,
          .one_right = spec.right.n == 1};
}

}  // namespace

MatrixProductSpec matrix_product_spec(const MatrixProductExtents& e) {
  return {.src = matrices(e.matrices, e.rows, e.inner),
          .right = matrices(e.one_right ? 1 : e.matrices, e.inner, e.columns),
          .dst = matrices(e.matrices, e.rows, e.columns),
          .epilogue = {}};
}

loops::LoopNest matrix_product(const std::string& name, const MatrixProductSpec& spec,
                               const targets::Target& target) {
  const MatrixProductSpec expected = matrix_product_spec(extents_of(spec));
  require(expected.src == spec.src && expected.right == spec.right && expected.dst == spec.dst,
          "operands and result of a matrix product are matrices without gaps that fit");
  return ProductEmitter(name, spec, target).emit();
}

Estimate estimate_matrix_product(const MatrixProductSpec& spec, const targets::Target& target) {
  Estimate estimate = estimate_conv_direct(as_conv(spec), tile_of(spec, target), target);
  estimate.weight_bytes = 0;
  estimate.bytes_read += value_bytes(spec.right);
  return estimate;
}

}  // namespace onepass::kernels
