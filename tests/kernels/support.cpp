// SPDX-License-Identifier: Apache-2.0
#include "kernels/support.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "ir/random_tensor.h"

namespace onepass::kernels::test {

namespace {

constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

bool same_bits(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

int64_t index_of(const FeatureMap& map, int64_t n, int64_t c, int64_t y, int64_t x) {
  return map.offset + n * map.batch_stride + c / map.block * map.plane_stride +
         (y + map.halo.top) * map.row_stride + (x + map.halo.left) * map.block + c % map.block;
}

/// visit(index, inside, n, c, y, x) for every element of the map with its halo and the lanes of its last
/// block.
template <class Visit>
void for_each_element(const FeatureMap& map, Visit&& visit) {
  const int64_t lanes = map.blocks() * map.block;
  for (int64_t n = 0; n < map.n; ++n)
    for (int64_t c = 0; c < lanes; ++c)
      for (int64_t y = -map.halo.top; y < map.h + map.halo.bottom; ++y)
        for (int64_t x = -map.halo.left; x < map.w + map.halo.right; ++x) {
          const bool in_plane = y >= 0 && y < map.h && x >= 0 && x < map.w;
          visit(index_of(map, n, c, y, x), in_plane, n, c, y, x);
        }
}

}  // namespace

std::vector<float> random_values(int64_t count, uint64_t seed, double low, double high) {
  const ir::Tensor tensor = ir::random_tensor(ir::DType::f32, {count}, seed, low, high);
  const auto values = tensor.data<float>();
  return {values.begin(), values.end()};
}

std::vector<float> nan_values(int64_t count) {
  return std::vector<float>(count, k_nan);
}

std::vector<float> empty_map(const FeatureMap& map) {
  return nan_values(map.elems());
}

std::vector<float> to_map(const FeatureMap& map, std::span<const float> nchw, Surround halo) {
  std::vector<float> memory = empty_map(map);
  const float outside = halo == Surround::zero ? 0.0f : k_nan;
  for_each_element(map, [&](int64_t index, bool in_plane, int64_t n, int64_t c, int64_t y, int64_t x) {
    if (!in_plane)
      memory.at(index) = outside;
    else
      memory.at(index) = c < map.c ? nchw[((n * map.c + c) * map.h + y) * map.w + x] : 0.0f;
  });
  return memory;
}

std::vector<float> from_map(const FeatureMap& map, std::span<const float> memory) {
  std::vector<float> values;
  values.reserve(map.values());
  for (int64_t n = 0; n < map.n; ++n)
    for (int64_t c = 0; c < map.c; ++c)
      for (int64_t y = 0; y < map.h; ++y)
        for (int64_t x = 0; x < map.w; ++x) values.push_back(memory[index_of(map, n, c, y, x)]);
  return values;
}

void expect_zero_surround(const FeatureMap& map, std::span<const float> memory, const std::string& label) {
  int64_t faults = 0;
  std::string first;
  for_each_element(map, [&](int64_t index, bool in_plane, int64_t n, int64_t c, int64_t y, int64_t x) {
    if ((in_plane && c < map.c) || memory[index] == 0.0f || faults++ > 0) return;
    first = std::to_string(memory[index]) + " in the " + (in_plane ? "lanes" : "halo") + " at n " +
            std::to_string(n) + " c " + std::to_string(c) + " y " + std::to_string(y) + " x " +
            std::to_string(x);
  });
  if (faults > 0)
    ADD_FAILURE() << label << ": " << faults << " elements should be zero, the first is " << first;
}

void expect_untouched_outside(const FeatureMap& map, std::span<const float> memory,
                              const std::string& label) {
  std::vector<bool> inside(memory.size(), false);
  for_each_element(map,
                   [&](int64_t index, bool, int64_t, int64_t, int64_t, int64_t) { inside[index] = true; });
  for (size_t i = 0; i < memory.size(); ++i)
    if (!inside[i] && !std::isnan(memory[i])) {
      ADD_FAILURE() << label << ": element " << i << " outside the map was written";
      return;
    }
}

void expect_same_bits(std::span<const float> expected, std::span<const float> actual,
                      const std::string& label) {
  ASSERT_EQ(expected.size(), actual.size()) << label;
  size_t different = 0;
  size_t first = 0;
  for (size_t i = 0; i < expected.size(); ++i)
    if (!same_bits(expected[i], actual[i]) && different++ == 0) first = i;
  if (different > 0)
    ADD_FAILURE() << label << ": " << different << " of " << expected.size() << " elements differ, first at "
                  << first << ": expected " << expected[first] << ", got " << actual[first];
}

void expect_near(std::span<const float> expected, std::span<const float> actual, double tolerance,
                 const std::string& label) {
  ASSERT_EQ(expected.size(), actual.size()) << label;
  double scale = 1;
  for (float value : expected)
    if (std::isfinite(value)) scale = std::max(scale, std::abs(static_cast<double>(value)));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double distance = std::abs(static_cast<double>(expected[i]) - actual[i]);
    if (same_bits(expected[i], actual[i]) || distance <= tolerance * scale) continue;
    ADD_FAILURE() << label << ": element " << i << " is " << actual[i] << ", expected " << expected[i]
                  << " (scale " << scale << ")";
    return;
  }
}

void expect_map(const FeatureMap& map, std::span<const float> memory, std::span<const float> expected_nchw,
                const std::string& label) {
  expect_same_bits(expected_nchw, from_map(map, memory), label);
  expect_zero_surround(map, memory, label);
  expect_untouched_outside(map, memory, label);
}

double ulp_distance(double exact, float actual) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  if (std::isnan(exact) || std::isnan(actual))
    return std::isnan(exact) && std::isnan(actual) ? 0 : k_infinity;
  const float nearest = static_cast<float>(exact);
  if (std::isinf(nearest) && std::isinf(actual) && std::signbit(nearest) == std::signbit(actual)) return 0;
  if (std::isinf(actual) || std::isinf(exact)) {
    // Next to overflow the neighbour of the largest float is infinity.
    const float largest = std::numeric_limits<float>::max();
    const double finite = std::isinf(actual) ? std::abs(exact) : std::abs(static_cast<double>(actual));
    const double ulp = std::ldexp(1.0, 127 - 23);
    const bool same_sign = std::signbit(exact) == std::signbit(actual);
    return same_sign && !std::isinf(exact) ? (static_cast<double>(largest) + ulp - finite) / ulp : k_infinity;
  }
  const int exponent = std::ilogb(std::max(std::abs(exact), k_least_for_ulp));
  return std::abs(exact - static_cast<double>(actual)) / std::ldexp(1.0, exponent - 23);
}

}  // namespace onepass::kernels::test
