// SPDX-License-Identifier: Apache-2.0
//
// Direct convolution in groups that do not fill vectors. A vector of outputs may hold channels of several
// groups; those groups have equally many channels, so they are reduced in step: channel c of each in its own
// lanes. All is as in conv_direct but for the source value, which is blended of one broadcast for each group.
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

class RaggedEmitter {
 public:
  RaggedEmitter(const std::string& name, const ConvSpec& spec, const ConvTile& tile,
                const targets::Target& target)
      : spec_(spec),
        tile_(tile),
        target_(target),
        g_(spec, tile.vectors, target),
        lanes_(target.vector_lanes),
        b_(name),
        src_(input_map(b_, "src", spec.src)),
        weights_(b_.stream("weights", g_.weight_elems(), 64)),
        output_(b_, spec_, spec.dst.blocks() * lanes_, tile.vectors, lanes_) {
    const loops::Type vector{loops::Scalar::f32, lanes_};
    int64_t sums = 1, pixels = 1;
    for (const std::vector<RaggedUnit>* units : {&g_.units, &g_.partial})
      for (const RaggedUnit& unit : *units) {
        pixels = std::max(pixels, ragged_pixels(unit, target));
        sums = std::max(sums, ragged_pixels(unit, target) * unit.vectors);
      }
    acc_ = b_.registers("acc", vector, static_cast<int>(sums));
    resident_ = b_.registers("resident", vector, tile.vectors);
    streamed_ = b_.registers("streamed", vector, 1);
  }

  loops::LoopNest emit() {
    const int64_t rows = spec_.dst.h, count = g_.count();
    const Affine slice = b_.slices(spec_.dst.n * count * rows);
    const Affine inner = b_.mod(slice, count * rows);
    n_ = b_.floor_div(slice, count * rows);
    const int64_t divisor = tile_.rows_outer ? count : rows;
    const Affine outer_part = b_.floor_div(inner, divisor), inner_part = b_.mod(inner, divisor);
    y_ = tile_.rows_outer ? outer_part : inner_part;
    emit_unit_of(tile_.rows_outer ? inner_part : outer_part);
    return b_.finish();
  }

 private:
  /// Unit `number` of all bundles and the rest.
  void emit_unit_of(const Affine& number) {
    const auto size = static_cast<int64_t>(g_.units.size());
    bundle_ = b_.floor_div(number, size);
    const Affine unit = b_.mod(number, size);
    const auto whole = [&] { emit_from(0, unit); };
    if (g_.partial.empty()) return whole();
    const auto partial = [&] { emit_unit(g_.partial.front(), g_.elems_before(g_.rest_units), true); };
    if (g_.count() == 1) return partial();
    b_.when(loops::Compare::eq, number, g_.count() - 1, partial, whole);
  }

  /// The unit of that number, one of those from `first` on.
  void emit_from(int64_t first, const Affine& unit) {
    const int64_t last = (g_.bundles > 0 ? static_cast<int64_t>(g_.units.size()) : g_.rest_units) - 1;
    const auto own = [&] { emit_unit(g_.units[first], g_.elems_before(first), false); };
    if (first == last) return own();
    b_.when(loops::Compare::eq, unit, first, own, [&] { emit_from(first + 1, unit); });
  }

  void emit_unit(const RaggedUnit& unit, int64_t weights_before, bool partial) {
    unit_ = &unit;
    partial_ = partial;
    unit_weights_ = bundle_ * g_.elems_before(static_cast<int64_t>(g_.units.size())) + weights_before;
    const Affine vector = vector_index(0);
    if (output_.has_halo())
      b_.loop("v", 0, unit.vectors, 1, [&](Affine v) { output_.zero_halo(n_, vector + v, y_); });
    const auto tail = partial ? ConvOutput::Row::Tail::last : ConvOutput::Row::Tail::none;
    output_.row({n_, vector, y_, unit.vectors, tail}, [&](const Affine& begin, int64_t width) {
      const ColumnTiles tiles(width, ragged_pixels(unit, target_));
      const int64_t edge = tiles.wide * tiles.pixels;
      emit_tiles(begin, begin + edge, tiles.pixels);
      if (edge < width) emit_tiles(begin + edge, begin + width, tiles.pixels - 1);
    });
  }

  Affine vector_index(const Affine& v) const { return bundle_ * g_.bundle_vectors() + unit_->vector + v; }
  Affine slot(const Affine& p, const Affine& v) const { return p * unit_->vectors + v; }

  void emit_tiles(const Affine& begin, const Affine& end, int64_t pixels) {
    pixels_ = pixels;
    b_.loop("x", begin, end, pixels, [&](Affine x) {
      x_ = x;
      each_sum(
          [&](const Affine& p, const Affine& v) { b_.assign(acc_, slot(p, v), loops::constant(0, lanes_)); });
      reduce();
      each_sum([&](const Affine& p, const Affine& v) {
        output_.store(b_.read(acc_, slot(p, v)), {n_, vector_index(v), y_, x_ + p}, partial_);
      });
    });
  }

