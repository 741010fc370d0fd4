// SPDX-License-Identifier: Apache-2.0
//
// Convolution by AMX tile products of bf16 parts. Every f32 is the sum of parts of 8 bits, v = v0 + v1 + v2;
// a product of two f32 is the sum of products of parts, which the unit accumulates in f32. For one block of
// output rows:
//
//   stage: split the source rows, with padding, into parts
//   for each panel of 32 output channels, for each pair of tiles of 16 positions:
//     sums = 0
//     for each 32 channels, tap, pair of parts (a, b):   sums += stage[a] * weights[b]
//   dst = epilogue(sums + bias)
//
// Positions run over the staged rows, so that a run of rows wastes only the columns that belong to padding.
#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv_amx_geometry.h"
#include "kernels/conv_output.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::BufferId;
using loops::Builder;
using loops::Value;

constexpr int64_t k_row_words = loops::k_tile_words;
constexpr int64_t k_tile_elems = loops::k_tile_rows * k_row_words;
constexpr int k_first_source_tile = 4, k_first_weight_tile = 6;

class AmxEmitter {
 public:
  AmxEmitter(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
             const targets::Target& target)
      : spec_(spec),
        tile_(tile),
        g_(spec, tile, target),
        lanes_(target.vector_lanes),
        b_(name),
        src_(b_.stream("src", spec.src.elems())),
        weights_(b_.stream_words("weights", g_.weight_words(), 64)),
        output_(b_, spec_, g_.vectors * lanes_, lanes_),
        stage_(b_.scratch("stage", g_.stage_words(), loops::Scalar::i32)),
        sums_(b_.scratch("sums", g_.sum_elems())) {
    b_.tiles(loops::k_most_tiles);
    rest_ = b_.registers("rest", {loops::Scalar::f32, lanes_}, 2);
    words_ = b_.registers("words", {loops::Scalar::i32, lanes_}, 1);
  }

  loops::LoopNest emit() {
    const int64_t panel_slices = tile_.panel_slices;
    const Affine slice = b_.slices(spec_.dst.n * g_.row_blocks * panel_slices);
    const Affine image_block = b_.floor_div(slice, panel_slices);
    const Affine first_panel = b_.mod(slice, panel_slices) * g_.panels_per_slice;
    n_ = b_.floor_div(image_block, g_.row_blocks);
    y_ = b_.mod(image_block, g_.row_blocks) * g_.rows;
    rows_ = b_.min(g_.rows, Affine(spec_.dst.h) - y_);
    stage();
    const Affine end = b_.min(first_panel + g_.panels_per_slice, g_.panels);
    b_.loop("panel", first_panel, end, 1, [&](Affine panel) { emit_panel(panel); });
    return b_.finish();
  }

 private:
  // ---- the source, split into parts -----------------------------------------------------------------------

  void stage() {
    const int64_t whole = spec_.src.c / k_amx_channels;
    if (whole > 0) b_.loop("c", 0, whole, 1, [&](Affine c) { stage_channels(c, k_amx_channels); });
    if (spec_.src.c % k_amx_channels != 0) stage_channels(whole, spec_.src.c % k_amx_channels);
  }

  void stage_channels(const Affine& group, int64_t channels) {
    for (int64_t phase_h = 0; phase_h < g_.phases_h; ++phase_h)
      b_.loop("row", 0, g_.staged_rows, 1, [&](Affine row) {
        const Affine y = (y_ + row) * spec_.stride_h + (phase_h - spec_.pad_top);
        for (int64_t phase_w = 0; phase_w < g_.phases_w; ++phase_w) {
          const Affine to = group * (g_.phases_h * g_.phases_w * g_.plane_words) +
                            (phase_h * g_.phases_w + phase_w) * g_.plane_words +
                            row * (g_.pitch * k_row_words);
          stage_row(group, channels, {y, phase_w - spec_.pad_left, to});
        }
      });
  }

  struct StagedRow {
    Affine y;
    int64_t first_x;  ///< source column of the first position
    Affine to;        ///< of the first position, in the plane of part 0
  };

  void stage_row(const Affine& group, int64_t channels, const StagedRow& row) {
    const auto zero = [&] { zero_positions(row.to, 0, g_.pitch); };
    const auto copy = [&] {
      const int64_t first =
          std::clamp<int64_t>((-row.first_x + spec_.stride_w - 1) / spec_.stride_w, 0, g_.pitch);
      const int64_t past = spec_.src.w - row.first_x;
      const int64_t end = std::clamp<int64_t>((past + spec_.stride_w - 1) / spec_.stride_w, first, g_.pitch);
      zero_positions(row.to, 0, row.first_x < 0 ? first : 0);
      b_.loop("x", row.first_x < 0 ? first : 0, end, 1, [&](Affine x) {
        stage_pixel(group, channels, row.y, x * spec_.stride_w + row.first_x, row.to + x * k_row_words);
      });
      zero_positions(row.to, end, g_.pitch);
    };
    b_.when(loops::Compare::lt, row.y, 0, zero,
            [&] { b_.when(loops::Compare::ge, row.y, spec_.src.h, zero, copy); });
  }

