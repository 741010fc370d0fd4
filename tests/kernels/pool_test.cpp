// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernels/pointwise.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

using Kind = PoolSpec::Kind;

struct Window {
  int64_t kernel_h, kernel_w, stride_h, stride_w, dilation_h, dilation_w;
  int64_t top, left, bottom, right;
  bool ceil_mode;
};

int64_t windows(int64_t src, int64_t pad_begin, int64_t pad_end, int64_t span, int64_t stride,
                bool ceil_mode) {
  const int64_t room = src + pad_begin + pad_end - span;
  const int64_t count = (ceil_mode ? (room + stride - 1) / stride : room / stride) + 1;
  return ceil_mode && (count - 1) * stride >= src + pad_begin ? count - 1 : count;
}

PoolSpec pool_spec(Kind kind, const FeatureMap& src, const Window& w, const Halo& dst_halo) {
  const int64_t h =
      windows(src.h, w.top, w.bottom, (w.kernel_h - 1) * w.dilation_h + 1, w.stride_h, w.ceil_mode);
  const int64_t width =
      windows(src.w, w.left, w.right, (w.kernel_w - 1) * w.dilation_w + 1, w.stride_w, w.ceil_mode);
  return {.kind = kind,
          .src = src,
          .dst = blocked_map(src.n, src.c, h, width, src.block, dst_halo),
          .kernel_h = w.kernel_h,
          .kernel_w = w.kernel_w,
          .stride_h = w.stride_h,
          .stride_w = w.stride_w,
          .dilation_h = w.dilation_h,
          .dilation_w = w.dilation_w,
          .pad_top = w.top,
          .pad_left = w.left,
          .pad_bottom = w.bottom,
          .pad_right = w.right};
}

/// One output straight from the definition, in float.
float pooled(const PoolSpec& s, const float* plane, int64_t y, int64_t x) {
  float best = -std::numeric_limits<float>::infinity();
  float sum = 0;
  int64_t count = 0;
  for (int64_t kh = 0; kh < s.kernel_h; ++kh)
    for (int64_t kw = 0; kw < s.kernel_w; ++kw) {
      const int64_t at_y = y * s.stride_h - s.pad_top + kh * s.dilation_h;
      const int64_t at_x = x * s.stride_w - s.pad_left + kw * s.dilation_w;
      const bool in_pads = at_y < s.src.h + s.pad_bottom && at_x < s.src.w + s.pad_right;
      const bool in_map = at_y >= 0 && at_x >= 0 && at_y < s.src.h && at_x < s.src.w;
      count += s.count_include_pad ? in_pads : in_map;
      if (!in_map) continue;
      const float value = plane[at_y * s.src.w + at_x];
      sum += value;
      if (value > best || std::isnan(value)) best = value;
    }
  if (s.kind == Kind::max) return best;
  return count == 0 ? 0.0f : sum / static_cast<float>(count);
}

std::vector<float> pooled(const PoolSpec& s, std::span<const float> x) {
  std::vector<float> result;
  for (int64_t plane = 0; plane < s.src.n * s.src.c; ++plane)
    for (int64_t y = 0; y < s.dst.h; ++y)
      for (int64_t column = 0; column < s.dst.w; ++column)
        result.push_back(pooled(s, x.data() + plane * s.src.h * s.src.w, y, column));
  return result;
}

std::string label_of(const PoolSpec& s) {
  const auto pair = [](int64_t a, int64_t b) { return std::to_string(a) + "x" + std::to_string(b); };
  return std::string(s.kind == Kind::max ? "max " : "average ") + pair(s.kernel_h, s.kernel_w) + " stride " +
         pair(s.stride_h, s.stride_w) + " dilation " + pair(s.dilation_h, s.dilation_w) + " c " +
         std::to_string(s.src.c) + " map " + pair(s.src.h, s.src.w) + " block " + std::to_string(s.src.block);
}

/// The same bits as the definition; src's halo is NaN: pools never read it.
Case exact_case(const PoolSpec& spec, const targets::Target& target) {
  const std::vector<float> x = random_values(spec.src.values(), 1);
  const std::string label = label_of(spec);
  const FeatureMap dst = spec.dst;
  return {label,
          pool("f", spec, target),
          {to_map(spec.src, x, Surround::nan), empty_map(dst)},
          [=, expected = pooled(spec, x)](const Operands& after) {
            expect_map(dst, after[1].values, expected, label);
          }};
}

constexpr Window k_windows[] = {
    {2, 2, 2, 2, 1, 1, 0, 0, 0, 0, false},  // no clipping
    {3, 3, 2, 2, 1, 1, 1, 1, 1, 1, false},  // ResNet
    {3, 3, 2, 2, 1, 1, 0, 0, 0, 0, true},   // SqueezeNet: the last window sticks out
    {5, 5, 1, 1, 1, 1, 2, 2, 2, 2, false},  // SPPF
    {3, 2, 1, 3, 1, 1, 1, 0, 0, 1, false},  // lopsided
    {2, 3, 1, 1, 2, 3, 1, 2, 1, 3, false},  // dilated
    {1, 9, 1, 2, 1, 1, 0, 4, 0, 4, true},   // wide: columns in a loop
    {3, 3, 3, 3, 1, 1, 1, 1, 1, 1, true},
};

}  // namespace