  template <class Body>
  void each_sum(const Body& body) {
    b_.unrolled("p", pixels_,
                [&](Affine p) { b_.unrolled("v", unit_->vectors, [&](Affine v) { body(p, v); }); });
  }

  /// Runs repeat from one block of source channels to the next.
  void reduce() {
    const int64_t blocks = g_.group_channels / lanes_;
    const auto block = [&](const Affine& c) {
      for (const RaggedRun& run : g_.runs(*unit_, 0, lanes_)) reduce_run(run, c);
    };
    if (blocks == 1) block(0);
    if (blocks > 1) b_.loop("c", 0, blocks, 1, [&](Affine c) { block(c); });
    if (blocks * lanes_ < g_.group_channels)
      for (const RaggedRun& run : g_.runs(*unit_, blocks * lanes_, g_.group_channels)) reduce_run(run, 0);
  }

  /// The run, `ahead` blocks behind where it stands.
  void reduce_run(const RaggedRun& run, const Affine& ahead) {
    const int64_t step_elems = unit_->vectors * lanes_;
    b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) {
      b_.loop("kw", 0, spec_.kernel_w, 1, [&](Affine kw) {
        const Affine tap = kh * spec_.kernel_w + kw;
        const Affine weights = unit_weights_ + (ahead * (lanes_ * g_.taps) + tap * run.count) * step_elems +
                               run.channel * g_.taps * step_elems;
        const std::vector<Affine> sources = sources_of(run, ahead, kh, kw);
        const int64_t whole = run.count / k_channel_unroll * k_channel_unroll;
        const auto steps = [&](const Affine& first, int64_t count) {
          for (int64_t i = 0; i < count; ++i) step(sources, first + i, weights + (first + i) * step_elems);
        };
        if (whole > 0)
          b_.loop("ic", 0, whole, k_channel_unroll, [&](Affine ic) { steps(ic, k_channel_unroll); });
        if (whole < run.count) steps(whole, run.count - whole);
      });
    });
  }

  /// Where the run's first channel lies, for each group of the unit.
  std::vector<Affine> sources_of(const RaggedRun& run, const Affine& ahead, const Affine& kh,
                                 const Affine& kw) const {
    std::vector<Affine> sources;
    for (size_t part = 0; part <= unit_->starts.size(); ++part) {
      const int64_t channel = (unit_->group + static_cast<int64_t>(part)) * g_.group_channels + run.channel;
      const Affine block = bundle_ * g_.bundle_blocks() + ahead + channel / lanes_;
      sources.push_back(pixel_index(spec_.src, n_, block,
                                    y_ * spec_.stride_h + kh * spec_.dilation_h - spec_.pad_top,
                                    x_ * spec_.stride_w + kw * spec_.dilation_w - spec_.pad_left) +
                        channel % lanes_);
    }
    return sources;
  }

  void step(const std::vector<Affine>& sources, const Affine& i, const Affine& weights) {
    for (int64_t v = 0; v < unit_->vectors; ++v)
      b_.assign(resident_, v, b_.load(weights_, weights + v * lanes_, lanes_));
    b_.unrolled("p", pixels_, [&](Affine p) {
      b_.assign(streamed_, 0, source(sources, i + p * (spec_.stride_w * spec_.src.block)));
      for (int64_t v = 0; v < unit_->vectors; ++v)
        b_.assign(acc_, slot(p, v),
                  loops::fma(b_.read(streamed_), b_.read(resident_, v), b_.read(acc_, slot(p, v))));
    });
  }

  /// Each group's value in its lanes.
  Value source(const std::vector<Affine>& sources, const Affine& offset) const {
    Value value = b_.broadcast(src_, sources.back() + offset, lanes_);
    for (size_t part = unit_->starts.size(); part-- > 0;)
      value = loops::select(loops::Compare::lt, loops::lane_index(lanes_),
                            loops::constant_i32(unit_->starts[part], lanes_),
                            b_.broadcast(src_, sources[part] + offset, lanes_), value);
    return value;
  }

  const ConvSpec spec_;
  const ConvTile tile_;
  const targets::Target& target_;
  const RaggedGeometry g_;
  const int lanes_;
  Builder b_;
  BufferId src_, weights_;
  ConvOutput output_;
  RegisterId acc_, resident_, streamed_;
  Affine n_, y_, x_, bundle_, unit_weights_;
  const RaggedUnit* unit_ = nullptr;
  int64_t pixels_ = 0;
  bool partial_ = false;
};

}  // namespace

loops::LoopNest conv_ragged(const std::string& name, const ConvSpec& spec, const ConvTile& tile,
                            const targets::Target& target) {
  require(is_ragged(spec, target), "conv_ragged supports the convolution");
  return RaggedEmitter(name, spec, tile, target).emit();
}

}  // namespace onepass::kernels
