// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv_amx_source.h"

#include <algorithm>

namespace onepass::kernels {

using loops::Affine;
using loops::Value;

// ---- blocked maps and rows of channels --------------------------------------------------------------------

AmxWideSource::AmxWideSource(loops::Builder& builder, const ConvSpec& spec, const AmxGeometry& geometry,
                             int vector_lanes)
    : b_(builder),
      spec_(spec),
      g_(geometry),
      lanes_(vector_lanes),
      src_(builder.stream("src", spec.src.elems(), 4, spec.src.scalar)),
      stage_(builder.scratch("stage", geometry.stage_words(), loops::Scalar::i32)),
      splitter_(builder, geometry.parts, 1, vector_lanes) {}

void AmxWideSource::stage(const Affine& n, const Affine& y) {
  n_ = n;
  y_ = y;
  const int64_t whole = spec_.src.c / k_amx_channels, rest = spec_.src.c % k_amx_channels;
  if (whole > 0) b_.loop("c", 0, whole, 1, [&](Affine c) { stage_channels(c, k_amx_channels); });
  if (rest != 0) stage_channels(whole, rest);
}

void AmxWideSource::stage_channels(const Affine& group, int64_t channels) {
  for (int64_t phase_h = 0; phase_h < g_.phases_h; ++phase_h)
    b_.loop("row", 0, g_.staged_rows, 1, [&](Affine row) {
      const Affine y = (y_ + row) * spec_.stride_h + (phase_h - spec_.pad_top);
      for (int64_t phase_w = 0; phase_w < g_.phases_w; ++phase_w) {
        const Affine plane = group * (g_.phases_h * g_.phases_w) + (phase_h * g_.phases_w + phase_w);
        stage_row(group, channels, {y, phase_w - spec_.pad_left, plane * g_.plane_words + row * row_words()});
      }
    });
}

void AmxWideSource::stage_row(const Affine& group, int64_t channels, const Row& row) {
  const int64_t stride = spec_.stride_w;
  const auto zero = [&] { zero_positions(row.to, 0, g_.pitch); };
  const auto copy = [&] {
    const int64_t first = row.first_x < 0 ? std::min((stride - 1 - row.first_x) / stride, g_.pitch) : 0;
    const int64_t past = spec_.src.w - row.first_x;
    const int64_t end = std::clamp<int64_t>((past + stride - 1) / stride, first, g_.pitch);
    zero_positions(row.to, 0, first);
    b_.loop("x", first, end, 1, [&](Affine x) { stage_pixel(group, channels, row, x); });
    zero_positions(row.to, end, g_.pitch);
  };
  b_.when(loops::Compare::lt, row.y, 0, zero,
          [&] { b_.when(loops::Compare::ge, row.y, spec_.src.h, zero, copy); });
}

void AmxWideSource::zero_positions(const Affine& to, int64_t begin, int64_t end) {
  if (begin == end) return;
  b_.loop("x", begin, end, 1, [&](Affine x) {
    for (int64_t part = 0; part < g_.parts; ++part)
      b_.store(stage_, to + x * g_.position_words + part * g_.part_words, loops::constant_i32(0, lanes_));
  });
}

/// 16 channels from `offset` on, of which the first `channels` exist.
Value AmxWideSource::source(const Affine& group, int64_t offset, int64_t channels, const Affine& y,
                            const Affine& x) const {
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

void AmxWideSource::stage_pixel(const Affine& group, int64_t channels, const Row& row, const Affine& x) {
  const Affine column = x * spec_.stride_w + row.first_x, to = row.to + x * g_.position_words;
  const Value low = source(group, 0, channels, row.y, column);
  const Value high = source(group, lanes_, channels - lanes_, row.y, column);
  splitter_.split({{low, high}}, [&](int64_t part, const std::vector<Value>& words) {
    b_.store(stage_, to + part * g_.part_words, words.front());
  });
}

void AmxWideSource::each_step(const Affine& chunk, const AmxStep& step) const {
  const Affine first = chunk * g_.chunk_groups;
  const bool even = g_.chunks * g_.chunk_groups == g_.groups32;
  const Affine end = even ? first + g_.chunk_groups : b_.min(first + g_.chunk_groups, g_.groups32);
  b_.loop("c", first, end, 1, [&](Affine group) {
    g_.phases_h == 1 && g_.phases_w == 1 ? each_tap(group, step) : each_tap_of_phases(group, step);
  });
}

void AmxWideSource::each_tap(const Affine& group, const AmxStep& step) const {
  b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) {
    b_.loop("kw", 0, spec_.kernel_w, 1, [&](Affine kw) {
      const Affine offset = kh * (spec_.dilation_h * g_.pitch) + kw * spec_.dilation_w;
      step(group * g_.plane_words + offset * g_.position_words, group * g_.taps + kh * spec_.kernel_w + kw);
    });
  });
}

