// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "kernels/choice.h"

namespace onepass::budget {

/// How a convolution or matrix product takes its sums, most accurate first. The first three are about as
/// accurate as each other.
enum class Algorithm : uint8_t {
  direct,    ///< one chain of f32 fma for each output
  winograd,  ///< F(4x4, 3x3) or F(2x2, 3x3)
  amx6,      ///< six products of bf16 parts for each f32 product
  amx3,      ///< three
  bf16,      ///< one: plain bf16 products
};

inline constexpr std::array k_algorithms = {Algorithm::direct, Algorithm::winograd, Algorithm::amx6,
                                            Algorithm::amx3, Algorithm::bf16};

inline constexpr double k_round_bf16 = 1.6e-3;  ///< rms error of one rounding to bf16

const char* name(Algorithm algorithm);

/// Less accurate than a sum in f32: a network may use it only as far as its error budget allows.
bool is_loose(Algorithm algorithm);

/// What a kernel computes its sums with.
Algorithm algorithm_of(const kernels::KernelChoice& choice);

/// The policy under which `algorithm`, or one at least as accurate, is chosen.
kernels::ConvPolicy policy_for(Algorithm algorithm);

/// The error of a sum of `reduction` products, as docs/numerics.md measures it: rms of (result - exact),
/// relative to the root of the sum of the squared products.
double declared_error(Algorithm algorithm, int64_t reduction);

}  // namespace onepass::budget
