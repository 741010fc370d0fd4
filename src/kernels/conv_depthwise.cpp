// SPDX-License-Identifier: Apache-2.0
//
// Convolutions whose groups have as many output as input channels and divide a vector; depthwise is the case
// of one channel per group. Lanes are channels. For one row of outputs of one channel block:
//
//   for each tile of pixels, kh, channel i of a group:  for each source column that a tap of the tile reads:
//     lane = column with channel i in every lane of its group
//     for each pixel p and kw that read it:  acc[p] = fma(lane, weight, acc[p])
//
// Every source column is loaded, and permuted, once for all taps of a row. Channels are outside columns so
// that few weights are in use at a time, and so that neighbouring fmas belong to different sums: a chain of a
// whole column's channels would wait for its own results.
#include <algorithm>
#include <map>

#include "base/diagnostic.h"
#include "kernels/conv_direct_geometry.h"
#include "kernels/conv_output.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::BufferId;
using loops::Builder;
using loops::RegisterId;
using loops::Value;

/// The weights of a kernel row and channel stay in registers up to this many vectors; beyond it they are
/// memory operands.
constexpr int64_t k_resident_weights = 7;

/// Channels of a group; phases are of one channel each.
int64_t width_of(const ConvSpec& spec) {
  return spec.phases ? 1 : spec.dst.c / spec.groups;
}

/// Vectors of outputs.
int64_t vectors_of(const ConvSpec& spec) {
  return spec.src.blocks() * (spec.phases ? spec.phases->count() : 1);
}

class DepthwiseEmitter {
 public:
  DepthwiseEmitter(const std::string& name, const ConvSpec& spec, const DepthwiseTile& tile,
                   const targets::Target& target)
      : spec_(spec),
        tile_(tile),
        lanes_(target.vector_lanes),
        width_(width_of(spec)),
        row_elems_(spec.kernel_w * width_ * lanes_),
        blocks_(vectors_of(spec)),
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        weights_(b_.input("weights", blocks_ * spec.kernel_h * row_elems_, 64)),
        output_(b_, spec_, blocks_ * lanes_, 1, lanes_) {
    const loops::Type vector{loops::Scalar::f32, lanes_};
    acc_ = b_.registers("acc", vector, tile.pixels);
    taps_ = b_.registers("taps", vector, static_cast<int>(spec.kernel_w));
    lane_ = b_.registers("lane", vector, 1);
  }

  loops::LoopNest emit() {
    const Affine slice = b_.slices(spec_.dst.n * blocks_ * spec_.dst.h);
    const Affine plane = b_.floor_div(slice, spec_.dst.h);
    y_ = b_.mod(slice, spec_.dst.h);
    n_ = b_.floor_div(plane, blocks_);
    block_ = b_.mod(plane, blocks_);
    src_block_ = spec_.phases ? b_.floor_div(block_, spec_.phases->count()) : block_;
    if (output_.has_halo()) output_.zero_halo(n_, block_, y_);
    output_.row({n_, block_, y_, 1, ConvOutput::Row::Tail::unknown}, [&](const Affine& begin, int64_t width) {
      const ColumnTiles tiles(width, tile_.pixels);
      const int64_t edge = tiles.wide * tiles.pixels;
      emit_tiles(begin, begin + edge, tiles.pixels);
      if (edge < width) emit_tiles(begin + edge, begin + width, tiles.pixels - 1);
    });
    return b_.finish();
  }

