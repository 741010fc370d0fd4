// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv_output.h"

#include <algorithm>

#include "kernels/halo.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::Value;

constexpr int64_t k_run_bytes = 24 << 10;  ///< of finished vectors: about half of L1

/// Rows of channels in several blocks: a vector may belong to two of them.
bool is_cut(const ConvSpec& spec, int64_t lanes) {
  const FeatureMap& dst = spec.dst;
  return dst.block > 1 && dst.block < dst.c && dst.block != lanes && !spec.phases;
}

/// Vectors of outputs that do not lie in one block as a whole.
std::vector<int64_t> cut_vectors(const FeatureMap& dst, int64_t lanes) {
  std::vector<int64_t> cut;
  for (int64_t vector = 0; vector * lanes < dst.c; ++vector) {
    const int64_t end = (vector + 1) * lanes;
    if (end > dst.c || vector * lanes / dst.block != (end - 1) / dst.block) cut.push_back(vector);
  }
  return cut;
}

/// The destination is plain, and its rows are not rows of channels as well.
bool is_plain(const ConvSpec& spec) {
  const FeatureMap& dst = spec.dst;
  const bool column = dst.c == 1 && dst.h == 1;  // one channel is a row of channels already
  return dst.block == 1 && !spec.phases && dst.h * dst.w > 1 && !column;
}

bool reads_map(const EpilogueStep& step) {
  return step.kind == EpilogueStep::Kind::binary &&
         (step.operand.kind == StepOperand::Kind::map || step.operand.kind == StepOperand::Kind::gate);
}

/// Pixels of a run: whole squares, runs of about equal length.
int64_t run_pixels(const FeatureMap& dst, int64_t vectors, int64_t lanes) {
  const int64_t most = std::max<int64_t>(1, k_run_bytes / 4 / (vectors * lanes * lanes)) * lanes;
  if (dst.w <= most) return dst.w;
  const int64_t runs = (dst.w + most - 1) / most;
  return ((dst.w + runs - 1) / runs + lanes - 1) / lanes * lanes;
}

FeatureMap with_block(FeatureMap map, int64_t block) {
  map.block = block;
  return map;
}

}  // namespace

bool conv_output_writes(const ConvSpec& spec, const targets::Target& target) {
  const FeatureMap& dst = spec.dst;
  const int64_t lanes = target.vector_lanes;
  if (dst.block == lanes || (dst.block >= dst.c && dst.h == 1)) return true;
  if (!dst.halo.empty() || spec.phases) return false;
  constexpr size_t k_most_cut = 12;  // each has code of its own
  const bool cut = is_cut(spec, lanes);
  if (cut && (dst.block < lanes || dst.c % dst.block != 0 || cut_vectors(dst, lanes).size() > k_most_cut))
    return false;
  const int64_t operand_block = cut || is_plain(spec) ? lanes : dst.block;
  return std::all_of(spec.epilogue.steps.begin(), spec.epilogue.steps.end(), [&](const EpilogueStep& step) {
    return !reads_map(step) || step.operand.map.block == operand_block;
  });
}

double plain_output_flops(const ConvSpec& spec, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes;
  if (!is_plain(spec) && !is_cut(spec, lanes)) return 0;
  // Shuffles, and once through L1, take as long as so many.
  const double k_flops_per_element = is_plain(spec) ? 6 : 2;
  const int64_t vectors = (spec.dst.c + lanes - 1) / lanes;
  return k_flops_per_element * static_cast<double>(spec.dst.n * vectors * lanes * spec.dst.h * spec.dst.w);
}

ConvOutput::ConvOutput(loops::Builder& builder, const ConvSpec& spec, int64_t bias_elems,
                       int64_t most_vectors, int vector_lanes)
    : b_(builder),
      spec_(spec),
      lanes_(vector_lanes),
      plain_(is_plain(spec)),
      cut_(is_cut(spec, vector_lanes)),
      run_pixels_(runs() ? run_pixels(spec.dst, most_vectors, vector_lanes) : spec.dst.w),
      finished_(runs() ? with_block(spec.dst, vector_lanes) : destination(spec)),
      bias_(spec.bias
                ? builder.input("bias", spec.phases ? finished_.blocks() * vector_lanes : bias_elems, 64)
                : loops::BufferId{}),
      epilogue_(builder, spec.epilogue, finished_, vector_lanes),
      dst_(output_map(builder, "dst", destination(spec))) {
  if (runs()) run_ = b_.scratch("run", most_vectors * run_pixels_ * lanes_);
  if (plain_) square_ = square_registers(b_, lanes_);
}

