// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/diagnostic.h"
#include "kernels/pointwise.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

struct Extents {
  int64_t src_h, src_w, dst_h, dst_w;
};

LinearAxis half_pixel(int64_t src, int64_t dst) {
  return {2 * src, src - dst, 2 * dst};
}
LinearAxis align_corners(int64_t src, int64_t dst) {
  return dst > 1 ? LinearAxis{src - 1, 0, dst - 1} : LinearAxis{0, 0, 1};
}
LinearAxis asymmetric(int64_t src, int64_t dst) {
  return {src, 0, dst};
}

/// One entry along an axis of `values`, a fraction of the way from one to the next.
double between(double first, double second, double part) {
  return (part < 1 ? first * (1 - part) : 0) + (part > 0 ? second * part : 0);
}

/// The definition in double, from the positions as real numbers.
std::vector<float> reference(const LinearResizeSpec& spec, std::span<const float> x) {
  const FeatureMap &src = spec.src, &dst = spec.dst;
  const auto position = [](const LinearAxis& axis, int64_t extent, int64_t entry) {
    const double at =
        static_cast<double>(axis.scale * entry + axis.shift) / static_cast<double>(axis.divisor);
    return std::min(std::max(at, 0.0), static_cast<double>(extent - 1));
  };
  std::vector<float> y;
  for (int64_t plane = 0; plane < dst.n * dst.c; ++plane)
    for (int64_t row = 0; row < dst.h; ++row)
      for (int64_t column = 0; column < dst.w; ++column) {
        const double at_y = position(spec.rows, src.h, row), at_x = position(spec.columns, src.w, column);
        const auto y0 = static_cast<int64_t>(at_y), x0 = static_cast<int64_t>(at_x);
        const auto line = [&](int64_t h) -> double {
          const float* from = x.data() + (plane * src.h + std::min(h, src.h - 1)) * src.w;
          return between(from[x0], from[std::min(x0 + 1, src.w - 1)], at_x - static_cast<double>(x0));
        };
        y.push_back(static_cast<float>(between(line(y0), line(y0 + 1), at_y - static_cast<double>(y0))));
      }
  return y;
}

using Coordinates = LinearAxis (*)(int64_t, int64_t);

LinearResizeSpec spec_of(int64_t c, const Extents& e, Coordinates coordinates,
                         const targets::Target& target) {
  return {blocked_map(2, c, e.src_h, e.src_w, target.vector_lanes, {1, 0, 0, 2}),
          blocked_map(2, c, e.dst_h, e.dst_w, target.vector_lanes, {1, 2, 3, 1}),
          coordinates(e.src_h, e.dst_h), coordinates(e.src_w, e.dst_w)};
}

Case resize_case(const LinearResizeSpec& spec, const std::vector<float>& x, const std::string& label,
                 const targets::Target& target) {
  const std::vector<float> expected = reference(spec, x);
  return {label,
          resize_linear("f", spec, target),
          {to_map(spec.src, x, Surround::nan), linear_weights(spec.rows, spec.src.h, spec.dst.h),
           linear_weights(spec.columns, spec.src.w, spec.dst.w), empty_map(spec.dst)},
          [=](const Operands& after) {
            expect_near(expected, from_map(spec.dst, after[3].values), 1e-6, label);
            expect_zero_surround(spec.dst, after[3].values, label);
            expect_untouched_outside(spec.dst, after[3].values, label);
          }};
}

void run(const std::vector<Extents>& all, std::initializer_list<int64_t> channels) {
  const std::pair<const char*, Coordinates> modes[] = {
      {"half_pixel", half_pixel}, {"align_corners", align_corners}, {"asymmetric", asymmetric}};
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Extents& e : all)
      for (const int64_t c : channels)
        for (const auto& [name, mode] : modes) {
          const LinearResizeSpec spec = spec_of(c, e, mode, target);
          cases.push_back(resize_case(
              spec, random_values(spec.src.values(), 1),
              std::string(name) + " to " + std::to_string(e.dst_h) + "x" + std::to_string(e.dst_w), target));
        }
  run_cases(std::move(cases));
}

}  // namespace

TEST(ResizeLinear, WholeFactors) {
  run({{3, 5, 6, 10}, {2, 3, 8, 9}, {4, 6, 4, 24}, {1, 1, 3, 4}}, {1, 17, 32});
}

TEST(ResizeLinear, OtherExtents) {
  run({{5, 7, 8, 11}, {6, 9, 3, 4}, {8, 8, 3, 5}, {3, 40, 5, 39}, {7, 5, 1, 1}}, {9});
}

TEST(ResizeLinear, NeighboursOfWeightZeroAreNotRead) {
  constexpr float k_infinity = std::numeric_limits<float>::infinity();
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Extents& e : {Extents{3, 4, 6, 8}, Extents{3, 4, 5, 7}}) {
      const LinearResizeSpec spec = spec_of(1, e, asymmetric, target);
      std::vector<float> x = random_values(spec.src.values(), 1);
      x[5] = k_infinity;
      x[7] = -k_infinity;
      cases.push_back(resize_case(spec, x, "infinities", target));
    }
  run_cases(std::move(cases));
}

TEST(ResizeLinear, OtherChannelsAreRefused) {
  const targets::Target& target = targets::all().front();
  EXPECT_THROW(resize_linear("f", {blocked_map(1, 8, 3, 3, 8), blocked_map(1, 16, 6, 6, 8), {}, {}}, target),
               InternalError);
}

TEST(ResizeLinear, Estimate) {
  const Estimate estimate =
      estimate_resize_linear({blocked_map(1, 8, 3, 3, 8), blocked_map(1, 8, 6, 6, 8, {1, 1, 1, 1}),
                              half_pixel(3, 6), half_pixel(3, 6)});
  EXPECT_EQ(estimate.bytes_read, 8 * 9 * 4);
  EXPECT_EQ(estimate.bytes_written, 8 * 64 * 4);
}

}  // namespace onepass::kernels::test