 private:
  void emit_tiles(const Affine& begin, const Affine& end, int64_t pixels) {
    b_.loop("x", begin, end, pixels, [&](Affine x) {
      b_.unrolled("p", pixels, [&](Affine p) { b_.assign(acc_, p, loops::constant(0, lanes_)); });
      b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) { reduce_row(x, kh, pixels); });
      store(x, pixels);
    });
  }

  void reduce_row(const Affine& x, const Affine& kh, int64_t pixels) {
    const Affine row =
        pixel_index(spec_.src, n_, src_block_, y_ * spec_.stride_h + kh * spec_.dilation_h - spec_.pad_top,
                    x * spec_.stride_w - spec_.pad_left);
    const Affine weights = (block_ * spec_.kernel_h + kh) * row_elems_;
    if (width_ == 1) return reduce_channel(row, weights, 0, pixels);
    // The columns are loaded for every channel again: they would not all stay in registers.
    for (int64_t i = 0; i < width_; ++i)
      b_.unrolled(
          "channel", 1,
          [&](Affine) { reduce_channel(row, weights + i * (spec_.kernel_w * lanes_), i, pixels); }, true);
  }

  /// What channel i of each group adds to the sums of a tile.
  void reduce_channel(const Affine& row, const Affine& weights, int64_t i, int64_t pixels) {
    const bool resident = spec_.kernel_w <= k_resident_weights;
    if (resident)
      b_.unrolled("tap", spec_.kernel_w, [&](Affine tap) {
        b_.assign(taps_, tap, b_.load(weights_, weights + tap * lanes_, lanes_));
      });
    for (const auto& [column, readers] : columns(pixels)) {
      b_.assign(lane_, 0, spread(b_.load(src_, row + column * spec_.src.block, lanes_), i));
      for (const auto& [p, kw] : readers) {
        const Value weight = resident ? b_.read(taps_, kw) : b_.load(weights_, weights + kw * lanes_, lanes_);
        b_.assign(acc_, p, loops::fma(b_.read(lane_), weight, b_.read(acc_, p)));
      }
    }
  }

  using Readers = std::vector<std::pair<int64_t, int64_t>>;  ///< (pixel, kw) that read a column

  std::map<int64_t, Readers> columns(int64_t pixels) const {
    std::map<int64_t, Readers> result;
    for (int64_t p = 0; p < pixels; ++p)
      for (int64_t kw = 0; kw < spec_.kernel_w; ++kw)
        result[p * spec_.stride_w + kw * spec_.dilation_w].emplace_back(p, kw);
    return result;
  }

  /// `column` with channel i of each group in all lanes of that group.
  Value spread(const Value& column, int64_t i) const {
    if (width_ == 1) return column;
    std::vector<int> lanes;
    for (int lane = 0; lane < lanes_; ++lane) lanes.push_back(static_cast<int>(lane / width_ * width_ + i));
    return loops::shuffle(column, column, std::move(lanes));
  }

  void store(const Affine& x, int64_t pixels) {
    const auto write = [&](bool partial) {
      b_.unrolled("p", pixels,
                  [&](Affine p) { output_.store(b_.read(acc_, p), {n_, block_, y_, x + p}, partial); });
    };
    if (spec_.phases || !output_.treats_partial()) return write(false);
    b_.when(loops::Compare::eq, block_, blocks_ - 1, [&] { write(true); }, [&] { write(false); });
  }

  const ConvSpec spec_;
  const DepthwiseTile tile_;
  const int lanes_;
  const int64_t width_;      ///< channels of a group
  const int64_t row_elems_;  ///< weights of one kernel row
  const int64_t blocks_;     ///< vectors of outputs
  Builder b_;
  BufferId src_, weights_;
  ConvOutput output_;
  RegisterId acc_, taps_, lane_;
  Affine n_, block_, src_block_, y_;
};

/// Measured. Where vectors are of 512 bits, permutes take turns with the fmas of one of two ports; elsewhere
/// they have their own.
double efficiency(const ConvSpec& spec, const DepthwiseTile& tile, const targets::Target& target) {
  if (width_of(spec) == 1) return spec.stride_w == 1 ? 0.55 : 0.45;
  constexpr int k_lanes_of_512_bits = 16;
  if (target.vector_lanes < k_lanes_of_512_bits) return 0.8;
  const int64_t fmas = tile.pixels * spec.kernel_w;
  const int64_t apart = (spec.kernel_w - 1) * spec.dilation_w + (tile.pixels - 1) * spec.stride_w + 1;
  return 0.88 * static_cast<double>(fmas) / static_cast<double>(fmas + std::min(apart, fmas));
}

}  // namespace

