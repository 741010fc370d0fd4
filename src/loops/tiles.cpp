// SPDX-License-Identifier: Apache-2.0
#include "loops/tiles.h"

#include <array>
#include <bit>

#include "loops/lanes.h"

namespace onepass::loops {

namespace {

constexpr uint32_t k_sign = 0x80000000u;
constexpr uint32_t k_exponent = 0x7f800000u;

/// Denormals become zero of their sign.
uint32_t flushed(uint32_t word) {
  return (word & k_exponent) == 0 ? word & k_sign : word;
}

uint32_t rounded_bf16(uint32_t word) {
  const bool nan = (word & ~k_sign) > k_exponent;
  if (nan) return (word >> 16) | 0x40u;
  const uint32_t value = flushed(word);
  const uint32_t even = (value >> 16) & 1;
  return (value + 0x7fffu + even) >> 16;
}

using Row = std::array<uint32_t, k_tile_words>;

/// chain = fma(factor in every lane, b, chain)
void chain_step(uint32_t factor, const Row& b, Row& chain) {
  Row factors;
  factors.fill(flushed(factor));
  fma_lanes(k_tile_words, factors.data(), b.data(), chain.data(), chain.data());
  for (uint32_t& word : chain) word = flushed(word);
}

void add(const Row& a, Row& to) {
  binary_f32_lanes(Binary::add, k_tile_words, to.data(), a.data(), to.data());
  for (uint32_t& word : to) word = flushed(word);
}

}  // namespace

uint32_t pack_bf16(uint32_t low, uint32_t high) {
  return rounded_bf16(low) | rounded_bf16(high) << 16;
}

void tile_product(uint32_t* sum, const uint32_t* a, const uint32_t* b) {
  std::array<Row, k_tile_rows> low, high;
  for (int k = 0; k < k_tile_rows; ++k)
    for (int n = 0; n < k_tile_words; ++n) {
      low[k][n] = flushed(b[k * k_tile_words + n] << 16);
      high[k][n] = flushed(b[k * k_tile_words + n] & 0xffff0000u);
    }
  for (int m = 0; m < k_tile_rows; ++m) {
    Row even{}, odd{}, total;
    for (int k = 0; k < k_tile_words; ++k) {
      const uint32_t pair = a[m * k_tile_words + k];
      chain_step(pair << 16, low[k], even);
      chain_step(pair & 0xffff0000u, high[k], odd);
    }
    add(odd, even);
    uint32_t* row = sum + m * k_tile_words;
    for (int n = 0; n < k_tile_words; ++n) total[n] = flushed(row[n]);
    add(even, total);
    copy_words(k_tile_words, total.data(), row);
  }
}

}  // namespace onepass::loops
