// SPDX-License-Identifier: Apache-2.0
#include "budget/algorithm.h"

#include <cmath>

#include "base/diagnostic.h"

namespace onepass::budget {

const char* name(Algorithm algorithm) {
  constexpr const char* k_names[] = {"direct", "winograd", "amx6", "amx3", "bf16"};
  return k_names[static_cast<int>(algorithm)];
}

bool is_loose(Algorithm algorithm) {
  return algorithm == Algorithm::amx3 || algorithm == Algorithm::bf16;
}

Algorithm algorithm_of(const kernels::KernelChoice& choice) {
  if (std::holds_alternative<kernels::ConvWinogradChoice>(choice)) return Algorithm::winograd;
  const auto* amx = std::get_if<kernels::ConvAmxChoice>(&choice);
  if (amx == nullptr) return Algorithm::direct;
  if (amx->tile.products == 6) return Algorithm::amx6;
  return amx->tile.products == 3 ? Algorithm::amx3 : Algorithm::bf16;
}

kernels::ConvPolicy policy_for(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::direct:
      return kernels::ConvPolicy::exact();
    case Algorithm::winograd:
      return {.winograd = true, .amx_products = 0};
    case Algorithm::amx6:
      return {.winograd = true, .amx_products = 6};
    case Algorithm::amx3:
      return {.winograd = true, .amx_products = 3};
    case Algorithm::bf16:
      return {.winograd = true, .amx_products = 1};
  }
  throw InternalError("an algorithm has a policy");
}

double declared_error(Algorithm algorithm, int64_t reduction) {
  constexpr double k_round_f32 = 2.5e-8;  // rms relative error of one rounding to f32
  const auto terms = static_cast<double>(reduction);
  // Partial sums grow like a random walk: the roundings of a chain add up to sqrt(terms / 2).
  const double chain = k_round_f32 * std::sqrt(1 + terms / 2);
  switch (algorithm) {
    case Algorithm::direct:
    case Algorithm::winograd:
    case Algorithm::amx6:
      return chain;
    case Algorithm::amx3:  // what is left out: two second parts' product, and both third parts
      return std::hypot(chain, std::sqrt(3.0) * k_round_bf16 * k_round_bf16);
    case Algorithm::bf16:
      return std::hypot(chain, std::sqrt(2.0) * k_round_bf16);
  }
  throw InternalError("an algorithm has an error");
}

}  // namespace onepass::budget