  void zero_positions(const Affine& to, int64_t begin, int64_t end) {
    if (begin == end) return;
    b_.loop("x", begin, end, 1, [&](Affine x) {
      for (int64_t part = 0; part < g_.parts; ++part)
        b_.store(stage_, to + x * k_row_words + part * g_.part_words, loops::constant_i32(0, lanes_));
    });
  }

  /// 16 channels from `offset` on, of which the first `channels` exist.
  Value source(const Affine& group, int64_t offset, int64_t channels, const Affine& y, const Affine& x) {
    if (channels <= 0) return loops::constant(0, lanes_);
    if (spec_.src.block == lanes_) {
      const Affine block = group * (k_amx_channels / lanes_) + offset / lanes_;
      return b_.load(src_, pixel_index(spec_.src, n_, block, y, x), lanes_);
    }
    const std::optional<int> active =
        channels < lanes_ ? std::optional(static_cast<int>(channels)) : std::nullopt;
    const Affine at = pixel_index(spec_.src, n_, 0, y, x) + group * k_amx_channels + offset;
    return b_.load(src_, at, lanes_, active);
  }

  /// A pair holds channels c and c + 16.
  void stage_pixel(const Affine& group, int64_t channels, const Affine& y, const Affine& x,
                   const Affine& to) {
    Value low = source(group, 0, channels, y, x);
    Value high = source(group, lanes_, channels - lanes_, y, x);
    b_.assign(rest_, 0, std::move(low));
    b_.assign(rest_, 1, std::move(high));
    for (int64_t part = 0; part < g_.parts; ++part) {
      b_.assign(words_, 0, loops::binary(loops::Binary::pack_bf16, b_.read(rest_, 0), b_.read(rest_, 1)));
      b_.store(stage_, to + part * g_.part_words, b_.read(words_));
      if (part + 1 == g_.parts) return;
      b_.assign(rest_, 0,
                loops::binary(loops::Binary::sub, b_.read(rest_, 0), unpacked_low(b_.read(words_))));
      b_.assign(rest_, 1,
                loops::binary(loops::Binary::sub, b_.read(rest_, 1), unpacked_high(b_.read(words_))));
    }
  }

  Value unpacked_low(const Value& words) const {
    return loops::unary(loops::Unary::bits_to_f32,
                        loops::binary(loops::Binary::shift_left, words, loops::constant_i32(16, lanes_)));
  }
  Value unpacked_high(const Value& words) const {
    return loops::unary(loops::Unary::bits_to_f32,
                        loops::binary(loops::Binary::bit_and, words, loops::constant_i32(-65536, lanes_)));
  }

  // ---- the products ---------------------------------------------------------------------------------------

  void emit_panel(const Affine& panel) {
    const auto full = [&] { emit_segments(panel, k_amx_panel_vectors); };
    const auto last = [&] { emit_segments(panel, g_.last_vectors); };
    if (g_.last_vectors == k_amx_panel_vectors && spec_.dst.c % lanes_ == 0) return full();
    last_ = true;
    if (g_.panels == 1) return last();
    b_.when(loops::Compare::eq, panel, g_.panels - 1, last, [&] {
      last_ = false;
      full();
    });
  }

  void emit_segments(const Affine& panel, int64_t vectors) {
    panel_ = panel;
    vectors_ = vectors;
    if (g_.segments == 1) return emit_segment(0);
    b_.loop("segment", 0, rows_, 1, [&](Affine row) { emit_segment(row); });
  }

  /// The runs of positions that start at row `row` of the slice.
  void emit_segment(const Affine& row) {
    constexpr int64_t most = 2;
    const int64_t whole = g_.tiles / most * most;
    const Affine start = row * g_.pitch;
    // Weights that stream come from memory with the first tiles; the others find them in L2.
    const int64_t first = tile_.streams_weights && whole > 0 ? most : 0;
    if (first > 0) emit_tiles(start, 0, most, true);
    if (whole > first)
      b_.loop("tile", first, whole, most, [&](Affine tile) { emit_tiles(start, tile, most, false); });
    if (whole < g_.tiles) emit_tiles(start, whole, g_.tiles - whole, tile_.streams_weights && whole == 0);
    const Affine rows = g_.segments == 1 ? rows_ : Affine(1);
    b_.loop("row", 0, rows, 1, [&](Affine r) { emit_outputs(row + r, r * g_.pitch); });
  }

