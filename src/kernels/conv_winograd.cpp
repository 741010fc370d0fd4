// SPDX-License-Identifier: Apache-2.0
//
// F(m x m, 3 x 3) by blocks of tiles that stay in L2. For one block:
//
//   for each channel block, tile:         V[point][c block][tile] = B^T d B
//   for each panel of output channels:
//     for each point, tile of tiles:      M[point][tile] = sum over c of V * U, restarted every 64 channels
//     for each tile, output vector:       dst = epilogue(A^T M A + bias)
//
// V holds the tiles as conv_direct's source holds pixels, so that the products are register tiles of tiles x
// output channels. The last tiles may reach behind the map: they read halo and store what lies inside.
#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv_winograd_geometry.h"
#include "kernels/halo.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::BufferId;
using loops::Builder;
using loops::RegisterId;
using loops::Value;

constexpr int64_t k_channel_unroll = 2;

class WinogradEmitter {
 public:
  WinogradEmitter(const std::string& name, const ConvSpec& spec, const WinogradTile& tile,
                  const targets::Target& target)
      : spec_(spec),
        target_(target),
        g_(spec, tile, target),
        lanes_(target.vector_lanes),
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        weights_(b_.stream("weights", g_.weight_elems(), 64)),
        bias_(spec.bias ? b_.input("bias", g_.vectors * lanes_, 64) : BufferId{}),
        epilogue_(b_, spec_.epilogue, spec_.dst, lanes_),
        dst_(output_map(b_, "dst", spec.dst)),
        source_(b_.scratch("transformed", g_.points * g_.source_point_stride)),
        products_(b_.scratch("products", g_.points * g_.product_point_stride)) {
    const loops::Type vector{loops::Scalar::f32, lanes_};
    const int64_t pixels =
        std::max(most_pixels(g_.panel_vectors, target), most_pixels(g_.last_vectors, target));
    acc_ = b_.registers("acc", vector, static_cast<int>(pixels * g_.panel_vectors));
    resident_ = b_.registers("resident", vector, static_cast<int>(g_.panel_vectors));
    streamed_ = b_.registers("streamed", vector, 1);
    grid_ = b_.registers("grid", vector, static_cast<int>(g_.points));
  }

  loops::LoopNest emit() {
    const Affine slice = b_.slices(spec_.dst.n * g_.blocks);
    n_ = b_.floor_div(slice, g_.blocks);
    const Affine block = b_.mod(slice, g_.blocks);
    first_ = block * g_.block_tiles;
    const int64_t rest = g_.image_tiles - (g_.blocks - 1) * g_.block_tiles;
    const auto whole = [&] { emit_block(g_.block_tiles); };
    if (rest == g_.block_tiles) {
      whole();
    } else {
      b_.when(loops::Compare::eq, block, g_.blocks - 1, [&] { emit_block(rest); }, whole);
    }
    return b_.finish();
  }

 private:
  void emit_block(int64_t tiles) {
    tiles_ = tiles;
    b_.loop("c", 0, g_.channel_blocks, 1,
            [&](Affine c) { b_.loop("tile", 0, tiles, 1, [&](Affine tile) { transform_source(c, tile); }); });
    if (g_.panels > 1)
      b_.loop("panel", 0, g_.panels - (g_.last_vectors == g_.panel_vectors ? 0 : 1), 1,
              [&](Affine panel) { emit_panel(panel, g_.panel_vectors); });
    if (g_.panels == 1 || g_.last_vectors != g_.panel_vectors) emit_panel(g_.panels - 1, g_.last_vectors);
  }

  void emit_panel(const Affine& panel, int64_t vectors) {
    vectors_ = vectors;
    panel_ = panel;
    b_.loop("point", 0, g_.points, 1, [&](Affine point) { multiply(point); });
    b_.loop("tile", 0, tiles_, 1, [&](Affine tile) {
      place_tile(tile);
      b_.loop("v", 0, vectors, 1, [&](Affine v) { transform_product(tile, v); });
    });
  }

  /// Row and column of the tile in the grid of tiles.
  void place_tile(const Affine& tile) {
    row_ = b_.floor_div(first_ + tile, g_.tile_columns);
    column_ = b_.mod(first_ + tile, g_.tile_columns);
  }

  // ---- V = B^T d B ----------------------------------------------------------------------------------------

