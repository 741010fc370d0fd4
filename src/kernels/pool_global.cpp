// SPDX-License-Identifier: Apache-2.0
#include "kernels/pool_global.h"

#include "kernels/halo.h"
#include "kernels/pool_step.h"
#include "kernels/rows.h"

namespace onepass::kernels {

namespace {

using loops::Affine;
using loops::Value;

constexpr int64_t k_chains = 8;  ///< enough to hide the latency of an addition

/// chains[...] = the steps over one plane.
void run_chains(loops::Builder& b, const PoolSpec& spec, const FeatureMap& src_map, loops::BufferId src,
                loops::RegisterId chains, const RowPosition& plane) {
  const int lanes = static_cast<int>(src_map.block);
  const auto take = [&](const Affine& y, const Affine& x, int64_t count) {
    b.unrolled("chain", count, [&](Affine chain) {
      const Value tap = b.load(src, pixel_index(src_map, plane.n, plane.channel_block, y, x + chain), lanes);
      b.assign(chains, chain, pool_step(spec.kind, b.read(chains, chain), tap));
    });
  };
  b.unrolled("chain", k_chains, [&](Affine chain) { b.assign(chains, chain, pool_start(spec.kind, lanes)); });
  const int64_t whole = src_map.w / k_chains * k_chains;
  b.loop("y", 0, src_map.h, 1, [&](Affine y) {
    if (whole > 0) b.loop("x", 0, whole, k_chains, [&](Affine x) { take(y, x, k_chains); });
    if (whole < src_map.w) take(y, whole, src_map.w - whole);
  });
}

/// chains[0] = all chains, in pairs.
void join_chains(loops::Builder& b, PoolSpec::Kind kind, loops::RegisterId chains) {
  for (int64_t half = k_chains / 2; half > 0; half /= 2)
    b.unrolled("chain", half, [&](Affine chain) {
      b.assign(chains, chain, pool_step(kind, b.read(chains, chain), b.read(chains, chain + half)));
    });
}

}  // namespace

bool is_global_pool(const PoolSpec& spec) {
  const bool padded = spec.pad_top + spec.pad_left + spec.pad_bottom + spec.pad_right > 0;
  return !padded && spec.dst.h == 1 && spec.dst.w == 1 && spec.kernel_h == spec.src.h &&
         spec.kernel_w == spec.src.w && spec.dilation_h == 1 && spec.dilation_w == 1;
}

loops::LoopNest global_pool(const std::string& name, const PoolSpec& spec, const targets::Target& target) {
  const bool joined = plane_is_contiguous(spec.src);
  const FeatureMap src_map = joined ? with_row_pixels(spec.src, spec.src.h * spec.src.w) : spec.src;
  const int lanes = target.vector_lanes;
  loops::Builder b(name);
  const loops::BufferId src = input_map(b, "src", src_map);
  const EpilogueEmitter epilogue(b, spec.epilogue, spec.dst, lanes);
  const loops::BufferId dst = output_map(b, "dst", spec.dst);
  const loops::RegisterId chains = b.registers("chains", {loops::Scalar::f32, lanes}, k_chains);
  RowGrid grid = row_grid(spec.dst);
  grid.row_work_elems = src_map.h * src_map.w * src_map.block;
  for_each_row(b, grid, [&](const RowPosition& row) {
    run_chains(b, spec, src_map, src, chains, row);
    join_chains(b, spec.kind, chains);
    const bool masks = spec.dst.c % lanes != 0 && !keeps_zero(spec.epilogue);
    split_last_block(b, spec.dst, row.channel_block, masks, [&](bool last) {
      Value result = b.read(chains);
      const Value count = loops::constant(static_cast<double>(spec.kernel_h * spec.kernel_w), lanes);
      if (spec.kind == PoolSpec::Kind::average) result = loops::binary(loops::Binary::div, result, count);
      result = epilogue.apply(result, {.n = row.n,
                                       .channel_block = row.channel_block,
                                       .y = 0,
                                       .x = 0,
                                       .lanes = lanes,
                                       .channel = row.channel_block * lanes});
      if (last) result = keep_lanes(result, channels_in_last_block(spec.dst));
      b.store(dst, pixel_index(spec.dst, row.n, row.channel_block, 0, 0), result);
    });
    zero_halo_of_row(b, dst, spec.dst, {row.n, row.channel_block, row.y}, lanes);
  });
  return b.finish();
}

}  // namespace onepass::kernels
