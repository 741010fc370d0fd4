// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of several groups by AMX tile products of bf16 parts (conv_amx.cpp). A source tile has rows of
// 32 channels. Where a group has fewer, a row holds neighbouring positions of the group side by side: all
// that the taps of a kernel row read. A group of fewer than 16 outputs leaves lanes of the sums for the
// outputs at neighbouring positions, whose weights are the same, shifted by a position: groups of 8 compute
// two outputs of a 3x3 kernel row from four positions in one product. For one block of output rows of one
// vector of channels (or one group of several vectors):
//
//   stage: split the source rows of each group, with padding, into parts
//   for each group, or vector:
//     for each four tiles of outputs:  for each kh, step, pair of parts (a, b):  sums += stage[a] *
//     weights[b]
//   dst = epilogue(the groups' sums side by side + bias)
#include "kernels/conv_amx_groups.h"

#include <algorithm>

#include "base/diagnostic.h"
#include "kernels/conv_amx_geometry.h"
#include "kernels/conv_amx_parts.h"
#include "kernels/conv_output.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::BufferId;
using loops::Builder;
using loops::RegisterId;
using loops::Value;

constexpr int64_t k_row_words = loops::k_tile_words;
constexpr int64_t k_tile_elems = loops::k_tile_rows * k_row_words;
constexpr int64_t k_most_sums = 4;
constexpr int k_first_source_tile = 4, k_first_weight_tile = 6;

/// The staged source rows of a set.
class GroupStage {
 public:
  GroupStage(Builder& builder, const ConvSpec& spec, const AmxGroupGeometry& geometry, int lanes)
      : b_(builder),
        spec_(spec),
        g_(geometry),
        lanes_(lanes),
        src_(builder.stream("src", spec.src.elems(), 4, spec.src.scalar)),
        stage_(builder.scratch("stage", geometry.stage_words(), loops::Scalar::i32)),
        cells_(builder.registers("cells", {loops::Scalar::f32, lanes},
                                 static_cast<int>(2 * geometry.unit_positions))),
        splitter_(builder, geometry.parts, static_cast<int>(geometry.set_groups), lanes) {}

  BufferId buffer() const { return stage_; }

  /// Fills the stage for the output rows from y on.
  void fill(const Affine& n, const Affine& set, const Affine& y) {
    n_ = n;
    first_block_ = set * std::max<int64_t>(1, g_.width / lanes_);
    for (int64_t phase = 0; phase < g_.phases_h; ++phase) {
      b_.loop("row", 0, g_.staged_rows, 1, [&](Affine row) {
        fill_row((y + row) * spec_.stride_h + (phase - spec_.pad_top),
                 row * row_words() + phase * g_.plane_words);
      });
      // Taps of weight zero read behind the last row.
      const Affine behind = phase * g_.plane_words + g_.staged_rows * row_words();
      b_.loop("i", 0, g_.slack_words, k_row_words, [&](Affine i) { store_zero(behind + i); });
    }
  }

  int64_t row_words() const { return g_.pitch * g_.position_words; }

 private:
  enum class Kind { outside, inside, mixed };

  void fill_row(const Affine& y, const Affine& to) {
    const int64_t units = (g_.pitch + g_.unit_positions - 1) / g_.unit_positions;
    const auto zero = [&] { each_unit(0, units, [&](const Affine& unit) { zero_unit(to, unit); }); };
    const auto copy = [&] {
      for (int64_t begin = 0, end = 0; begin < units; begin = end) {
        const Kind kind = kind_of(begin);
        for (end = begin + 1; end < units && kind != Kind::mixed && kind_of(end) == kind;) ++end;
        each_unit(begin, end, [&](const Affine& unit) {
          kind == Kind::outside ? zero_unit(to, unit) : copy_unit(y, to, unit, begin, kind);
        });
      }
    };
    b_.when(loops::Compare::lt, y, 0, zero, [&] { b_.when(loops::Compare::ge, y, spec_.src.h, zero, copy); });
  }

  template <class Use>
  void each_unit(int64_t begin, int64_t end, const Use& use) {
    if (end - begin == 1) return use(Affine(begin));
    b_.loop("unit", begin, end, 1, [&](Affine unit) { use(unit); });
  }

  bool is_inside(int64_t position) const {
    return position >= spec_.pad_left && position < spec_.pad_left + spec_.src.w;
  }

