// SPDX-License-Identifier: Apache-2.0
//
// dst = epilogue(src), vector by vector along rows. Where no map has a halo, the rows of a plane (of the
// whole map, when it is plain) are merged into long ones.
#include "base/diagnostic.h"
#include "kernels/halo.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::Value;
using OperandKind = StepOperand::Kind;

bool same_extents(const FeatureMap& a, const FeatureMap& b) {
  return a.n == b.n && a.c == b.c && a.h == b.h && a.w == b.w && a.block == b.block;
}

/// Whether `holds` for src, dst and every operand of their extents.
template <class Property>
bool every_map(const ElementwiseSpec& spec, Property holds) {
  for (const EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == OperandKind::map && !holds(step.operand.map)) return false;
  return holds(spec.src) && holds(spec.dst);
}

template <class Change>
ElementwiseSpec with_maps(ElementwiseSpec spec, Change change) {
  spec.src = change(spec.src);
  spec.dst = change(spec.dst);
  for (EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == OperandKind::map) step.operand.map = change(step.operand.map);
  return spec;
}

bool reads_channels(const Epilogue& epilogue) {
  for (const EpilogueStep& step : epilogue.steps)
    if (step.kind == EpilogueStep::Kind::affine || step.operand.kind == OperandKind::per_channel ||
        step.operand.kind == OperandKind::gate)
      return true;
  return false;
}

/// A contiguous map as one plane of one channel: any block that leaves no lanes over is then the same.
FeatureMap as_one_plane(const FeatureMap& map) {
  FeatureMap plane = plain_map(1, 1, 1, map.values());
  plane.offset = map.offset;
  plane.batch_stride = map.elems() - map.offset;
  return plane;
}

/// The same computation over maps with rows as long as the memory allows.
ElementwiseSpec merged(const ElementwiseSpec& spec, const targets::Target& target) {
  const bool whole = spec.src.block == 1 || spec.src.c % spec.src.block == 0;
  if (whole && !reads_channels(spec.epilogue) && every_map(spec, map_is_contiguous)) {
    const int64_t width = contiguous_row_pixels(spec.src.values(), 1, target.vector_lanes);
    return with_maps(spec, [&](const FeatureMap& map) { return with_row_pixels(as_one_plane(map), width); });
  }
  if (!every_map(spec, plane_is_contiguous)) return spec;
  const int64_t preferred = spec.src.block == 1 ? target.vector_lanes : 1;
  const int64_t width = contiguous_row_pixels(spec.src.h * spec.src.w, spec.src.block, preferred);
  return with_maps(spec, [&](const FeatureMap& map) { return with_row_pixels(map, width); });
}

/// What the lanes of a vector are.
enum class Lanes {
  pixels,         ///< of one channel: plain maps
  channel_block,  ///< the channels of a block
  channels,       ///< some of a pixel's channels: rows of channels, which are one block
};

Lanes lanes_of(const FeatureMap& map, const targets::Target& target) {
  if (map.block == 1) return Lanes::pixels;
  return map.block == target.vector_lanes ? Lanes::channel_block : Lanes::channels;
}

/// Builds the nest of one spec.
class Elementwise {
 public:
  Elementwise(const std::string& name, const ElementwiseSpec& spec, const targets::Target& target)
      : spec_(merged(spec, target)),
        meaning_(lanes_of(spec_.dst, target)),
        lanes_(target.vector_lanes),
        b_(name),
        src_(input_map(b_, "src", spec_.src)),
        epilogue_(b_, spec_.epilogue, spec_.dst, target.vector_lanes),
        dst_(output_map(b_, "dst", spec_.dst)) {}

  loops::LoopNest build() {
    const bool masks = spec_.dst.c % spec_.dst.block != 0 && !keeps_zero(spec_.epilogue);
    for_each_row(b_, row_grid(spec_.dst), [&](const RowPosition& row) {
      split_last_block(b_, spec_.dst, row.channel_block, masks, [&](bool last) { write_row(row, last); });
      zero_halo_of_row(b_, dst_, spec_.dst, {row.n, row.channel_block, row.y}, lanes_);
    });
    return b_.finish();
  }

 private:
  void write_row(const RowPosition& row, bool masked) {
    if (meaning_ == Lanes::pixels)
      return in_vectors("x", spec_.dst.w,
                        [&](Affine x, std::optional<int> active) { write(row, x, 0, active, false); });
    b_.loop("x", 0, spec_.dst.w, 1, [&](Affine x) {
      if (meaning_ == Lanes::channel_block) return write(row, x, 0, {}, masked);
      in_vectors("channel", spec_.dst.c,
                 [&](Affine channel, std::optional<int> active) { write(row, x, channel, active, false); });
    });
  }

  /// Steps of a vector over [0, count), the last one with fewer lanes.
  void in_vectors(const char* name, int64_t count,
                  const std::function<void(Affine, std::optional<int>)>& body) {
    const int64_t whole = count / lanes_ * lanes_;
    if (whole > 0) b_.loop(name, 0, whole, lanes_, [&](Affine at) { body(at, {}); });
    if (whole < count) body(whole, static_cast<int>(count - whole));
  }

  void write(const RowPosition& row, const Affine& x, const Affine& inside, std::optional<int> active,
             bool masked) {
    const Value loaded =
        b_.load(src_, pixel_index(spec_.src, row.n, row.channel_block, row.y, x) + inside, lanes_, active);
    Value result = epilogue_.apply(loaded, {.n = row.n,
                                            .channel_block = row.channel_block,
                                            .y = row.y,
                                            .x = x,
                                            .lanes = lanes_,
                                            .channel = row.channel_block * spec_.dst.block + inside,
                                            .active = active,
                                            .along_row = meaning_ == Lanes::pixels});
    if (masked) result = keep_lanes(result, channels_in_last_block(spec_.dst));
    b_.store(dst_, pixel_index(spec_.dst, row.n, row.channel_block, row.y, x) + inside, result, active);
  }

  const ElementwiseSpec spec_;
  const Lanes meaning_;
  const int lanes_;
  loops::Builder b_;
  const loops::BufferId src_;
  const EpilogueEmitter epilogue_;
  const loops::BufferId dst_;
};

}  // namespace

loops::LoopNest elementwise(const std::string& name, const ElementwiseSpec& spec,
                            const targets::Target& target) {
  require(same_extents(spec.src, spec.dst), "elementwise maps have the same extents and block");
  require(spec.dst.block == 1 || spec.dst.block == target.vector_lanes || spec.dst.block == spec.dst.c,
          "elementwise maps are plain, blocked by the target's vector, or rows of channels");
  for (const EpilogueStep& step : spec.epilogue.steps)
    if (step.operand.kind == OperandKind::map)
      require(same_extents(step.operand.map, spec.dst), "an operand map has the extents and block of dst");
  return Elementwise(name, spec, target).build();
}

Estimate estimate_elementwise(const ElementwiseSpec& spec) {
  const double flops = flops_per_element(spec.epilogue);
  const double lanes = static_cast<double>(value_bytes(spec.dst)) / sizeof(float);
  return {.flops = flops * static_cast<double>(spec.dst.values()),
          .executed_flops = flops * lanes,
          .pointwise_flops = flops * lanes,
          .bytes_read = value_bytes(spec.src) + operand_bytes(spec.epilogue, spec.dst),
          .bytes_written = value_and_halo_bytes(spec.dst)};
}

}  // namespace onepass::kernels