void ConvOutput::row(const Row& row, const Columns& body) {
  row_ = row;
  const auto columns = [&](const Affine& begin, int64_t width) {
    begin_ = begin;
    body(begin, width);
    if (runs()) write_run(width);
  };
  const int64_t whole = spec_.dst.w / run_pixels_ * run_pixels_;
  if (whole == run_pixels_) columns(0, run_pixels_);
  if (whole > run_pixels_)
    b_.loop("run", 0, whole, run_pixels_, [&](Affine begin) { columns(begin, run_pixels_); });
  if (whole < spec_.dst.w) columns(whole, spec_.dst.w - whole);
}

bool ConvOutput::treats_partial() const {
  if (runs() || tail() == 0) return false;
  return !blocked() || !keeps_zero(spec_.epilogue);
}

ConvOutput::Place ConvOutput::place_of(const Affine& vector, const Affine& y, const Affine& x) const {
  if (!spec_.phases) return {channel_block(vector), y, x, 0};
  const OutputPhases& phases = *spec_.phases;
  const Affine phase = b_.mod(vector, phases.count());
  const Affine row = phases.count_w == 1 ? phase : b_.floor_div(phase, phases.count_w);
  const Affine column = phases.count_w == 1 ? Affine(0) : b_.mod(phase, phases.count_w);
  return {b_.floor_div(vector, phases.count()), y * phases.step_h + phases.first_h + row,
          x * phases.step_w + phases.first_w + column, column};
}

/// Zero behind the last channel.
Value ConvOutput::masked(const Value& value) const {
  return loops::select(loops::Compare::lt, loops::lane_index(lanes_), loops::constant_i32(tail(), lanes_),
                       value, loops::constant(0, lanes_));
}

void ConvOutput::store(Value sum, const At& at, bool partial) {
  const FeatureMap& dst = destination(spec_);
  const Place to = place_of(at.vector, at.y, at.x);
  const Affine channel = spec_.phases ? to.block * lanes_ : at.vector * lanes_;
  const bool rows = !blocked() && !runs();
  const std::optional<int> active = rows && partial ? std::optional(static_cast<int>(tail())) : std::nullopt;
  // A bias in front of the sum would make every term round at the size of the bias.
  if (spec_.bias) sum = loops::binary(loops::Binary::add, sum, b_.load(bias_, channel, lanes_));
  const Value result = epilogue_.apply(sum, {at.n, to.block, to.y, to.x, lanes_, channel, active});
  if (runs()) return b_.store(run_, run_index(at.vector - row_.vector, at.x - begin_), result);
  const Affine index = pixel_index(dst, at.n, to.block, to.y, to.x) + (rows ? channel : Affine(0));
  const bool masks = blocked() && tail() != 0 && !keeps_zero(spec_.epilogue);
  if (masks && spec_.phases)  // the last block of every phase
    return b_.when(
        loops::Compare::eq, to.block, dst.blocks() - 1, [&] { b_.store(dst_, index, masked(result)); },
        [&] { b_.store(dst_, index, result); });
  b_.store(dst_, index, masks && partial ? masked(result) : result, active);
}

void ConvOutput::zero_halo(const Affine& n, const Affine& vector, const Affine& y) {
  if (!has_halo()) return;
  const Place at = place_of(vector, y, 0);
  const auto zero = [&] { zero_halo_of_row(b_, dst_, destination(spec_), {n, at.block, at.y}, lanes_); };
  if (!spec_.phases) return zero();
  if (!spec_.phases->writes_halo) return;
  // Phases side by side share a row.
  spec_.phases->count_w == 1 ? zero() : b_.when(loops::Compare::eq, at.phase_column, 0, zero);
}

// ---- runs: dst is plain, or rows of channels in blocks ---------------------------------------------------

