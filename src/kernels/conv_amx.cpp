// SPDX-License-Identifier: Apache-2.0
//
// Convolution by AMX tile products of bf16 parts. Every f32 is the sum of parts of 8 bits, v = v0 + v1 + v2;
// a product of two f32 is the sum of products of parts, which the unit accumulates in f32. For one block of
// output rows:
//
//   stage: split the source rows, with padding, into parts
//   for each panel of 32 output channels:
//     sums = 0
//     for each chunk of channels, for each pair of tiles of 16 positions:
//       for each 32 channels of the chunk, tap, pair of parts (a, b):   sums += stage[a] * weights[b]
//     dst = epilogue(sums + bias)
//
// A chunk's weights stay in L2 for all tiles; those that come from memory are fetched one chunk ahead, evenly
// over the tiles, so that memory and products keep each other busy. Positions run over the
// staged rows, so that a run of rows wastes only the columns that belong to padding.
#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv_amx_groups.h"
#include "kernels/conv_amx_source.h"
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

/// Source is AmxWideSource or AmxNarrowSource.
template <class Source>
class AmxEmitter {
 public:
  AmxEmitter(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
             const targets::Target& target)
      : spec_(spec),
        tile_(tile),
        g_(spec, tile, target),
        lanes_(target.vector_lanes),
        b_(name),
        source_(b_, spec_, g_, lanes_),
        weights_(b_.stream("weights", g_.weight_words(), 64, loops::Scalar::i32)),
        output_(b_, spec_, g_.vectors * lanes_, std::min(g_.vectors, k_amx_panel_vectors), lanes_),
        sums_(b_.scratch("sums", g_.sum_elems())) {
    b_.tiles(loops::k_most_tiles);
  }

  loops::LoopNest emit() {
    const int64_t panel_slices = tile_.panel_slices;
    const Affine slice = b_.slices(spec_.dst.n * g_.row_blocks * panel_slices);
    const Affine image_block = b_.floor_div(slice, panel_slices);
    const Affine first_panel = b_.mod(slice, panel_slices) * g_.panels_per_slice;
    n_ = b_.floor_div(image_block, g_.row_blocks);
    y_ = b_.mod(image_block, g_.row_blocks) * g_.rows;
    rows_ = b_.min(g_.rows, Affine(spec_.dst.h) - y_);
    source_.stage(n_, y_);
    const Affine end = b_.min(first_panel + g_.panels_per_slice, g_.panels);
    b_.loop("panel", first_panel, end, 1, [&](Affine panel) { emit_panel(panel); });
    return b_.finish();
  }

 private:
  // ---- the products ---------------------------------------------------------------------------------------

  void emit_panel(const Affine& panel) {
    const auto full = [&] { emit_sums(panel, k_amx_panel_vectors); };
    const auto last = [&] { emit_sums(panel, g_.last_vectors); };
    if (g_.last_vectors == k_amx_panel_vectors && spec_.dst.c % lanes_ == 0) return full();
    last_ = true;
    if (g_.panels == 1) return last();
    b_.when(loops::Compare::eq, panel, g_.panels - 1, last, [&] {
      last_ = false;
      full();
    });
  }

  void emit_sums(const Affine& panel, int64_t vectors) {
    panel_ = panel;
    vectors_ = vectors;
    emit_chunk(0, false);
    if (g_.chunks > 1) b_.loop("chunk", 1, g_.chunks, 1, [&](Affine chunk) { emit_chunk(chunk, true); });
    const int64_t sums_of_row = g_.segments == 1 ? g_.pitch : g_.tiles * loops::k_tile_rows;
    b_.loop("row", 0, rows_, 1, [&](Affine row) { emit_outputs(row, row * sums_of_row); });
  }

  /// What a chunk of the reduction adds to all sums of the panel; the first one starts them.
  void emit_chunk(const Affine& chunk, bool resumes) {
    chunk_ = chunk;
    resumes_ = resumes;
    if (g_.segments == 1) return emit_run(0);
    b_.loop("segment", 0, rows_, 1, [&](Affine segment) { emit_run(segment); });
  }

  /// One run of positions.
  void emit_run(const Affine& segment) {
    constexpr int64_t most = AmxGeometry::k_tiles_at_once;
    const int64_t whole = g_.tiles / most * most;
    segment_ = segment;
    if (whole > 0) b_.loop("tile", 0, whole, most, [&](Affine tile) { emit_tiles(tile, most); });
    if (whole < g_.tiles) emit_tiles(whole, g_.tiles - whole);
  }

  void emit_tiles(const Affine& tile, int64_t count) {
    each_sum(tile, count,
             [&](int sum, const Affine& at) { resumes_ ? b_.tile_load(sum, sums_, at) : b_.tile_zero(sum); });
    const Affine first = segment_ * source_.row_words() + tile * (loops::k_tile_rows * g_.position_words);
    const Affine panel = panel_ * g_.panel_words(k_amx_panel_vectors);
    pair_ = segment_ * g_.pairs_of_run() + b_.floor_div(tile, AmxGeometry::k_tiles_at_once);
    source_.each_step(chunk_, [&](const Affine& source, const Affine& step) {
      emit_step(first + source, panel + step * (g_.parts * vectors_ * k_tile_elems), static_cast<int>(count));
    });
    each_sum(tile, count, [&](int sum, const Affine& at) { b_.tile_store(sum, sums_, at); });
  }