  /// Whether all or none of a unit's positions are columns of the source.
  Kind kind_of(int64_t unit) const {
    int64_t inside = 0;
    for (int64_t i = 0; i < g_.unit_positions; ++i) inside += is_inside(unit * g_.unit_positions + i) ? 1 : 0;
    return inside == 0 ? Kind::outside : inside == g_.unit_positions ? Kind::inside : Kind::mixed;
  }

  void store_zero(const Affine& at) {
    for (int64_t group = 0; group < g_.set_groups; ++group)
      for (int64_t part = 0; part < g_.parts; ++part)
        b_.store(stage_, at + group * (g_.phases_h * g_.plane_words) + part * g_.part_words,
                 loops::constant_i32(0, lanes_));
  }

  void zero_unit(const Affine& to, const Affine& unit) {
    for (int64_t word = 0; word < g_.unit_words; word += k_row_words)
      store_zero(to + unit * g_.unit_words + word);
  }

  /// `unit` is `number` where it is mixed.
  void copy_unit(const Affine& y, const Affine& to, const Affine& unit, int64_t number, Kind kind) {
    const Affine at = to + unit * g_.unit_words, x = unit * g_.unit_positions - spec_.pad_left;
    if (g_.width > lanes_) return copy_position(y, at, x);
    for (int64_t i = 0; i < g_.unit_positions; ++i) {
      const bool reads = kind == Kind::inside || is_inside(number * g_.unit_positions + i);
      b_.assign(cells_, i, reads ? source(0, y, x + i) : loops::constant(0, lanes_));
    }
    const int64_t first = zip_blocks();
    std::vector<PartSplitter::Pair> pairs;
    for (int64_t group = 0; group < g_.set_groups; ++group)
      pairs.emplace_back(b_.read(cells_, first + 2 * group), b_.read(cells_, first + 2 * group + 1));
    splitter_.split(pairs, [&](int64_t part, const std::vector<Value>& words) {
      for (int64_t group = 0; group < g_.set_groups; ++group)
        b_.store(stage_, at + group * (g_.phases_h * g_.plane_words) + part * g_.part_words, words[group]);
    });
  }

  void copy_position(const Affine& y, const Affine& at, const Affine& x) {
    for (int64_t vector = 0; vector < g_.width / lanes_; vector += 2)
      splitter_.split({{source(vector, y, x), source(vector + 1, y, x)}},
                      [&](int64_t part, const std::vector<Value>& words) {
                        const Affine to = at + vector / 2 * k_row_words + part * g_.part_words;
                        b_.store(stage_, to, words.front());
                      });
  }

  Value source(int64_t vector, const Affine& y, const Affine& x) const {
    return b_.load(src_, pixel_index(spec_.src, n_, first_block_ + vector, y, x), lanes_);
  }

  /// Half a group of every position in one vector each, from a position in each: a transposition of blocks,
  /// by zipping vectors i and i + half. Returns the first cell of the result.
  int64_t zip_blocks() {
    const int64_t vectors = g_.unit_positions, half = vectors / 2, block = lanes_ / vectors;
    int64_t from = 0;
    for (int64_t done = 1; done < vectors; done *= 2) {
      for (int64_t i = 0; i < half; ++i)
        for (int64_t high = 0; high < 2; ++high) {
          std::vector<int> lanes;
          for (int64_t lane = 0; lane < lanes_; ++lane) {
            const int64_t place = lane / block, taken = place / 2 + high * half;
            lanes.push_back(static_cast<int>(place % 2 * lanes_ + taken * block + lane % block));
          }
          b_.assign(cells_, vectors - from + 2 * i + high,
                    loops::shuffle(b_.read(cells_, from + i), b_.read(cells_, from + i + half), lanes));
        }
      from = vectors - from;
    }
    return from;
  }

  Builder& b_;
  const ConvSpec& spec_;
  const AmxGroupGeometry& g_;
  const int lanes_;
  BufferId src_, stage_;
  RegisterId cells_;
  PartSplitter splitter_;
  Affine n_, first_block_;
};

class GroupEmitter {
 public:
  GroupEmitter(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
               const targets::Target& target)
      : spec_(spec),
        tile_(tile),
        g_(spec, tile, target),
        lanes_(target.vector_lanes),
        most_tiles_(std::min(g_.tiles, k_most_sums)),
        groups_at_once_(std::min(g_.set_groups, most_tiles_ == 3 ? 1 : k_most_sums / most_tiles_)),
        b_(name),
        stage_(b_, spec_, g_, lanes_),
        weights_(b_.stream("weights", g_.weight_words(), 64, loops::Scalar::i32)),
        output_(b_, spec_, g_.sets * g_.set_vectors * lanes_, 1, lanes_),
        sums_(b_.scratch("sums", g_.sum_elems())) {
    b_.tiles(loops::k_most_tiles);
  }