bool conv_depthwise_supports(const ConvSpec& spec, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes, channels = destination(spec).c;
  return spec.src.c == channels && spec.groups > 1 && lanes % (channels / spec.groups) == 0 &&
         channels / spec.groups < lanes && spec.src.block == lanes &&
         (!spec.phases || spec.groups == channels) && conv_output_writes(spec, target);
}

std::vector<DepthwiseTile> conv_depthwise_tiles(const ConvSpec& spec, const targets::Target& target) {
  const int64_t resident = spec.kernel_w <= k_resident_weights ? spec.kernel_w : 0;
  // Groups hold a permuted column and what says how it is permuted; wider tiles permute less for each sum.
  const bool groups = width_of(spec) > 1;
  const int64_t others = groups ? 2 : 3, widest = groups ? 24 : 16;
  const int64_t most = std::clamp<int64_t>(target.vector_registers - resident - others, 4, widest);
  std::vector<DepthwiseTile> tiles;
  for (int64_t pixels = most; pixels >= 4; pixels -= 4) {
    const int tile = static_cast<int>(ColumnTiles(spec.dst.w, pixels).pixels);
    if (tiles.empty() || tiles.back().pixels != tile) tiles.push_back({tile});
  }
  return tiles;
}

loops::LoopNest conv_depthwise(const std::string& name, const ConvSpec& spec, const DepthwiseTile& tile,
                               const targets::Target& target) {
  require(conv_depthwise_supports(spec, target), "conv_depthwise supports the convolution");
  return DepthwiseEmitter(name, spec, tile, target).emit();
}

Estimate estimate_conv_depthwise(const ConvSpec& spec, const DepthwiseTile& tile,
                                 const targets::Target& target) {
  const int64_t taps = spec.kernel_h * spec.kernel_w * width_of(spec);
  Estimate estimate;
  estimate.flops = static_cast<double>(spec.dst.values()) *
                   (2.0 * static_cast<double>(taps) + flops_per_element(spec.epilogue));
  const int64_t lanes = target.vector_lanes, blocks = vectors_of(spec);
  estimate.pointwise_flops = static_cast<double>(spec.dst.values()) * flops_per_element(spec.epilogue) +
                             plain_output_flops(spec, target);
  estimate.executed_flops =
      estimate.flops * static_cast<double>(blocks * lanes) / static_cast<double>(spec.dst.c) +
      plain_output_flops(spec, target);
  estimate.bytes_read = spec.src.value_bytes();
  for (const EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == StepOperand::Kind::map) estimate.bytes_read += step.operand.map.value_bytes();
  estimate.bytes_written = spec.dst.bytes();
  estimate.weight_bytes = blocks * taps * lanes * 4;
  estimate.l2_bytes = estimate.bytes_read;
  estimate.registers = static_cast<int>(tile.pixels + spec.kernel_w + 2);
  estimate.efficiency = efficiency(spec, tile, target);
  return estimate;
}

std::vector<float> pack_conv_depthwise(const ConvSpec& spec, const targets::Target& target,
                                       std::span<const float> weights) {
  const int64_t lanes = target.vector_lanes, width = width_of(spec);
  const int64_t taps = spec.kernel_h * spec.kernel_w;
  require(static_cast<int64_t>(weights.size()) == spec.dst.c * width * taps,
          "weights have the shape of the convolution");
  std::vector<float> packed(vectors_of(spec) * taps * width * lanes, 0.0F);
  // [output vector][kh][channel of the group][kw][output lane]
  const auto place_of = [&](int64_t output, int64_t i, int64_t tap) {
    const int64_t row = (output / lanes * spec.kernel_h + tap / spec.kernel_w) * width + i;
    return (row * spec.kernel_w + tap % spec.kernel_w) * lanes + output % lanes;
  };
  for (int64_t output = 0; output < spec.dst.c; ++output)
    for (int64_t i = 0; i < width; ++i)
      for (int64_t tap = 0; tap < taps; ++tap)
        packed[place_of(output, i, tap)] = weights[(output * width + i) * taps + tap];
  return packed;
}

}  // namespace onepass::kernels
