// SPDX-License-Identifier: Apache-2.0
//
// Convolutions whose groups have as many output as input channels and divide a vector; depthwise is the case
// of one channel per group. Lanes are channels. For one row of outputs of one channel block:
//
//   for each tile of pixels, kh:  for each source column that a tap of the tile reads:
//     for each channel i of a group:  acc[p] = fma(column with channel i in every lane of its group, weight,
//     acc[p])
//
// Every source column is loaded once for all taps of a row.
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

/// Weights of one kernel row stay in registers up to this many vectors; beyond it they are memory operands.
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
        row_weights_(spec.kernel_w * width_),
        blocks_(vectors_of(spec)),
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        weights_(b_.input("weights", blocks_ * spec.kernel_h * row_weights_ * lanes_, 64)),
        output_(b_, spec_, blocks_ * lanes_, 1, lanes_) {
    const loops::Type vector{loops::Scalar::f32, lanes_};
    acc_ = b_.registers("acc", vector, tile.pixels);
    taps_ = b_.registers("taps", vector, static_cast<int>(row_weights_));
    column_ = b_.registers("column", vector, 1);
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
    const Affine weights = (block_ * spec_.kernel_h + kh) * (row_weights_ * lanes_);
    if (row_weights_ <= k_resident_weights)
      b_.unrolled("tap", row_weights_, [&](Affine tap) {
        b_.assign(taps_, tap, b_.load(weights_, weights + tap * lanes_, lanes_));
      });
    const Affine row =
        pixel_index(spec_.src, n_, src_block_, y_ * spec_.stride_h + kh * spec_.dilation_h - spec_.pad_top,
                    x * spec_.stride_w - spec_.pad_left);
    for (const auto& [column, readers] : columns(pixels)) {
      b_.assign(column_, 0, b_.load(src_, row + column * spec_.src.block, lanes_));
      for (int64_t i = 0; i < width_; ++i) {
        b_.assign(lane_, 0, spread(i));
        for (const auto& [p, kw] : readers) {
          const int64_t tap = kw * width_ + i;
          const Value weight = row_weights_ <= k_resident_weights
                                   ? b_.read(taps_, tap)
                                   : b_.load(weights_, weights + tap * lanes_, lanes_);
          b_.assign(acc_, p, loops::fma(b_.read(lane_), weight, b_.read(acc_, p)));
        }
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

  /// The column with channel i of each group in all lanes of that group.
  Value spread(int64_t i) const {
    const Value column = b_.read(column_);
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
  const int64_t width_;        ///< channels of a group
  const int64_t row_weights_;  ///< weight vectors of one kernel row
  const int64_t blocks_;       ///< vectors of outputs
  Builder b_;
  BufferId src_, weights_;
  ConvOutput output_;
  RegisterId acc_, taps_, column_, lane_;
  Affine n_, block_, src_block_, y_;
};

}  // namespace

bool conv_depthwise_supports(const ConvSpec& spec, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes, channels = destination(spec).c;
  return spec.src.c == channels && spec.groups > 1 && lanes % (channels / spec.groups) == 0 &&
         channels / spec.groups < lanes && spec.src.block == lanes &&
         (!spec.phases || spec.groups == channels) && conv_output_writes(spec, target);
}

std::vector<DepthwiseTile> conv_depthwise_tiles(const ConvSpec& spec, const targets::Target& target) {
  const int64_t row_weights = spec.kernel_w * width_of(spec);
  const int64_t resident = row_weights <= k_resident_weights ? row_weights : 0;
  const int64_t most = std::clamp<int64_t>(target.vector_registers - resident - 3, 4, 16);
  std::vector<DepthwiseTile> tiles;
  for (int64_t pixels = most; pixels >= 4; pixels -= 4)
    tiles.push_back({static_cast<int>(ColumnTiles(spec.dst.w, pixels).pixels)});
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
  estimate.efficiency = spec.stride_w == 1 ? 0.55 : 0.45;
  return estimate;
}

std::vector<float> pack_conv_depthwise(const ConvSpec& spec, const targets::Target& target,
                                       std::span<const float> weights) {
  const int64_t lanes = target.vector_lanes, width = width_of(spec);
  const int64_t taps = spec.kernel_h * spec.kernel_w;
  require(static_cast<int64_t>(weights.size()) == spec.dst.c * width * taps,
          "weights have the shape of the convolution");
  std::vector<float> packed(vectors_of(spec) * taps * width * lanes, 0.0F);
  for (int64_t output = 0; output < spec.dst.c; ++output)
    for (int64_t i = 0; i < width; ++i)
      for (int64_t tap = 0; tap < taps; ++tap)
        packed[((output / lanes * taps + tap) * width + i) * lanes + output % lanes] =
            weights[(output * width + i) * taps + tap];
  return packed;
}

}  // namespace onepass::kernels
