// SPDX-License-Identifier: Apache-2.0
//
// Linear interpolation between two rows, then between two columns. One row of results first blends two source
// rows in scratch; its columns come from there. Where the columns repeat with a short period, source columns
// and weights are constants of the code; elsewhere they are computed and read beside it. A neighbour of
// weight zero is not read, so that its infinity is not a NaN.
#include <algorithm>
#include <numeric>

#include "base/diagnostic.h"
#include "kernels/halo.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::BufferId;
using loops::Builder;
using loops::Value;

constexpr int64_t k_longest_period = 32;

/// Where an entry lies: behind source entry `index` by `rest` / divisor.
struct Position {
  int64_t index, rest;
};

Position position_of(const LinearAxis& axis, int64_t src_extent, int64_t entry) {
  const int64_t most = (src_extent - 1) * axis.divisor;
  const int64_t at = std::clamp<int64_t>(axis.scale * entry + axis.shift, 0, most);
  return {at / axis.divisor, at % axis.divisor};
}

class LinearEmitter {
 public:
  LinearEmitter(const std::string& name, const LinearResizeSpec& spec, int lanes)
      : spec_(spec),
        lanes_(lanes),
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        row_weights_(b_.input("row_weights", 2 * spec.dst.h, 64)),
        column_weights_(b_.input("column_weights", 2 * spec.dst.w, 64)),
        dst_(output_map(b_, "dst", spec.dst)),
        blended_(b_.scratch("blended", spec.src.w * lanes)) {}

  loops::LoopNest emit() {
    for_each_row(b_, row_grid(spec_.dst), [&](const RowPosition& row) {
      row_ = row;
      blend_rows();
      emit_columns();
      zero_halo_of_row(b_, dst_, spec_.dst, {row.n, row.channel_block, row.y}, lanes_);
    });
    return b_.finish();
  }

 private:
  struct Source {
    Affine index, rest;
  };

  /// position_of at run time.
  Source source_of(const LinearAxis& axis, int64_t src_extent, const Affine& entry) {
    const Affine at = b_.max(b_.min(entry * axis.scale + axis.shift, (src_extent - 1) * axis.divisor), 0);
    const Affine index = b_.floor_div(at, axis.divisor);
    return {index, at - index * axis.divisor};
  }

  void blend_rows() {
    const Source source = source_of(spec_.rows, spec_.src.h, row_.y);
    const auto load = [&](const Affine& y, const Affine& x) {
      return b_.load(src_, pixel_index(spec_.src, row_.n, row_.channel_block, y, x), lanes_);
    };
    const auto each = [&](const std::function<Value(const Affine&)>& value) {
      b_.loop("x", 0, spec_.src.w, 1, [&](Affine x) { b_.store(blended_, x * lanes_, value(x)); });
    };
    b_.when(
        loops::Compare::eq, source.rest, 0,
        [&] { each([&](const Affine& x) { return load(source.index, x); }); },
        [&] {
          each([&](const Affine& x) {
            return blend(load(source.index, x), load(source.index + 1, x), weight(row_weights_, row_.y, 0),
                         weight(row_weights_, row_.y, 1));
          });
        });
  }

  Value weight(BufferId weights, const Affine& entry, int64_t side) const {
    return b_.broadcast(weights, entry * 2 + side, lanes_);
  }

  static Value blend(const Value& a, const Value& b, const Value& weight_a, const Value& weight_b) {
    return loops::fma(b, weight_b, loops::binary(loops::Binary::mul, a, weight_a));
  }

  Value column(const Affine& index) const { return b_.load(blended_, index * lanes_, lanes_); }

  void store(const Affine& x, const Value& value) {
    b_.store(dst_, pixel_index(spec_.dst, row_.n, row_.channel_block, row_.y, x), value);
  }