/// Each tap has a phase of its own, so that they are written out.
void AmxWideSource::each_tap_of_phases(const Affine& group, const AmxStep& step) const {
  for (int64_t tap = 0; tap < g_.taps; ++tap) {
    const int64_t oh = tap / spec_.kernel_w * spec_.dilation_h;
    const int64_t ow = tap % spec_.kernel_w * spec_.dilation_w;
    const int64_t plane = oh % g_.phases_h * g_.phases_w + ow % g_.phases_w;
    const int64_t offset = oh / spec_.stride_h * g_.pitch + ow / spec_.stride_w;
    step(group * (g_.phases_h * g_.phases_w * g_.plane_words) +
             (plane * g_.plane_words + offset * g_.position_words),
         group * g_.taps + tap);
  }
}

// ---- plain maps of few channels ---------------------------------------------------------------------------

AmxNarrowSource::AmxNarrowSource(loops::Builder& builder, const ConvSpec& spec, const AmxGeometry& geometry,
                                 int vector_lanes)
    : b_(builder),
      spec_(spec),
      g_(geometry),
      lanes_(vector_lanes),
      src_(input_map(builder, "src", spec.src)),
      stage_(builder.scratch("stage", geometry.stage_words(), loops::Scalar::i32)),
      splitter_(builder, geometry.parts, static_cast<int>(geometry.pixel_words), vector_lanes) {}

void AmxNarrowSource::stage(const Affine& n, const Affine& y) {
  b_.loop("row", 0, g_.staged_rows, 1, [&](Affine row) {
    const Affine to = row * g_.pitch;
    b_.loop("i", 0, g_.pitch, lanes_, [&](Affine i) {
      for (int64_t part = 0; part < g_.parts; ++part)
        b_.store(stage_, to + i + part * g_.part_words, loops::constant_i32(0, lanes_));
    });
    const Affine line = y * spec_.stride_h + row - spec_.pad_top;
    b_.when(loops::Compare::ge, line, 0,
            [&] { b_.when(loops::Compare::lt, line, spec_.src.h, [&] { stage_row(n, line, to); }); });
  });
}

void AmxNarrowSource::stage_row(const Affine& n, const Affine& y, const Affine& to) {
  const Affine from = pixel_index(spec_.src, n, 0, y, 0);
  const Affine first = to + spec_.pad_left * g_.pixel_words;
  const int64_t whole = spec_.src.w / lanes_ * lanes_;
  if (whole > 0)
    b_.loop("x", 0, whole, lanes_,
            [&](Affine x) { stage_pixels(from + x, first + x * g_.pixel_words, std::nullopt); });
  if (whole < spec_.src.w)
    stage_pixels(from + whole, first + whole * g_.pixel_words, static_cast<int>(spec_.src.w - whole));
}

/// A vector of pixels; lanes behind the row are zero, as its padding is.
void AmxNarrowSource::stage_pixels(const Affine& from, const Affine& to, std::optional<int> active) {
  const auto channel = [&](int64_t c) {
    if (c >= spec_.src.c) return loops::constant(0, lanes_);
    return b_.load(src_, from + c * spec_.src.plane_stride, lanes_, active);
  };
  std::vector<PartSplitter::Pair> pairs;
  for (int64_t word = 0; word < g_.pixel_words; ++word)
    pairs.emplace_back(channel(2 * word), channel(2 * word + 1));
  splitter_.split(pairs, [&](int64_t part, const std::vector<Value>& words) {
    const Affine at = to + part * g_.part_words;
    if (words.size() == 1) return b_.store(stage_, at, words.front());
    std::vector<int> front, back;
    for (int i = 0; i < lanes_; ++i) {
      front.push_back(i % 2 * lanes_ + i / 2);
      back.push_back(i % 2 * lanes_ + lanes_ / 2 + i / 2);
    }
    b_.store(stage_, at, loops::shuffle(words[0], words[1], front));
    b_.store(stage_, at + lanes_, loops::shuffle(words[0], words[1], back));
  });
}

void AmxNarrowSource::each_step(const Affine& /*chunk: one*/, const AmxStep& step) const {
  const int64_t pieces = g_.taps / spec_.kernel_h;
  b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) {
    b_.loop("piece", 0, pieces, 1, [&](Affine piece) {
      step(kh * (spec_.dilation_h * g_.pitch) + piece * loops::k_tile_words, kh * pieces + piece);
    });
  });
}

}  // namespace onepass::kernels