  void transform_source(const Affine& c, const Affine& tile) {
    place_tile(tile);
    const Affine origin =
        pixel_index(spec_.src, n_, c, row_ * g_.m - spec_.pad_top, column_ * g_.m - spec_.pad_left);
    for (int64_t x = 0; x < g_.alpha; ++x) {
      std::vector<Value> column;
      for (int64_t y = 0; y < g_.alpha; ++y)
        column.push_back(b_.load(src_, origin + (y * spec_.src.row_stride + x * spec_.src.block), lanes_));
      assign_grid(g_.transform().input(column), [&](int64_t i) { return i * g_.alpha + x; });
    }
    for (int64_t y = 0; y < g_.alpha; ++y) {
      const std::vector<Value> row = g_.transform().input(grid_row(y));
      for (int64_t x = 0; x < g_.alpha; ++x)
        b_.store(source_, source_index(y * g_.alpha + x, c, tile), row[x]);
    }
  }

  Affine source_index(const Affine& point, const Affine& c, const Affine& tile) const {
    return point * g_.source_point_stride + c * (tiles_ * lanes_) + tile * lanes_;
  }

  template <class Slot>
  void assign_grid(const std::vector<Value>& values, const Slot& slot) {
    for (size_t i = 0; i < values.size(); ++i) b_.assign(grid_, slot(static_cast<int64_t>(i)), values[i]);
  }

  std::vector<Value> grid_row(int64_t y) const {
    std::vector<Value> row;
    for (int64_t x = 0; x < g_.alpha; ++x) row.push_back(b_.read(grid_, y * g_.alpha + x));
    return row;
  }

  // ---- M = V U --------------------------------------------------------------------------------------------

  void multiply(const Affine& point) {
    const ColumnTiles cut(tiles_, most_pixels(vectors_, target_));
    const int64_t edge = cut.wide * cut.pixels;
    multiply_tiles(point, 0, edge, cut.pixels);
    if (edge < tiles_) multiply_tiles(point, edge, tiles_, cut.pixels - 1);
  }

  void multiply_tiles(const Affine& point, int64_t begin, int64_t end, int64_t pixels) {
    b_.loop("t", begin, end, pixels, [&](Affine t) {
      const int64_t chunk = k_winograd_chunk_channels / lanes_;
      const int64_t first = std::min(chunk, g_.channel_blocks);
      multiply_chunk(point, t, pixels, 0, first, false);
      const int64_t whole = (g_.channel_blocks - first) / chunk * chunk;
      if (whole > 0)
        b_.loop("chunk", first, first + whole, chunk,
                [&](Affine c) { multiply_chunk(point, t, pixels, c, chunk, true); });
      const int64_t rest = g_.channel_blocks - first - whole;
      if (rest > 0) multiply_chunk(point, t, pixels, first + whole, rest, true);
    });
  }

  /// Channel blocks [first, first + count); adds to what M holds when `adds`.
  void multiply_chunk(const Affine& point, const Affine& t, int64_t pixels, const Affine& first,
                      int64_t count, bool adds) {
    each(pixels, [&](const Affine& slot, const Affine&, const Affine&) {
      b_.assign(acc_, slot, loops::constant(0, lanes_));
    });
    const Affine weights = panel_ * g_.panel_elems() + point * (g_.padded_channels() * vectors_ * lanes_);
    b_.loop("c", 0, count, 1, [&](Affine c) {
      b_.loop("ic", 0, lanes_, k_channel_unroll, [&](Affine ic) {
        b_.unrolled("i", k_channel_unroll, [&](Affine i) {
          step(source_index(point, first + c, t) + ic + i,
               weights + ((first + c) * lanes_ + ic + i) * (vectors_ * lanes_), pixels);
        });
      });
    });
    each(pixels, [&](const Affine& slot, const Affine& p, const Affine& v) {
      const Affine index = product_index(point, t + p, v);
      const Value sum = b_.read(acc_, slot);
      b_.store(products_, index,
               adds ? loops::binary(loops::Binary::add, b_.load(products_, index, lanes_), sum) : sum);
    });
  }

  template <class Block>
  void each(int64_t pixels, const Block& block) {
    b_.unrolled("p", pixels, [&](Affine p) {
      b_.unrolled("v", vectors_, [&](Affine v) { block(p * vectors_ + v, p, v); });
    });
  }

  void step(const Affine& source, const Affine& weights, int64_t pixels) {
    b_.unrolled("v", vectors_,
                [&](Affine v) { b_.assign(resident_, v, b_.load(weights_, weights + v * lanes_, lanes_)); });
    b_.unrolled("p", pixels, [&](Affine p) {
      b_.assign(streamed_, 0, b_.broadcast(source_, source + p * lanes_, lanes_));
      b_.unrolled("v", vectors_, [&](Affine v) {
        const Affine slot = p * vectors_ + v;
        b_.assign(acc_, slot, loops::fma(b_.read(streamed_), b_.read(resident_, v), b_.read(acc_, slot)));
      });
    });
  }

