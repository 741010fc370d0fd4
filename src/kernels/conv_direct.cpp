// SPDX-License-Identifier: Apache-2.0
//
// Direct convolution by register tiles. For one row of outputs and one panel of output channels:
//
//   for each tile of pixels:    acc[p][v] = 0
//     for c block, kh, kw, c:   acc[p][v] = fma(src[p], weights[v], acc[p][v])
//     dst[p][v] = epilogue(acc[p][v] + bias[v])
//
// A plain source without the halo that its windows need (a graph input) is staged: each row of outputs first
// copies the rows that it reads into scratch, with their padding.
//
// The operand with fewer vectors stays in registers for a step, the other streams through one temporary: the
// other order costs two to three times (accumulators + min(pixels, vectors) + 1 registers).
#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv_direct_geometry.h"
#include "kernels/conv_output.h"
#include "kernels/conv_ragged.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::BufferId;
using loops::Builder;
using loops::RegisterId;
using loops::Value;

constexpr int64_t k_channel_unroll = 2;

class DirectEmitter {
 public:
  DirectEmitter(const std::string& name, const ConvSpec& spec, const ConvTile& tile,
                const targets::Target& target)
      : spec_(spec),
        tile_(tile),
        target_(target),
        geometry_(spec, tile, target),
        lanes_(target.vector_lanes),
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        weights_(b_.stream("weights", geometry_.group_elems() * spec.groups, 64)),
        output_(b_, spec_, geometry_.vectors * lanes_ * spec.groups, geometry_.panel_vectors, lanes_),
        staged_(stages_source(spec)),
        staged_width_((spec.dst.w - 1) * spec.stride_w + (spec.kernel_w - 1) * spec.dilation_w + 1),
        stage_origin_((lanes_ - spec.pad_left % lanes_) % lanes_),
        stage_pitch_((stage_origin_ + staged_width_ + lanes_ - 1) / lanes_ * lanes_) {
    if (staged_) stage_ = b_.scratch("stage", spec.src.c * spec.kernel_h * stage_pitch_);
    const int64_t pixels =
        std::max(tile.pixels, static_cast<int>(most_pixels(geometry_.last_vectors, target)));
    acc_ = b_.registers("acc", vector(), static_cast<int>(pixels * geometry_.panel_vectors));
    resident_ =
        b_.registers("resident", vector(), static_cast<int>(std::max(pixels, geometry_.panel_vectors)));
    streamed_ = b_.registers("streamed", vector(), 1);
  }

  loops::LoopNest emit() {
    if (staged_) return emit_staged();
    const int64_t rows = spec_.dst.h;
    const Affine slice = b_.slices(spec_.dst.n * spec_.groups * geometry_.panels * rows);
    const Affine image_group = b_.floor_div(slice, geometry_.panels * rows);
    const Affine inner = b_.mod(slice, geometry_.panels * rows);
    const int64_t divisor = tile_.rows_outer ? geometry_.panels : rows;
    const Affine outer_part = b_.floor_div(inner, divisor);
    const Affine inner_part = b_.mod(inner, divisor);
    n_ = b_.floor_div(image_group, spec_.groups);
    group_ = b_.mod(image_group, spec_.groups);
    y_ = tile_.rows_outer ? outer_part : inner_part;
    panel_ = tile_.rows_outer ? inner_part : outer_part;
    emit_panels();
    return b_.finish();
  }