  loops::LoopNest emit() {
    const Affine slice = b_.slices(spec_.dst.n * g_.sets * g_.row_blocks);
    const Affine image_set = b_.floor_div(slice, g_.row_blocks);
    y_ = b_.mod(slice, g_.row_blocks) * g_.rows;
    n_ = b_.floor_div(image_set, g_.sets);
    const Affine set = b_.mod(image_set, g_.sets);
    rows_ = b_.min(g_.rows, Affine(spec_.dst.h) - y_);
    stage_.fill(n_, set, y_);
    each(g_.set_vectors, [&](const Affine& vector) {
      const Affine weights = set * g_.set_words() + vector * g_.group_words();
      each(g_.set_groups / groups_at_once_, [&](const Affine& turn) {
        group_ = turn * groups_at_once_;
        emit_sums(weights + group_ * g_.group_words());
      });
      vector_ = set * g_.set_vectors + vector;
      emit_outputs();
    });
    return b_.finish();
  }

 private:
  template <class Use>
  void each(int64_t count, const Use& use) {
    if (count == 1) return use(Affine(0));
    b_.loop("i", 0, count, 1, [&](Affine i) { use(i); });
  }

  // ---- the products ---------------------------------------------------------------------------------------

  void emit_sums(const Affine& weights) {
    const int64_t whole = g_.tiles / most_tiles_ * most_tiles_;
    each(g_.segments == 1 ? Affine(1) : rows_, [&](const Affine& segment) {
      segment_ = segment;
      b_.loop("tile", 0, whole, most_tiles_, [&](Affine tile) { emit_tiles(weights, tile, most_tiles_); });
      if (whole < g_.tiles) emit_tiles(weights, whole, g_.tiles - whole);
    });
  }

  template <class Use>
  void each(const Affine& count, const Use& use) {
    if (count == Affine(1)) return use(Affine(0));
    b_.loop("segment", 0, count, 1, [&](Affine i) { use(i); });
  }

  void emit_tiles(const Affine& weights, const Affine& tile, int64_t count) {
    each_sum(tile, count, [&](int sum, const Affine&) { b_.tile_zero(sum); });
    const Affine first = segment_ * stage_.row_words() + tile * (loops::k_tile_rows * row_stride());
    const bool rolled = g_.phases_h == 1;
    const auto row = [&](const Affine& kh, const Affine& source) {
      b_.loop("step", 0, g_.row_steps, 1, [&](Affine step) {
        const Affine at = weights + (kh * g_.row_steps + step) * g_.step_words();
        if (tile_.streams_weights)
          b_.when(loops::Compare::eq, segment_ * g_.tiles + tile, 0, [&] { fetch_next(at); });
        emit_products(first + source + step * k_row_words, at, count);
      });
    };
    const int64_t next = spec_.dilation_h * stage_.row_words();
    if (rolled)
      b_.loop("kh", 0, spec_.kernel_h, 1, [&](Affine kh) { row(kh, kh * next); });
    else
      for (int64_t kh = 0; kh < spec_.kernel_h; ++kh) {
        const int64_t down = kh * spec_.dilation_h;
        row(kh, down % g_.phases_h * g_.plane_words + down / spec_.stride_h * stage_.row_words());
      }
    each_sum(tile, count, [&](int sum, const Affine& at) { b_.tile_store(sum, sums_, at); });
  }

  /// Between rows of a source tile.
  int64_t row_stride() const { return g_.row_outputs * spec_.stride_w * g_.position_words; }

  /// Calls use(tile register, its place in sums_) for `count` tiles of the groups in turn.
  template <class Use>
  void each_sum(const Affine& tile, int64_t count, const Use& use) {
    for (int64_t group = 0; group < groups_at_once_; ++group)
      for (int64_t m = 0; m < count; ++m) {
        const Affine row = (segment_ * g_.tiles + tile + m) * loops::k_tile_rows;
        use(static_cast<int>(group * count + m), ((group_ + group) * g_.sum_rows() + row) * k_row_words);
      }
  }

