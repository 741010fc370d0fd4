// SPDX-License-Identifier: Apache-2.0
//
// Pools over blocked maps, a row at a time: columns whose window lies inside the map in tiles of pixels, the
// others one by one with their window clipped. Sums run over rows, then columns, in one chain, as in the
// reference: the result has the same bits. In a maximum NaN wins, and of equal values the first.
#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/halo.h"
#include "kernels/pointwise.h"
#include "kernels/pool_global.h"
#include "kernels/pool_step.h"
#include "kernels/rows.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::Value;

constexpr int64_t k_tile_pixels = 4;
constexpr int64_t k_most_unrolled_taps = 8;
constexpr int64_t k_taps_per_access = 4;  ///< taps that cost as much as moving one element

int64_t ceil_div(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}

/// A window along one axis.
struct Axis {
  int64_t kernel, stride, dilation, pad_begin, pad_end, src, dst;

  int64_t last_tap(int64_t i) const { return i * stride - pad_begin + (kernel - 1) * dilation; }
  /// Outputs [inside_begin, inside_end) have all taps in the map.
  int64_t inside_begin() const { return std::min(dst, ceil_div(pad_begin, stride)); }
  int64_t inside_end() const {
    const int64_t room = src - 1 - last_tap(0);
    return std::clamp(room < 0 ? 0 : room / stride + 1, inside_begin(), dst);
  }
  bool never_clipped() const { return inside_begin() == 0 && inside_end() == dst; }
};

/// Numbers of the first tap and behind the last one.
struct Taps {
  Affine begin, end;
};

/// The taps of output `i` at positions [low, high).
Taps taps_within(loops::Builder& b, const Axis& axis, const Affine& i, int64_t low, int64_t high) {
  const Affine start = i * axis.stride - axis.pad_begin;
  const Affine below = b.floor_div(Affine(low + axis.dilation - 1) - start, axis.dilation);
  const Affine above = b.floor_div(Affine(high + axis.dilation - 1) - start, axis.dilation);
  return {b.max(below, 0), b.min(above, axis.kernel)};
}

/// Builds the nest of one pool whose windows are not the whole map.
class Pool {
 public:
  Pool(const std::string& name, const PoolSpec& spec, const targets::Target& target)
      : spec_(spec),
        lanes_(target.vector_lanes),
        axis_h_{spec.kernel_h,   spec.stride_h, spec.dilation_h, spec.pad_top,
                spec.pad_bottom, spec.src.h,    spec.dst.h},
        axis_w_{spec.kernel_w,  spec.stride_w, spec.dilation_w, spec.pad_left,
                spec.pad_right, spec.src.w,    spec.dst.w},
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        epilogue_(b_, spec_.epilogue, spec_.dst, target.vector_lanes),
        dst_(output_map(b_, "dst", spec.dst)),
        acc_(registers("acc", k_tile_pixels)),
        row_taps_(registers("row_taps", 1)),
        column_taps_(registers("column_taps", 1)) {}

  loops::LoopNest build() {
    for_each_row(b_, pool_grid(spec_), [&](const RowPosition& row) {
      split_last_block(b_, spec_.dst, row.channel_block, masks(), [&](bool last) { write_row(row, last); });
      zero_halo_of_row(b_, dst_, spec_.dst, {row.n, row.channel_block, row.y}, lanes_);
    });
    return b_.finish();
  }

 private:
  loops::RegisterId registers(const char* name, int64_t count) {
    return b_.registers(name, {loops::Scalar::f32, lanes_}, static_cast<int>(count));
  }

  bool average() const { return spec_.kind == PoolSpec::Kind::average; }
  /// A dilated window can lie in the padding altogether: its maximum is -inf.
  bool masks() const {
    const bool empty_windows = !average() && spec_.dilation_h + spec_.dilation_w > 2;
    return spec_.dst.c % spec_.dst.block != 0 && (empty_windows || !keeps_zero(spec_.epilogue));
  }

  Taps source_taps(const Axis& axis, const Affine& i) {
    return axis.never_clipped() ? Taps{0, axis.kernel} : taps_within(b_, axis, i, 0, axis.src);
  }