 private:
  loops::LoopNest emit_staged() {
    const Affine slice = b_.slices(spec_.dst.n * spec_.dst.h);
    n_ = b_.floor_div(slice, spec_.dst.h);
    y_ = b_.mod(slice, spec_.dst.h);
    group_ = 0;
    b_.loop("c", 0, spec_.src.c, 1,
            [&](Affine c) { b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) { stage_row(c, kh); }); });
    b_.loop("panel", 0, geometry_.panels, 1, [&](Affine panel) {
      panel_ = panel;
      emit_panels();
    });
    return b_.finish();
  }

  /// First padded element of a staged row; the map's own first element lies at a whole vector.
  Affine stage_index(const Affine& c, const Affine& kh) const {
    return (c * spec_.kernel_h + kh) * stage_pitch_ + stage_origin_;
  }

  /// One source row of one channel with its padding, or zeros when it lies above or below the map.
  void stage_row(const Affine& c, const Affine& kh) {
    const Affine row = y_ * spec_.stride_h + kh * spec_.dilation_h - spec_.pad_top;
    const Affine to = stage_index(c, kh);
    const int64_t left = std::min(spec_.pad_left, staged_width_);
    const int64_t width = std::min(spec_.src.w, staged_width_ - left);
    const auto zero = [&] { zero_stage(to, staged_width_); };
    const auto copy = [&] {
      zero_stage(to, left);
      copy_to_stage(pixel_index(spec_.src, n_, c, row, 0), to + left, width);
      zero_stage(to + (left + width), staged_width_ - left - width);
    };
    b_.when(loops::Compare::lt, row, 0, zero,
            [&] { b_.when(loops::Compare::ge, row, spec_.src.h, zero, copy); });
  }

  /// Calls block(first, active) for whole vectors of [0, elems), then for the rest.
  template <class Block>
  void each_vector(int64_t elems, const Block& block) {
    const int64_t whole = elems / lanes_ * lanes_;
    if (whole > 0) b_.loop("i", 0, whole, lanes_, [&](Affine i) { block(i, std::optional<int>()); });
    if (whole < elems) block(Affine(whole), std::optional<int>(static_cast<int>(elems - whole)));
  }

  void zero_stage(const Affine& to, int64_t elems) {
    each_vector(elems, [&](const Affine& i, std::optional<int> active) {
      b_.store(stage_, to + i, loops::constant(0, lanes_), active);
    });
  }

  void copy_to_stage(const Affine& from, const Affine& to, int64_t elems) {
    each_vector(elems, [&](const Affine& i, std::optional<int> active) {
      b_.store(stage_, to + i, b_.load(src_, from + i, lanes_, active), active);
    });
  }

  loops::Type vector() const { return {loops::Scalar::f32, lanes_}; }

  /// The last panel has code of its own when it is narrower or ends in a partial vector.
  void emit_panels() {
    const bool special = geometry_.last_vectors != geometry_.panel_vectors || geometry_.tail() != 0;
    const auto last = [&] { emit_row(geometry_.last_vectors, true); };
    const auto full = [&] { emit_row(geometry_.panel_vectors, false); };
    if (geometry_.panels == 1) return last();
    if (!special) return full();
    b_.when(loops::Compare::eq, panel_, geometry_.panels - 1, last, full);
  }

  void emit_row(int64_t vectors, bool last) {
    vectors_ = vectors;
    last_ = last;
    if (output_.has_halo())
      b_.loop("v", 0, vectors, 1, [&](Affine v) { output_.zero_halo(n_, vector_index(v), y_); });
    const int64_t most = vectors == geometry_.panel_vectors ? tile_.pixels : most_pixels(vectors, target_);
    const auto tail =
        last && geometry_.tail() != 0 ? ConvOutput::Row::Tail::last : ConvOutput::Row::Tail::none;
    output_.row({n_, vector_index(0), y_, vectors, tail}, [&](const Affine& begin, int64_t width) {
      const ColumnTiles tiles(width, most);
      const int64_t edge = tiles.wide * tiles.pixels;
      emit_tiles(begin, begin + edge, tiles.pixels);
      if (edge < width) emit_tiles(begin + edge, begin + width, tiles.pixels - 1);
    });
  }

  void emit_tiles(const Affine& begin, const Affine& end, int64_t pixels) {
    pixels_ = pixels;
    b_.loop("x", begin, end, pixels, [&](Affine x) {
      x_ = x;
      start();
      spec_.src.block == 1 ? reduce_plain() : reduce_blocked();
      finish();
    });
  }

  Affine slot(const Affine& p, const Affine& v) const { return p * vectors_ + v; }

  /// Vector v of this panel among all vectors of outputs.
  Affine vector_index(const Affine& v) const {
    return group_ * (geometry_.group_outputs / lanes_) + panel_ * geometry_.panel_vectors + v;
  }

  void start() {
    b_.unrolled("v", vectors_, [&](Affine v) {
      b_.unrolled("p", pixels_, [&](Affine p) { b_.assign(acc_, slot(p, v), loops::constant(0, lanes_)); });
    });
  }

  Affine weight_base() const { return group_ * geometry_.group_elems() + panel_ * geometry_.panel_elems(); }

  Affine src_index(const Affine& block, const Affine& kh, const Affine& kw) const {
    return pixel_index(spec_.src, n_, block, y_ * spec_.stride_h + kh * spec_.dilation_h - spec_.pad_top,
                       x_ * spec_.stride_w + kw * spec_.dilation_w - spec_.pad_left);
  }

  /// Plain source: the taps of a row are unrolled and overlap.
  void reduce_plain() {
    const Affine first = group_ * geometry_.group_channels;
    const auto source = [&](const Affine& c, const Affine& kh, const Affine& kw) {
      if (!staged_) return src_index(first + c, kh, kw);
      return stage_index(c, kh) + x_ * spec_.stride_w + kw * spec_.dilation_w;
    };
    b_.loop("c", 0, geometry_.group_channels, 1, [&](Affine c) {
      b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) {
        const Affine row = (c * spec_.kernel_h + kh) * spec_.kernel_w;
        b_.unrolled(
            "kw", spec_.kernel_w,
            [&](Affine kw) { step(source(c, kh, kw), weight_base() + (row + kw) * (vectors_ * lanes_)); },
            true);
      });
    });
  }

  void reduce_blocked() {
    const int64_t block = std::min(spec_.src.block, geometry_.group_channels);
    const int64_t whole = geometry_.group_channels / block;
    const int64_t rest = geometry_.group_channels % block;
    if (whole == 1) reduce_block(0, block);
    if (whole > 1) b_.loop("c", 0, whole, 1, [&](Affine c) { reduce_block(c, block); });
    if (rest > 0) reduce_block(whole, rest);
  }

  void reduce_block(const Affine& c, int64_t channels) {
    const int64_t block = std::min(spec_.src.block, geometry_.group_channels);
    const Affine first = group_ * (geometry_.group_channels / block);
    const int64_t step_elems = vectors_ * lanes_;
    b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) {
      b_.loop("kw", 0, spec_.kernel_w, 1, [&](Affine kw) {
        const Affine src = src_index(first + c, kh, kw);
        const Affine weights = weight_base() + c * (block * geometry_.taps * step_elems) +
                               (kh * spec_.kernel_w + kw) * (channels * step_elems);
        reduce_channels(src, weights, channels);
      });
    });
  }

  void reduce_channels(const Affine& src, const Affine& weights, int64_t channels) {
    const int64_t whole = channels / k_channel_unroll * k_channel_unroll;
    const int64_t step_elems = vectors_ * lanes_;
    const auto steps = [&](const Affine& first, int64_t count) {
      b_.unrolled("i", count, [&](Affine i) { step(src + first + i, weights + (first + i) * step_elems); });
    };
    if (whole > 0) b_.loop("ic", 0, whole, k_channel_unroll, [&](Affine ic) { steps(ic, k_channel_unroll); });
    if (whole < channels) steps(whole, channels - whole);
  }

  void step(const Affine& src, const Affine& weights) {
    const auto source = [&](const Affine& p) {
      return b_.broadcast(staged_ ? stage_ : src_, src + p * (spec_.stride_w * spec_.src.block), lanes_);
    };
    const auto weight = [&](const Affine& v) { return b_.load(weights_, weights + v * lanes_, lanes_); };
    if (vectors_ <= pixels_) {
      b_.unrolled("v", vectors_, [&](Affine v) { b_.assign(resident_, v, weight(v)); });
      b_.unrolled("p", pixels_, [&](Affine p) {
        b_.assign(streamed_, 0, source(p));
        b_.unrolled("v", vectors_,
                    [&](Affine v) { accumulate(p, v, b_.read(streamed_), b_.read(resident_, v)); });
      });
    } else {
      b_.unrolled("p", pixels_, [&](Affine p) { b_.assign(resident_, p, source(p)); });
      b_.unrolled("v", vectors_, [&](Affine v) {
        b_.assign(streamed_, 0, weight(v));
        b_.unrolled("p", pixels_,
                    [&](Affine p) { accumulate(p, v, b_.read(resident_, p), b_.read(streamed_)); });
      });
    }
  }

  void accumulate(const Affine& p, const Affine& v, Value source, Value weight) {
    b_.assign(acc_, slot(p, v), loops::fma(std::move(source), std::move(weight), b_.read(acc_, slot(p, v))));
  }

  void finish() {
    const int64_t full = last_ && geometry_.tail() != 0 ? vectors_ - 1 : vectors_;
    b_.unrolled("p", pixels_, [&](Affine p) {
      b_.unrolled("v", full, [&](Affine v) { store(p, v, false); });
      if (full < vectors_) store(p, full, true);
    });
  }

  void store(const Affine& p, const Affine& v, bool partial) {
    output_.store(b_.read(acc_, slot(p, v)), {n_, vector_index(v), y_, x_ + p}, partial);
  }

  const ConvSpec spec_;
  const ConvTile tile_;
  const targets::Target& target_;
  const DirectGeometry geometry_;
  const int lanes_;
  Builder b_;
  BufferId src_, weights_;
  ConvOutput output_;
  BufferId stage_;
  const bool staged_;
  const int64_t staged_width_, stage_origin_, stage_pitch_;
  RegisterId acc_, resident_, streamed_;
  Affine n_, group_, panel_, y_, x_;
  int64_t vectors_ = 0, pixels_ = 0;
  bool last_ = false;
};

}  // namespace

loops::LoopNest conv_direct(const std::string& name, const ConvSpec& spec, const ConvTile& tile,
                            const targets::Target& target) {
  require(conv_direct_supports(spec, target), "conv_direct supports the convolution");
  if (is_ragged(spec, target)) return conv_ragged(name, spec, tile, target);
  return DirectEmitter(name, merge_rows(spec, tile.merged_rows), tile, target).emit();
}

}  // namespace onepass::kernels