  /// What the next groups' same step reads.
  void fetch_next(const Affine& weights) {
    for (int64_t group = groups_at_once_; group < 2 * groups_at_once_; ++group)
      for (int64_t word = 0; word < g_.step_words(); word += k_row_words)
        b_.prefetch(weights_, weights + group * g_.group_words() + word);
  }

  /// Two sums at a time: their source tiles stay for all products that read them, and the other two sums'
  /// products fill the time until theirs are there.
  void emit_products(const Affine& source, const Affine& weights, int64_t count) {
    for (int64_t group = 0; group < groups_at_once_; ++group)
      for (int64_t m = 0; m < count; m += 2)
        emit_pair(source + (group_ + group) * (g_.phases_h * g_.plane_words) + m * tile_words(),
                  weights + group * g_.group_words(), static_cast<int>(group * count + m),
                  std::min<int64_t>(2, count - m));
  }

  int64_t tile_words() const { return loops::k_tile_rows * row_stride(); }

  void emit_pair(const Affine& source, const Affine& weights, int sum, int64_t count) {
    PartPair held{-1, -1};
    for (const PartPair& pair : part_pairs(tile_.products)) {
      if (pair.b != held.b) {
        weight_tile_ = k_first_weight_tile + (weight_tile_ + 1) % 2;
        b_.tile_load(weight_tile_, weights_, weights + pair.b * k_tile_elems);
      }
      for (int m = 0; m < count; ++m) {
        if (pair.a != held.a)
          b_.tile_load(k_first_source_tile + m, stage_.buffer(),
                       source + (pair.a * g_.part_words + m * tile_words()), row_stride());
        b_.tile_product(sum + m, k_first_source_tile + m, weight_tile_);
      }
      held = pair;
    }
  }

  // ---- the outputs ----------------------------------------------------------------------------------------

  void emit_outputs() {
    const int64_t row_outputs = g_.segments == 1 ? g_.output_pitch(spec_) : g_.tiles * g_.tile_outputs();
    const int64_t last = g_.sets * g_.set_vectors - 1;
    b_.loop("row", 0, rows_, 1, [&](Affine row) {
      if (output_.has_halo()) output_.zero_halo(n_, vector_, y_ + row);
      const auto write = [&](bool partial) { emit_row(row, row * row_outputs, partial); };
      if (!output_.treats_partial()) return write(false);
      b_.when(loops::Compare::eq, vector_, last, [&] { write(true); }, [&] { write(false); });
    });
  }

  /// One row of outputs, from the sums that start at `position`.
  void emit_row(const Affine& row, const Affine& position, bool partial) {
    const Affine y = y_ + row;
    output_.row({n_, vector_, y, 1, ConvOutput::Row::Tail::unknown}, [&](const Affine& begin, int64_t width) {
      const int64_t unroll = width % 4 == 0 ? 4 : 1;
      b_.loop("x", begin, begin + width, unroll, [&](Affine x) {
        for (int64_t i = 0; i < unroll; ++i)
          output_.store(sum_of(position + x + i, 0, g_.set_groups), {n_, vector_, y, x + i}, partial);
      });
    });
  }

  /// The sums of `count` groups at a position, side by side.
  Value sum_of(const Affine& position, int64_t group, int64_t count) const {
    const int width = static_cast<int>(std::min<int64_t>(g_.width, lanes_));
    if (count == 1) return b_.load(sums_, position * width + group * (g_.sum_rows() * k_row_words), width);
    std::vector<int> lanes;
    for (int lane = 0; lane < count * width; ++lane) lanes.push_back(lane);
    return loops::shuffle(sum_of(position, group, count / 2), sum_of(position, group + count / 2, count / 2),
                          std::move(lanes));
  }

  const ConvSpec spec_;
  const AmxTile tile_;
  const AmxGroupGeometry g_;
  const int lanes_;
  const int64_t most_tiles_, groups_at_once_;
  Builder b_;
  GroupStage stage_;
  BufferId weights_;
  ConvOutput output_;
  BufferId sums_;
  Affine n_, y_, rows_, vector_, group_, segment_;
  int weight_tile_ = k_first_weight_tile;
};

}  // namespace

loops::LoopNest conv_amx_groups(const std::string& name, const ConvSpec& spec, const AmxTile& tile,
                                const targets::Target& target) {
  require(conv_amx_groups_supports(spec, target), "conv_amx supports the convolution");
  return GroupEmitter(name, spec, tile, target).emit();
}

}  // namespace onepass::kernels
