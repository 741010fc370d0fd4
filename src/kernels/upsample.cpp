// SPDX-License-Identifier: Apache-2.0
//
// dst[y, x] = src[y / factor_h, x / factor_w]: each vector of a src row is stored factor_w times.
#include "base/diagnostic.h"
#include "kernels/halo.h"
#include "kernels/pointwise.h"
#include "kernels/rows.h"

namespace onepass::kernels {

loops::LoopNest upsample(const std::string& name, const UpsampleSpec& spec, const targets::Target& target) {
  const FeatureMap& src_map = spec.src;
  const FeatureMap& map = spec.dst;
  const int lanes = target.vector_lanes;
  require(src_map.block == lanes && map.block == lanes, "upsample maps are blocked by the target's vector");
  require(map.n == src_map.n && map.c == src_map.c && map.h == src_map.h * spec.factor_h &&
              map.w == src_map.w * spec.factor_w,
          "dst is src times the factors");
  loops::Builder b(name);
  const loops::BufferId src = input_map(b, "src", src_map);
  const loops::BufferId dst = output_map(b, "dst", map);
  const loops::RegisterId pixel = b.registers("pixel", {loops::Scalar::f32, lanes}, 1);
  for_each_row(b, row_grid(map), [&](const RowPosition& row) {
    const loops::Affine src_y = b.floor_div(row.y, spec.factor_h);
    b.loop("x", 0, src_map.w, 1, [&](loops::Affine x) {
      b.assign(pixel, 0, b.load(src, pixel_index(src_map, row.n, row.channel_block, src_y, x), lanes));
      b.unrolled("copy", spec.factor_w, [&](loops::Affine copy) {
        b.store(dst, pixel_index(map, row.n, row.channel_block, row.y, x * spec.factor_w + copy),
                b.read(pixel));
      });
    });
    zero_halo_of_row(b, dst, map, {row.n, row.channel_block, row.y}, lanes);
  });
  return b.finish();
}

Estimate estimate_upsample(const UpsampleSpec& spec) {
  constexpr double k_flops_per_element = 10;  // shuffles and addresses take as long as so many
  const double flops =
      k_flops_per_element * static_cast<double>(value_and_halo_bytes(spec.dst)) / sizeof(float);
  return {.executed_flops = flops,
          .pointwise_flops = flops,
          .bytes_read = value_bytes(spec.src),
          .bytes_written = value_and_halo_bytes(spec.dst)};
}

}  // namespace onepass::kernels