  /// Calls use(tile register, its place in sums_) for `count` tiles of positions from `tile` on.
  template <class Use>
  void each_sum(const Affine& tile, int64_t count, const Use& use) {
    for (int64_t m = 0; m < count; ++m)
      for (int64_t v = 0; v < vectors_; ++v) {
        const Affine row = (segment_ * g_.tiles + tile + m) * loops::k_tile_rows + v * g_.sum_rows();
        use(static_cast<int>(m * vectors_ + v), row * lanes_);
      }
  }

  void emit_step(const Affine& source, const Affine& weights, int count) {
    const int64_t step_rows = g_.parts * vectors_ * loops::k_tile_rows;
    if (!tile_.streams_weights) return emit_products(source, weights, count, {});
    if (!g_.takes_turns()) {
      constexpr int64_t k_near_words = (16 << 10) / 4;
      return b_.when(
          loops::Compare::eq, pair_, 0,
          [&] { emit_products(source, weights, count, {weights + k_near_words, step_rows}); },
          [&] { emit_products(source, weights, count, {}); });
    }
    const int64_t rows = (step_rows + g_.pairs() - 1) / g_.pairs();
    const int64_t chunk_words = g_.chunk_groups * g_.taps * step_rows * k_row_words;
    emit_products(source, weights, count, {weights + chunk_words + pair_ * (rows * k_row_words), rows});
  }

  /// Weights that a later step reads: where turns are taken, this pair of tiles' share of what the same step
  /// of the next chunk reads, else all that a near step of the first pair reads.
  struct Fetch {
    Affine from;
    int64_t rows = 0;
  };

  void emit_products(const Affine& source, const Affine& weights, int count, const Fetch& ahead) {
    PartPair held{-1, -1};
    const std::span<const PartPair> pairs = part_pairs(tile_.products);
    const int64_t products = std::ssize(pairs) * count * vectors_;
    int64_t product = 0;
    for (const PartPair& pair : pairs) {
      if (pair.b != held.b)
        for (int v = 0; v < vectors_; ++v)
          b_.tile_load(k_first_weight_tile + v, weights_, weights + (pair.b * vectors_ + v) * k_tile_elems);
      if (pair.a != held.a)
        for (int m = 0; m < count; ++m)
          b_.tile_load(k_first_source_tile + m, source_.buffer(),
                       source + (pair.a * g_.part_words + m * loops::k_tile_rows * g_.position_words),
                       g_.position_words);
      for (int m = 0; m < count; ++m)
        for (int v = 0; v < vectors_; ++v, ++product) {
          b_.tile_product(static_cast<int>(m * vectors_ + v), k_first_source_tile + m,
                          k_first_weight_tile + v);
          fetch(ahead, product * ahead.rows / products, (product + 1) * ahead.rows / products);
        }
      held = pair;
    }
  }

  void fetch(const Fetch& ahead, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) b_.prefetch(weights_, ahead.from + row * k_row_words);
  }

  // ---- the outputs ----------------------------------------------------------------------------------------

  /// One row of outputs, from the sums that start at `position`.
  void emit_outputs(const Affine& row, const Affine& position) {
    const Affine y = y_ + row;
    const auto vector = [&](int64_t v) { return panel_ * k_amx_panel_vectors + v; };
    for (int64_t v = 0; v < vectors_; ++v) output_.zero_halo(n_, vector(v), y);
    const bool tail = last_ && spec_.dst.c % lanes_ != 0;
    const auto kind = tail ? ConvOutput::Row::Tail::last : ConvOutput::Row::Tail::none;
    output_.row({n_, vector(0), y, vectors_, kind}, [&](const Affine& begin, int64_t width) {
      const int64_t unroll = width % 4 == 0 ? 4 : 1;
      b_.loop("x", begin, begin + width, unroll, [&](Affine x) {
        for (int64_t i = 0; i < unroll; ++i)
          for (int64_t v = 0; v < vectors_; ++v) {
            const Affine at = position + x + i + v * g_.sum_rows();
            output_.store(b_.load(sums_, at * lanes_, lanes_), {n_, vector(v), y, x + i},
                          tail && v == vectors_ - 1);
          }
      });
    });
  }

  const ConvSpec spec_;
  const AmxTile tile_;
  const AmxGeometry g_;
  const int lanes_;
  Builder b_;
  Source source_;
  BufferId weights_;
  ConvOutput output_;
  BufferId sums_;
  Affine n_, y_, rows_, panel_, chunk_, segment_, pair_;
  int64_t vectors_ = 0;
  bool last_ = false, resumes_ = false;
};

}  // namespace

loops::LoopNest conv_amx(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
                         const targets::Target& target) {
  require(conv_amx_supports(spec, target), "conv_amx supports the convolution");
  if (spec.groups > 1) return conv_amx_groups(name, spec, tile, target);
  if (is_narrow(spec)) return AmxEmitter<AmxNarrowSource>(name, spec, tile, target).emit();
  return AmxEmitter<AmxWideSource>(name, spec, tile, target).emit();
}

}  // namespace onepass::kernels