  void emit_tiles(const Affine& start, const Affine& tile, int64_t count, bool streams) {
    for (int i = 0; i < count * vectors_; ++i) b_.tile_zero(i);
    const Affine position = start + tile * loops::k_tile_rows;
    streams_ = streams;
    b_.loop("c", 0, g_.groups32, 1, [&](Affine c) { emit_taps(c, position, static_cast<int>(count)); });
    for (int m = 0; m < count; ++m)
      for (int64_t v = 0; v < vectors_; ++v) {
        const Affine row = (tile + m) * loops::k_tile_rows + v * (g_.tiles * loops::k_tile_rows);
        b_.tile_store(static_cast<int>(m * vectors_ + v), sums_, row * lanes_);
      }
  }

  void emit_taps(const Affine& group, const Affine& position, int count) {
    const Affine source = group * (g_.phases_h * g_.phases_w * g_.plane_words) + position * k_row_words;
    const int64_t tap_words = g_.parts * vectors_ * k_tile_elems;
    const Affine weights = panel_ * g_.panel_words(k_amx_panel_vectors) + group * (g_.taps * tap_words);
    if (g_.phases_h == 1 && g_.phases_w == 1) {
      b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) {
        b_.loop("kw", 0, spec_.kernel_w, 1, [&](Affine kw) {
          const Affine offset = kh * (spec_.dilation_h * g_.pitch) + kw * spec_.dilation_w;
          const Affine tap = kh * spec_.kernel_w + kw;
          emit_products(source + offset * k_row_words, weights + tap * tap_words, count);
        });
      });
      return;
    }
    for (int64_t tap = 0; tap < g_.taps; ++tap) {
      const int64_t oh = tap / spec_.kernel_w * spec_.dilation_h,
                    ow = tap % spec_.kernel_w * spec_.dilation_w;
      const int64_t phase = oh % g_.phases_h * g_.phases_w + ow % g_.phases_w;
      const int64_t offset = oh / spec_.stride_h * g_.pitch + ow / spec_.stride_w;
      emit_products(source + (phase * g_.plane_words + offset * k_row_words), weights + tap * tap_words,
                    count);
    }
  }

  void emit_products(const Affine& source, const Affine& weights, int count) {
    PartPair held{-1, -1};
    if (streams_) fetch_ahead(weights);
    for (const PartPair& pair : part_pairs(tile_.products)) {
      if (pair.b != held.b)
        for (int v = 0; v < vectors_; ++v)
          b_.tile_load(k_first_weight_tile + v, weights_, weights + (pair.b * vectors_ + v) * k_tile_elems);
      if (pair.a != held.a)
        for (int m = 0; m < count; ++m)
          b_.tile_load(k_first_source_tile + m, stage_, source + (pair.a * g_.part_words + m * k_tile_elems));
      for (int m = 0; m < count; ++m)
        for (int v = 0; v < vectors_; ++v)
          b_.tile_product(static_cast<int>(m * vectors_ + v), k_first_source_tile + m,
                          k_first_weight_tile + v);
      held = pair;
    }
  }

  /// The weights of a later tap, as many as this tap reads.
  void fetch_ahead(const Affine& weights) {
    constexpr int64_t k_ahead_words = (16 << 10) / 4;
    const int64_t words = g_.parts * vectors_ * k_tile_elems;
    for (int64_t word = 0; word < words; word += k_row_words)
      b_.prefetch(weights_, weights + (k_ahead_words + word));
  }

  // ---- the outputs ----------------------------------------------------------------------------------------

  /// One row of outputs, from the sums that start at `position`.
  void emit_outputs(const Affine& row, const Affine& position) {
    const Affine y = y_ + row;
    const auto vector = [&](int64_t v) { return panel_ * k_amx_panel_vectors + v; };
    for (int64_t v = 0; v < vectors_; ++v) output_.zero_halo(n_, vector(v), y);
    const int64_t unroll = spec_.dst.w % 4 == 0 ? 4 : 1;
    b_.loop("x", 0, spec_.dst.w, unroll, [&](Affine x) {
      for (int64_t i = 0; i < unroll; ++i)
        for (int64_t v = 0; v < vectors_; ++v) {
          const Affine at = position + x + i + v * (g_.tiles * loops::k_tile_rows);
          const bool partial = last_ && v == vectors_ - 1 && spec_.dst.c % lanes_ != 0;
          output_.store(b_.load(sums_, at * lanes_, lanes_), {n_, vector(v), y, x + i}, partial);
        }
    });
  }

  const ConvSpec spec_;
  const AmxTile tile_;
  const AmxGeometry g_;
  const int lanes_;
  Builder b_;
  BufferId src_, weights_;
  ConvOutput output_;
  BufferId stage_, sums_;
  loops::RegisterId rest_, words_;
  Affine n_, y_, rows_, panel_;
  int64_t vectors_ = 0;
  bool last_ = false, streams_ = false;
};

}  // namespace

loops::LoopNest conv_amx(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
                         const targets::Target& target) {
  require(conv_amx_supports(spec, target), "conv_amx supports the convolution");
  return AmxEmitter(name, spec, tile, target).emit();
}

}  // namespace onepass::kernels