  Affine product_index(const Affine& point, const Affine& tile, const Affine& v) const {
    return point * g_.product_point_stride + tile * (vectors_ * lanes_) + v * lanes_;
  }

  // ---- dst = epilogue(A^T M A + bias) ---------------------------------------------------------------------

  void transform_product(const Affine& tile, const Affine& v) {
    const Affine block = panel_ * g_.panel_vectors + v;
    for (int64_t x = 0; x < g_.alpha; ++x) {
      std::vector<Value> column;
      for (int64_t y = 0; y < g_.alpha; ++y)
        column.push_back(b_.load(products_, product_index(y * g_.alpha + x, tile, v), lanes_));
      assign_grid(g_.transform().output(column), [&](int64_t i) { return i * g_.alpha + x; });
    }
    if (!spec_.dst.halo.empty()) zero_halo(block);
    const bool ragged = spec_.dst.h % g_.m != 0 || spec_.dst.w % g_.m != 0;
    const auto inside = [&] { store_tile(block, false); };
    if (!ragged) return inside();
    const Affine whole_rows = spec_.dst.h / g_.m, whole_columns = spec_.dst.w / g_.m;
    const auto ragged_tile = [&] { store_tile(block, true); };
    b_.when(
        loops::Compare::lt, row_, whole_rows,
        [&] { b_.when(loops::Compare::lt, column_, whole_columns, inside, ragged_tile); }, ragged_tile);
  }

  /// The first tile of a row of tiles clears the halo of its rows.
  void zero_halo(const Affine& block) {
    b_.when(loops::Compare::eq, column_, 0, [&] {
      const Affine end = b_.min(row_ * g_.m + g_.m, spec_.dst.h);
      b_.loop("y", row_ * g_.m, end, 1,
              [&](Affine y) { zero_halo_of_row(b_, dst_, spec_.dst, {n_, block, y}, lanes_); });
    });
  }

  void store_tile(const Affine& block, bool ragged) {
    for (int64_t y = 0; y < g_.m; ++y) {
      const Affine row = row_ * g_.m + y;
      const auto store_row = [&] { store_row_of(block, y, ragged); };
      ragged ? b_.when(loops::Compare::lt, row, spec_.dst.h, store_row) : store_row();
    }
  }

  void store_row_of(const Affine& block, int64_t y, bool ragged) {
    const std::vector<Value> values = g_.transform().output(grid_row(y));
    for (int64_t x = 0; x < g_.m; ++x) {
      const Affine column = column_ * g_.m + x;
      const auto write = [&] { store(block, row_ * g_.m + y, column, values[x]); };
      ragged ? b_.when(loops::Compare::lt, column, spec_.dst.w, write) : write();
    }
  }

  void store(const Affine& block, const Affine& y, const Affine& x, Value sum) {
    if (spec_.bias) sum = loops::binary(loops::Binary::add, sum, b_.load(bias_, block * lanes_, lanes_));
    const Value result = epilogue_.apply(sum, {n_, block, y, x, lanes_, block * lanes_, {}});
    const Affine index = pixel_index(spec_.dst, n_, block, y, x);
    const int64_t tail = spec_.dst.c % lanes_;
    if (tail == 0 || keeps_zero(spec_.epilogue)) return b_.store(dst_, index, result);
    const auto masked = [&] {
      b_.store(dst_, index,
               loops::select(loops::Compare::lt, loops::lane_index(lanes_), loops::constant_i32(tail, lanes_),
                             result, loops::constant(0, lanes_)));
    };
    b_.when(loops::Compare::eq, block, spec_.dst.blocks() - 1, masked,
            [&] { b_.store(dst_, index, result); });
  }

  const ConvSpec spec_;
  const targets::Target& target_;
  const WinogradGeometry g_;
  const int lanes_;
  Builder b_;
  BufferId src_, weights_, bias_;
  EpilogueEmitter epilogue_;
  BufferId dst_, source_, products_;
  RegisterId acc_, resident_, streamed_, grid_;
  Affine n_, first_, panel_, row_, column_;
  int64_t tiles_ = 0, vectors_ = 0;
};

}  // namespace

loops::LoopNest conv_winograd(const std::string& name, const ConvSpec& spec, const WinogradTile& tile,
                              const targets::Target& target) {
  require(conv_winograd_supports(spec, target), "conv_winograd supports the convolution");
  return WinogradEmitter(name, spec, tile, target).emit();
}

}  // namespace onepass::kernels