Affine ConvOutput::run_index(const Affine& slot, const Affine& pixel) const {
  return (slot * run_pixels_ + pixel) * lanes_;
}

void ConvOutput::write_run(int64_t width) {
  if (cut_) {
    const std::vector<int64_t> cut = cut_vectors(spec_.dst, lanes_);
    if (row_.vectors == 1) return write_rows(0, width, cut);
    return b_.loop("v", 0, row_.vectors, 1, [&](Affine v) { write_rows(v, width, cut); });
  }
  const bool partial = row_.tail == Row::Tail::last && tail() != 0;
  const int64_t full = partial ? row_.vectors - 1 : row_.vectors;
  if (full == 1) write_vector(0, width);
  if (full > 1) b_.loop("v", 0, full, 1, [&](Affine v) { write_vector(v, width); });
  if (partial) write_squares(full, width, tail());
}

void ConvOutput::write_vector(const Affine& slot, int64_t width) {
  const auto whole = [&] { write_squares(slot, width, lanes_); };
  if (row_.tail != Row::Tail::unknown || tail() == 0) return whole();
  const auto rest = [&] { write_squares(slot, width, tail()); };
  const int64_t last = spec_.dst.c / lanes_;
  if (last == 0) return rest();
  b_.when(loops::Compare::eq, row_.vector, last, rest, whole);
}

/// Vectors that are cut have code of their own: `cut` names those that this one may still be.
void ConvOutput::write_rows(const Affine& slot, int64_t width, std::span<const int64_t> cut) {
  const int64_t block = spec_.dst.block;
  if (cut.empty()) {
    const Affine channel = (row_.vector + slot) * lanes_;
    const Affine of = b_.floor_div(channel, block);
    return write_piece({of, channel - of * block, slot, 0, lanes_}, width);
  }
  const auto pieces = [&] {
    const int64_t begin = cut.front() * lanes_, end = std::min(begin + lanes_, spec_.dst.c);
    for (int64_t channel = begin; channel < end;) {
      const int64_t next = std::min(end, (channel / block + 1) * block);
      write_piece({channel / block, channel % block, slot, channel - begin, next - channel}, width);
      channel = next;
    }
  };
  b_.when(loops::Compare::eq, row_.vector + slot, cut.front(), pieces,
          [&] { write_rows(slot, width, cut.subspan(1)); });
}

void ConvOutput::write_piece(const Piece& piece, int64_t width) {
  const std::optional<int> active =
      piece.count < lanes_ ? std::optional(static_cast<int>(piece.count)) : std::nullopt;
  const int64_t unroll = width % 4 == 0 ? 4 : 1;
  b_.loop("x", 0, width, unroll, [&](Affine x) {
    for (int64_t i = 0; i < unroll; ++i)
      b_.store(dst_, pixel_index(spec_.dst, row_.n, piece.block, row_.y, begin_ + x + i) + piece.inside,
               b_.load(run_, run_index(piece.slot, x + i) + piece.lane, lanes_, active), active);
  });
}

void ConvOutput::write_squares(const Affine& slot, int64_t width, int64_t channels) {
  const int64_t whole = width / lanes_ * lanes_;
  if (whole > 0) b_.loop("x", 0, whole, lanes_, [&](Affine x) { write_square(slot, x, lanes_, channels); });
  if (whole < width) write_square(slot, whole, width - whole, channels);
}

void ConvOutput::write_square(const Affine& slot, const Affine& x, int64_t pixels, int64_t channels) {
  for (int i = 0; i < lanes_; ++i)
    b_.assign(square_.rows, i,
              i < pixels ? b_.load(run_, run_index(slot, x + i), lanes_) : loops::constant(0, lanes_));
  const loops::RegisterId columns = transpose(b_, square_);
  const std::optional<int> active = pixels < lanes_ ? std::optional(static_cast<int>(pixels)) : std::nullopt;
  const Affine first = (row_.vector + slot) * lanes_;
  for (int64_t c = 0; c < channels; ++c)
    b_.store(dst_, pixel_index(spec_.dst, row_.n, first + c, row_.y, begin_ + x), b_.read(columns, c),
             active);
}

}  // namespace onepass::kernels