TEST(Pool, windows_over_maps_with_channel_tails) {
  std::vector<Case> cases;
  int64_t which = 0;
  constexpr int64_t k_channels[] = {1, 7, 9, 16, 17, 33};
  for (const targets::Target& target : targets::all())
    for (Kind kind : {Kind::max, Kind::average})
      for (const Window& window : k_windows)
        for (bool include_pad : {false, true}) {
          if (kind == Kind::max && include_pad) continue;
          const FeatureMap src =
              blocked_map(1 + which % 2, k_channels[which % 6], 9, 11, target.vector_lanes, {1, 2, 1, 0});
          PoolSpec spec = pool_spec(kind, src, window, which % 3 == 0 ? Halo{} : Halo{1, 2, 3, 1});
          spec.count_include_pad = include_pad;
          cases.push_back(exact_case(spec, target));
          ++which;
        }
  run_cases(std::move(cases));
}

TEST(Pool, windows_larger_than_the_map) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (Kind kind : {Kind::max, Kind::average}) {
      const FeatureMap src = blocked_map(1, 5, 2, 1, target.vector_lanes);
      cases.push_back(exact_case(pool_spec(kind, src, {3, 3, 1, 1, 1, 1, 2, 2, 2, 2, false}, {}), target));
      // Both taps of the middle columns are padding: -inf, or a mean of 0.
      cases.push_back(exact_case(pool_spec(kind, src, {1, 2, 1, 1, 1, 2, 0, 1, 0, 1, false}, {}), target));
    }
  run_cases(std::move(cases));
}

TEST(Pool, global) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (Kind kind : {Kind::max, Kind::average})
      for (int64_t c : {9, 40})
        for (const Halo& halo : {Halo{}, Halo{1, 1, 1, 1}}) {
          const FeatureMap src = blocked_map(2, c, 7, 13, target.vector_lanes, halo);
          const PoolSpec spec = pool_spec(kind, src, {7, 13, 1, 1, 1, 1, 0, 0, 0, 0, false}, {});
          const std::vector<float> x = random_values(src.values(), 1);
          cases.push_back({label_of(spec),
                           pool("f", spec, target),
                           {to_map(src, x, Surround::nan), empty_map(spec.dst)},
                           [=, expected = pooled(spec, x)](const Operands& after) {
                             expect_near(expected, from_map(spec.dst, after[1].values),
                                         kind == Kind::max ? 0 : 1e-6, label_of(spec));
                             expect_zero_surround(spec.dst, after[1].values, label_of(spec));
                           }});
        }
  run_cases(std::move(cases));
}

TEST(Pool, nan_wins_a_maximum) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (int64_t kernel : {2, 8}) {
      const FeatureMap src = blocked_map(1, 4, 8, 8, target.vector_lanes);
      const PoolSpec spec =
          pool_spec(Kind::max, src, {kernel, kernel, kernel, kernel, 1, 1, 0, 0, 0, 0, false}, {});
      std::vector<float> x = random_values(src.values(), 1);
      for (size_t i = 0; i < x.size(); i += 37) x[i] = std::numeric_limits<float>::quiet_NaN();
      for (size_t i = 5; i < x.size(); i += 11) x[i] = -std::numeric_limits<float>::infinity();
      cases.push_back({"nan",
                       pool("f", spec, target),
                       {to_map(src, x), empty_map(spec.dst)},
                       [=, expected = pooled(spec, x)](const Operands& after) {
                         expect_same_bits(expected, from_map(spec.dst, after[1].values), label_of(spec));
                       }});
    }
  run_cases(std::move(cases));
}

TEST(Pool, epilogue_is_masked_behind_the_last_channel) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (int64_t kernel : {3, 6}) {
      const FeatureMap src = blocked_map(1, 19, 6, 6, target.vector_lanes);
      PoolSpec spec = pool_spec(Kind::average, src, {kernel, kernel, 1, 1, 1, 1, 0, 0, 0, 0, false}, {});
      spec.epilogue.steps = {{.kind = EpilogueStep::Kind::binary,
                              .op = ir::Op::Add,
                              .operand = {.kind = StepOperand::Kind::scalar, .value = 2}}};
      const std::vector<float> x = random_values(src.values(), 1);
      std::vector<float> expected = pooled(spec, x);
      for (float& value : expected) value += 2;
      cases.push_back({"epilogue",
                       pool("f", spec, target),
                       {to_map(src, x), empty_map(spec.dst)},
                       [=](const Operands& after) {
                         expect_near(expected, from_map(spec.dst, after[1].values), 1e-6, label_of(spec));
                         expect_zero_surround(spec.dst, after[1].values, label_of(spec));
                       }});
    }
  run_cases(std::move(cases));
}

TEST(Pool, rows_are_shared_out_to_slices) {
  const targets::Target& target = targets::find("native");
  const FeatureMap src = blocked_map(1, 40, 57, 61, target.vector_lanes, {1, 1, 1, 1});
  Case test = exact_case(pool_spec(Kind::max, src, k_windows[1], {1, 1, 1, 1}), target);
  EXPECT_GT(test.nest.slices, 3);
  test.interpret = false;
  std::vector<Case> cases;
  cases.push_back(std::move(test));
  run_cases(std::move(cases));
}

TEST(Pool, estimate_counts_taps_in_the_map) {
  const PoolSpec spec =
      pool_spec(Kind::max, blocked_map(1, 8, 4, 4, 8), {3, 3, 1, 1, 1, 1, 1, 1, 1, 1, false}, {});
  const Estimate estimate = estimate_pool(spec);
  EXPECT_EQ(estimate.flops, 8 * 10 * 10);  // 2 + 3 + 3 + 2 taps along each axis
  EXPECT_EQ(estimate.bytes_read, 8 * 16 * 4);
}

}  // namespace onepass::kernels::test