  void emit_columns() {
    const LinearAxis& axis = spec_.columns;
    const int64_t period = axis.divisor / std::gcd(axis.scale, axis.divisor);
    const int64_t most = (spec_.src.w - 1) * axis.divisor;
    int64_t begin = 0, end = spec_.dst.w;  // columns inside the map
    while (begin < end && axis.shift + axis.scale * begin < 0) ++begin;
    while (begin < end && axis.shift + axis.scale * (end - 1) > most) --end;
    const int64_t periods = (end - begin) / period;
    if (period > k_longest_period || periods == 0) return emit_any_columns();
    for (int64_t x = 0; x < begin; ++x) emit_column(x, x, 0);
    b_.loop("period", 0, periods, 1, [&](Affine j) {
      for (int64_t i = 0; i < period; ++i)
        emit_column(begin + i, j * period + (begin + i), j * (axis.scale * period / axis.divisor));
    });
    for (int64_t x = begin + periods * period; x < spec_.dst.w; ++x) emit_column(x, x, 0);
  }

  /// Column `at`, whose source lies by `ahead` behind that of column `x`.
  void emit_column(int64_t x, const Affine& at, const Affine& ahead) {
    const Position p = position_of(spec_.columns, spec_.src.w, x);
    if (p.rest == 0) return store(at, column(ahead + p.index));
    const double after = static_cast<double>(p.rest) / static_cast<double>(spec_.columns.divisor);
    store(at, blend(column(ahead + p.index), column(ahead + (p.index + 1)),
                    loops::constant(1 - after, lanes_), loops::constant(after, lanes_)));
  }

  void emit_any_columns() {
    b_.loop("x", 0, spec_.dst.w, 1, [&](Affine x) {
      const Source source = source_of(spec_.columns, spec_.src.w, x);
      b_.when(
          loops::Compare::eq, source.rest, 0, [&] { store(x, column(source.index)); },
          [&] {
            store(x, blend(column(source.index), column(source.index + 1), weight(column_weights_, x, 0),
                           weight(column_weights_, x, 1)));
          });
    });
  }

  const LinearResizeSpec spec_;
  const int lanes_;
  Builder b_;
  BufferId src_, row_weights_, column_weights_, dst_, blended_;
  RowPosition row_;
};

}  // namespace

loops::LoopNest resize_linear(const std::string& name, const LinearResizeSpec& spec,
                              const targets::Target& target) {
  const int lanes = target.vector_lanes;
  require(spec.src.block == lanes && spec.dst.block == lanes,
          "resize_linear maps are blocked by the target's vector");
  require(spec.dst.n == spec.src.n && spec.dst.c == spec.src.c, "resize_linear keeps pictures and channels");
  return LinearEmitter(name, spec, lanes).emit();
}

std::vector<float> linear_weights(const LinearAxis& axis, int64_t src_extent, int64_t dst_extent) {
  std::vector<float> weights;
  for (int64_t entry = 0; entry < dst_extent; ++entry) {
    const double after =
        static_cast<double>(position_of(axis, src_extent, entry).rest) / static_cast<double>(axis.divisor);
    weights.push_back(static_cast<float>(1 - after));
    weights.push_back(static_cast<float>(after));
  }
  return weights;
}

double linear_position(const LinearAxis& axis, int64_t src_extent, int64_t entry) {
  const Position p = position_of(axis, src_extent, entry);
  return static_cast<double>(p.index) + static_cast<double>(p.rest) / static_cast<double>(axis.divisor);
}

Estimate estimate_resize_linear(const LinearResizeSpec& spec) {
  constexpr double k_flops_per_element = 12;  // as upsample, and two products and sums more
  const double flops =
      k_flops_per_element * static_cast<double>(value_and_halo_bytes(spec.dst)) / sizeof(float);
  return {.flops = 6.0 * static_cast<double>(spec.dst.values()),
          .executed_flops = flops,
          .pointwise_flops = flops,
          .bytes_read = value_bytes(spec.src),
          .bytes_written = value_and_halo_bytes(spec.dst),
          .scratch_bytes = spec.src.w * spec.src.block * static_cast<int64_t>(sizeof(float))};
}

}  // namespace onepass::kernels