  /// register = number of taps that the average divides by along one axis.
  void count_taps(loops::RegisterId counter, const Axis& axis, const Affine& i) {
    const bool with_pads = spec_.count_include_pad;
    const Taps taps = with_pads ? taps_within(b_, axis, i, -axis.pad_begin, axis.src + axis.pad_end)
                                : taps_within(b_, axis, i, 0, axis.src);
    b_.assign(counter, 0, loops::constant(0, lanes_));
    b_.loop("k", taps.begin, taps.end, 1, [&](Affine) {
      b_.assign(counter, 0, loops::binary(loops::Binary::add, b_.read(counter), loops::constant(1, lanes_)));
    });
  }

  void write_row(const RowPosition& row, bool masked) {
    const Taps rows = source_taps(axis_h_, row.y);
    if (average() && !axis_h_.never_clipped()) count_taps(row_taps_, axis_h_, row.y);
    write_edge(row, rows, 0, axis_w_.inside_begin(), masked);
    write_inside(row, rows, masked);
    write_edge(row, rows, axis_w_.inside_end(), axis_w_.dst, masked);
  }

  /// Columns whose window sticks out, or may.
  void write_edge(const RowPosition& row, const Taps& rows, int64_t begin, int64_t end, bool masked) {
    if (begin >= end) return;
    b_.loop("x", begin, end, 1, [&](Affine x) {
      const Taps columns = taps_within(b_, axis_w_, x, 0, axis_w_.src);
      if (average()) count_taps(column_taps_, axis_w_, x);
      b_.assign(acc_, 0, pool_start(spec_.kind, lanes_));
      b_.loop("kh", rows.begin, rows.end, 1, [&](Affine kh) {
        b_.loop("kw", columns.begin, columns.end, 1, [&](Affine kw) { take(row, x, 0, kh, kw); });
      });
      const Value columns_count = average() ? b_.read(column_taps_) : nullptr;
      finish(row, x, 0, columns_count, masked);
    });
  }

  void write_inside(const RowPosition& row, const Taps& rows, bool masked) {
    const int64_t begin = axis_w_.inside_begin();
    const int64_t count = axis_w_.inside_end() - begin;
    const int64_t whole = count / k_tile_pixels * k_tile_pixels;
    if (whole > 0)
      b_.loop("x", begin, begin + whole, k_tile_pixels,
              [&](Affine x) { write_tile(row, rows, x, k_tile_pixels, masked); });
    if (whole < count) write_tile(row, rows, begin + whole, count - whole, masked);
  }

  void write_tile(const RowPosition& row, const Taps& rows, const Affine& x, int64_t pixels, bool masked) {
    b_.unrolled("p", pixels, [&](Affine p) { b_.assign(acc_, p, pool_start(spec_.kind, lanes_)); });
    const auto take_tap = [&](const Affine& kh, const Affine& kw) {
      b_.unrolled("p", pixels, [&](Affine p) { take(row, x, p, kh, kw); });
    };
    b_.loop("kh", rows.begin, rows.end, 1, [&](Affine kh) {
      if (spec_.kernel_w <= k_most_unrolled_taps)
        b_.unrolled("kw", spec_.kernel_w, [&](Affine kw) { take_tap(kh, kw); });
      else
        b_.loop("kw", 0, spec_.kernel_w, 1, [&](Affine kw) { take_tap(kh, kw); });
    });
    const Value columns_count = loops::constant(static_cast<double>(spec_.kernel_w), lanes_);
    b_.unrolled("p", pixels, [&](Affine p) { finish(row, x, p, columns_count, masked); });
  }

  void take(const RowPosition& row, const Affine& x, const Affine& p, const Affine& kh, const Affine& kw) {
    const Affine y = row.y * spec_.stride_h + kh * spec_.dilation_h - spec_.pad_top;
    const Affine column = (x + p) * spec_.stride_w + kw * spec_.dilation_w - spec_.pad_left;
    const Value tap = b_.load(src_, pixel_index(spec_.src, row.n, row.channel_block, y, column), lanes_);
    b_.assign(acc_, p, pool_step(spec_.kind, b_.read(acc_, p), tap));
  }

