// SPDX-License-Identifier: Apache-2.0
//
// Single elements change places by squares of vectors in registers. A tile of squares has enough columns that
// every row of the source is read by several lines at a time, and its part of the destination stays in L1.
// Longer runs are copied as they are.
#include <algorithm>
#include <functional>
#include <optional>

#include "base/diagnostic.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"
#include "kernels/transpose.h"

namespace onepass::kernels {

namespace {

using loops::Affine;

constexpr int64_t k_tile_columns = 64;
constexpr int64_t k_slice_elems = 16 << 10;

int64_t ceil_div(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

class MatrixTranspose {
 public:
  MatrixTranspose(const std::string& name, const TransposeSpec& spec, const targets::Target& target)
      : lanes_(target.vector_lanes),
        matrices_(spec.src.n),
        rows_(spec.src.c),
        columns_(spec.src.h),
        tile_columns_(std::min(columns_, k_tile_columns)),
        tile_rows_(std::min(rows_, ceil_div(ceil_div(k_slice_elems, tile_columns_), lanes_) * lanes_)),
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        dst_(output_map(b_, "dst", spec.dst)),
        square_(square_registers(b_, lanes_)) {}

  loops::LoopNest emit() {
    const int64_t across = ceil_div(columns_, tile_columns_), down = ceil_div(rows_, tile_rows_);
    const int64_t tiles = matrices_ * across * down;
    const int64_t of_slice = std::min(tiles, ceil_div(k_slice_elems, tile_rows_ * tile_columns_));
    const Affine first = b_.slices(ceil_div(tiles, of_slice)) * of_slice;
    const Affine end = tiles % of_slice == 0 ? first + of_slice : b_.min(first + of_slice, tiles);
    b_.loop("tile", first, end, 1, [&](Affine tile) {
      const Affine matrix = across * down == 1 ? tile : b_.floor_div(tile, across * down);
      const Affine inside = across * down == 1 ? Affine(0) : b_.mod(tile, across * down);
      matrix_ = matrix * (rows_ * columns_);
      const Affine column = (down == 1 ? inside : b_.floor_div(inside, down)) * tile_columns_;
      const Affine row = (down == 1 ? Affine(0) : b_.mod(inside, down)) * tile_rows_;
      along(row, rows_, tile_rows_, [&](Affine r, int64_t rows) {
        along(column, columns_, tile_columns_,
              [&](Affine c, int64_t columns) { square(r, c, rows, columns); });
      });
    });
    return b_.finish();
  }

 private:
  using Vectors = std::function<void(Affine at, int64_t count)>;

  /// Whole vectors of [first, first + tile) within [0, extent), and behind them the rest of the extent.
  void along(const Affine& first, int64_t extent, int64_t tile, const Vectors& body) {
    const int64_t whole = extent / lanes_ * lanes_;
    const auto end = [&] {
      if (tile == extent) return Affine(whole);
      return extent % tile == 0 ? first + tile : b_.min(first + tile, whole);
    };
    if (whole > 0) b_.loop("at", first, end(), lanes_, [&](Affine at) { body(at, lanes_); });
    if (whole == extent) return;
    const auto rest = [&] { body(whole, extent - whole); };
    if (tile == extent) return rest();
    b_.when(loops::Compare::gt, first + tile, whole, rest);
  }

  std::optional<int> active(int64_t count) const {
    return count < lanes_ ? std::optional(static_cast<int>(count)) : std::nullopt;
  }

  void square(const Affine& row, const Affine& column, int64_t rows, int64_t columns) {
    for (int i = 0; i < lanes_; ++i)
      b_.assign(square_.rows, i,
                i < rows ? b_.load(src_, matrix_ + (row + i) * columns_ + column, lanes_, active(columns))
                         : loops::constant(0, lanes_));
    const loops::RegisterId turned = transpose(b_, square_);
    for (int i = 0; i < columns; ++i)
      b_.store(dst_, matrix_ + (column + i) * rows_ + row, b_.read(turned, i), active(rows));
  }

  const int lanes_;
  const int64_t matrices_, rows_, columns_, tile_columns_, tile_rows_;
  loops::Builder b_;
  const loops::BufferId src_, dst_;
  const SquareRegisters square_;
  Affine matrix_;
};

loops::LoopNest transpose_runs(const std::string& name, const TransposeSpec& spec,
                               const targets::Target& target) {
  const int lanes = target.vector_lanes;
  const int64_t run = spec.src.w, whole = run / lanes * lanes;
  loops::Builder b(name);
  const loops::BufferId src = input_map(b, "src", spec.src);
  const loops::BufferId dst = output_map(b, "dst", spec.dst);
  // Planes of dst are columns of src.
  for_each_row(b, row_grid(spec.dst), [&](const RowPosition& at) {
    const Affine from = pixel_index(spec.src, at.n, at.y, at.channel_block, 0);
    const Affine to = pixel_index(spec.dst, at.n, at.channel_block, at.y, 0);
    const auto copy = [&](const Affine& x, std::optional<int> active) {
      b.store(dst, to + x, b.load(src, from + x, lanes, active), active);
    };
    if (whole > 0) b.loop("x", 0, whole, lanes, [&](Affine x) { copy(x, std::nullopt); });
    if (whole < run) copy(whole, static_cast<int>(run - whole));
  });
  return b.finish();
}

}  // namespace

TransposeSpec transpose_spec(int64_t matrices, int64_t rows, int64_t columns, int64_t run) {
  return {plain_map(matrices, rows, columns, run), plain_map(matrices, columns, rows, run)};
}

loops::LoopNest transpose(const std::string& name, const TransposeSpec& spec, const targets::Target& target) {
  const FeatureMap &src = spec.src, &dst = spec.dst;
  require(transpose_spec(src.n, src.c, src.h, src.w).src == src &&
              transpose_spec(src.n, src.c, src.h, src.w).dst == dst,
          "rows and columns of plain matrices change places");
  return src.w == 1 ? MatrixTranspose(name, spec, target).emit() : transpose_runs(name, spec, target);
}

Estimate estimate_transpose(const TransposeSpec& spec) {
  // Shuffles of single elements take as long as so many operations, and so does a run's address.
  const double flops_per_element = spec.src.w == 1 ? 10 : 1 + 30 / static_cast<double>(spec.src.w);
  const double flops = flops_per_element * static_cast<double>(spec.src.values());
  return {.executed_flops = flops,
          .pointwise_flops = flops,
          .bytes_read = value_bytes(spec.src),
          .bytes_written = value_bytes(spec.dst)};
}

}  // namespace onepass::kernels
