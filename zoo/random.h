// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace onepass::zoo {

/// Seeded numbers that are the same on every machine. The state starts at the FNV-1a hash (64 bits) of the
/// tensor's name plus the seed times k_step, and each number is the splitmix64 output of the next state:
///   state += k_step; z = state; z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
///   z = (z ^ z >> 27) * 0x94d049bb133111eb; z ^= z >> 31.
/// Only exact integer sums and one rounded product or two stand between z and a number.
class Random {
 public:
  Random(uint64_t seed, std::string_view tensor) {
    uint64_t hash = 0xcbf29ce484222325U;
    for (const char c : tensor) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
    state_ = hash + seed * k_step;
  }

  uint64_t next() {
    state_ += k_step;
    uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  /// In [low, high): 53 bits of z.
  double uniform(double low, double high) {
    return low + (high - low) * (static_cast<double>(next() >> 11U) * 0x1p-53);
  }

  /// Mean 0, variance 1, never beyond 3.47: the sum of four uniform numbers of 16 bits, shifted and scaled.
  double normal() {
    const uint64_t z = next();
    const uint64_t sum = (z & 0xffffU) + (z >> 16U & 0xffffU) + (z >> 32U & 0xffffU) + (z >> 48U);
    return (static_cast<double>(sum) - k_mean_of_sum) * k_scale_of_sum;
  }

 private:
  static constexpr uint64_t k_step = 0x9e3779b97f4a7c15U;
  static constexpr double k_mean_of_sum = 2 * 65535.0;
  static constexpr double k_scale_of_sum = 1.7320508075688772 / 65536;  ///< the sum's variance: 65536^2 / 3

  uint64_t state_;
};

}  // namespace onepass::zoo