  /// Windows without any tap are 0: the sum is divided by one at least.
  Value mean(const Value& sum, const Value& columns_count) const {
    if (axis_h_.never_clipped() && axis_w_.never_clipped())
      return loops::binary(loops::Binary::div, sum,
                           loops::constant(static_cast<double>(spec_.kernel_h * spec_.kernel_w), lanes_));
    const Value rows_count = axis_h_.never_clipped()
                                 ? loops::constant(static_cast<double>(spec_.kernel_h), lanes_)
                                 : b_.read(row_taps_);
    const Value count = loops::binary(loops::Binary::mul, rows_count, columns_count);
    return loops::binary(loops::Binary::div, sum,
                         loops::binary(loops::Binary::max, count, loops::constant(1, lanes_)));
  }

  void finish(const RowPosition& row, const Affine& x, const Affine& p, const Value& columns_count,
              bool masked) {
    Value result = b_.read(acc_, p);
    if (average()) result = mean(result, columns_count);
    result = epilogue_.apply(result, {.n = row.n,
                                      .channel_block = row.channel_block,
                                      .y = row.y,
                                      .x = x + p,
                                      .lanes = lanes_,
                                      .channel = row.channel_block * lanes_});
    if (masked) result = keep_lanes(result, channels_in_last_block(spec_.dst));
    b_.store(dst_, pixel_index(spec_.dst, row.n, row.channel_block, row.y, x + p), result);
  }

  const PoolSpec spec_;
  const int lanes_;
  const Axis axis_h_, axis_w_;
  loops::Builder b_;
  const loops::BufferId src_;
  const EpilogueEmitter epilogue_;
  const loops::BufferId dst_;
  const loops::RegisterId acc_, row_taps_, column_taps_;
};

/// Taps that the windows take, without those in the padding.
double taps_taken(const Axis& axis) {
  double taps = 0;
  for (int64_t i = 0; i < axis.dst; ++i)
    for (int64_t k = 0; k < axis.kernel; ++k) {
      const int64_t at = i * axis.stride - axis.pad_begin + k * axis.dilation;
      taps += at >= 0 && at < axis.src ? 1 : 0;
    }
  return taps;
}

}  // namespace

RowGrid pool_grid(const PoolSpec& spec) {
  RowGrid grid = row_grid(spec.dst);
  const int64_t taps = spec.kernel_h * spec.kernel_w * spec.dst.w * spec.dst.block;
  grid.row_work_elems = std::max(spec.src.w * spec.src.block * spec.stride_h, taps / k_taps_per_access);
  return grid;
}

loops::LoopNest pool(const std::string& name, const PoolSpec& spec, const targets::Target& target) {
  require(spec.src.block == target.vector_lanes && spec.dst.block == target.vector_lanes,
          "pool maps are blocked by the target's vector");
  require(spec.src.n == spec.dst.n && spec.src.c == spec.dst.c, "a pool keeps batch and channels");
  return is_global_pool(spec) ? global_pool(name, spec, target) : Pool(name, spec, target).build();
}

Estimate estimate_pool(const PoolSpec& spec) {
  const Axis h{spec.kernel_h,   spec.stride_h, spec.dilation_h, spec.pad_top,
               spec.pad_bottom, spec.src.h,    spec.dst.h};
  const Axis w{spec.kernel_w,  spec.stride_w, spec.dilation_w, spec.pad_left,
               spec.pad_right, spec.src.w,    spec.dst.w};
  const double planes = static_cast<double>(spec.dst.n * spec.dst.c);
  const double executed_planes = static_cast<double>(spec.dst.n * spec.dst.blocks() * spec.dst.block);
  const double pixels = static_cast<double>(spec.dst.h * spec.dst.w);
  const double plane_flops = taps_taken(h) * taps_taken(w) + pixels * flops_per_element(spec.epilogue);
  return {.flops = planes * plane_flops,
          .executed_flops = executed_planes * plane_flops,
          .pointwise_flops = executed_planes * plane_flops,
          .bytes_read = value_bytes(spec.src) + operand_bytes(spec.epilogue, spec.dst),
          .bytes_written = value_and_halo_bytes(spec.dst)};
}

}  // namespace onepass::kernels
