// SPDX-License-Identifier: Apache-2.0
//
// Between plain and blocked maps a square of vectors at a time is transposed in registers: as many pixels of
// a row as a block has channels. Maps of one block are copied row by row.
#include <algorithm>
#include <optional>

#include "base/diagnostic.h"
#include "kernels/halo.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"
#include "kernels/transpose.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::Value;

/// Both planes without halo: longer rows.
LayoutSpec merged(const LayoutSpec& spec, const targets::Target& target) {
  if (!plane_is_contiguous(spec.src) || !plane_is_contiguous(spec.dst)) return spec;
  const int64_t block = std::max(spec.src.block, spec.dst.block);
  const int64_t width = contiguous_row_pixels(spec.src.h * spec.src.w, block, target.vector_lanes);
  return {with_row_pixels(spec.src, width), with_row_pixels(spec.dst, width)};
}

/// Between plain and blocked. A square is `lanes` channels of one block by `lanes` pixels of a row.
class Relayout {
 public:
  Relayout(const std::string& name, const LayoutSpec& spec, const targets::Target& target)
      : spec_(merged(spec, target)),
        lanes_(target.vector_lanes),
        b_(name),
        src_(input_map(b_, "src", spec_.src)),
        dst_(output_map(b_, "dst", spec_.dst)),
        square_(square_registers(b_, lanes_)) {}

  loops::LoopNest plain_to_blocked() {
    for_each_row(b_, row_grid(spec_.dst), [&](const RowPosition& row) {
      split_last_block(b_, spec_.dst, row.channel_block, spec_.dst.c % lanes_ != 0, [&](bool last) {
        const int channels = last ? static_cast<int>(channels_in_last_block(spec_.dst)) : lanes_;
        in_squares([&](Affine x, int pixels) { gather_square(row, x, pixels, channels); });
      });
      zero_halo_of_row(b_, dst_, spec_.dst, {row.n, row.channel_block, row.y}, lanes_);
    });
    return b_.finish();
  }

  loops::LoopNest blocked_to_plain() {
    for_each_row(b_, row_grid(spec_.src), [&](const RowPosition& row) {
      split_last_block(b_, spec_.src, row.channel_block, spec_.src.c % lanes_ != 0, [&](bool last) {
        const int64_t channels = last ? channels_in_last_block(spec_.src) : lanes_;
        in_squares([&](Affine x, int pixels) { scatter_square(row, x, pixels, static_cast<int>(channels)); });
        b_.loop(
            "channel", row.channel_block * lanes_, row.channel_block * lanes_ + channels, 1,
            [&](Affine channel) { zero_halo_of_row(b_, dst_, spec_.dst, {row.n, channel, row.y}, lanes_); });
      });
    });
    return b_.finish();
  }

 private:
  void in_squares(const std::function<void(Affine x, int pixels)>& body) {
    const int64_t whole = spec_.dst.w / lanes_ * lanes_;
    if (whole > 0) b_.loop("x", 0, whole, lanes_, [&](Affine x) { body(x, lanes_); });
    if (whole < spec_.dst.w) body(whole, static_cast<int>(spec_.dst.w - whole));
  }

  std::optional<int> active(int count) const { return count < lanes_ ? std::optional(count) : std::nullopt; }

  /// Reads `count` rows of the square; the others are zero.
  void read_rows(int count, const std::function<Value(int)>& load) {
    for (int i = 0; i < lanes_; ++i)
      b_.assign(square_.rows, i, i < count ? load(i) : loops::constant(0, lanes_));
  }

  void gather_square(const RowPosition& row, const Affine& x, int pixels, int channels) {
    read_rows(channels, [&](int c) {
      const Affine channel = row.channel_block * lanes_ + c;
      return b_.load(src_, pixel_index(spec_.src, row.n, channel, row.y, x), lanes_, active(pixels));
    });
    const loops::RegisterId columns = transpose(b_, square_);
    for (int p = 0; p < pixels; ++p)
      b_.store(dst_, pixel_index(spec_.dst, row.n, row.channel_block, row.y, x + p), b_.read(columns, p));
  }

  void scatter_square(const RowPosition& row, const Affine& x, int pixels, int channels) {
    read_rows(pixels, [&](int p) {
      return b_.load(src_, pixel_index(spec_.src, row.n, row.channel_block, row.y, x + p), lanes_);
    });
    const loops::RegisterId columns = transpose(b_, square_);
    for (int c = 0; c < channels; ++c) {
      const Affine channel = row.channel_block * lanes_ + c;
      b_.store(dst_, pixel_index(spec_.dst, row.n, channel, row.y, x), b_.read(columns, c), active(pixels));
    }
  }

  const LayoutSpec spec_;
  const int lanes_;
  loops::Builder b_;
  const loops::BufferId src_, dst_;
  const SquareRegisters square_;
};

/// Maps of one block. Lanes behind the last channel may belong to the neighbours of a slice: they are not
/// read.
loops::LoopNest copy_blocked(const std::string& name, const LayoutSpec& layout,
                             const targets::Target& target) {
  const LayoutSpec spec = merged(layout, target);
  const FeatureMap& map = spec.dst;
  const int lanes = target.vector_lanes;
  loops::Builder b(name);
  const loops::BufferId src = input_map(b, "src", spec.src);
  const loops::BufferId dst = output_map(b, "dst", map);
  for_each_row(b, row_grid(map), [&](const RowPosition& row) {
    split_last_block(b, map, row.channel_block, map.c % lanes != 0, [&](bool last) {
      std::optional<int> active;
      if (last) active = static_cast<int>(channels_in_last_block(map));
      b.loop("x", 0, map.w, 1, [&](Affine x) {
        const Value pixel =
            b.load(src, pixel_index(spec.src, row.n, row.channel_block, row.y, x), lanes, active);
        b.store(dst, pixel_index(map, row.n, row.channel_block, row.y, x), pixel);
      });
    });
    zero_halo_of_row(b, dst, map, {row.n, row.channel_block, row.y}, lanes);
  });
  return b.finish();
}

bool same_values(const FeatureMap& a, const FeatureMap& b) {
  return a.n == b.n && a.c == b.c && a.h == b.h && a.w == b.w;
}

}  // namespace

loops::LoopNest layout(const std::string& name, const LayoutSpec& spec, const targets::Target& target) {
  require(same_values(spec.src, spec.dst), "layout keeps the extents");
  const int64_t lanes = target.vector_lanes;
  const int64_t from = spec.src.block, to = spec.dst.block;
  if (from == to && from == lanes) return copy_blocked(name, spec, target);
  if (from == 1 && to == lanes) return Relayout(name, spec, target).plain_to_blocked();
  if (from == lanes && to == 1) return Relayout(name, spec, target).blocked_to_plain();
  require(from == to, "layout goes between plain maps and maps blocked by the target's vector");
  return elementwise(name, {spec.src, spec.dst, {}}, target);
}

Estimate estimate_layout(const LayoutSpec& spec) {
  constexpr double k_flops_per_element = 10;  // shuffles and addresses take as long as so many
  const double flops =
      k_flops_per_element * static_cast<double>(value_and_halo_bytes(spec.dst)) / sizeof(float);
  return {.executed_flops = flops,
          .pointwise_flops = flops,
          .bytes_read = value_bytes(spec.src),
          .bytes_written = value_and_halo_bytes(spec.dst)};
}

}  // namespace onepass::kernels
