// SPDX-License-Identifier: Apache-2.0
#include "ir/random_tensor.h"

#include <cmath>

namespace onepass::ir {

Tensor random_tensor(DType dtype, Shape shape, uint64_t seed, double low, double high) {
  Tensor values(DType::f64, std::move(shape));
  const bool floating = dtype == DType::f32 || dtype == DType::f64;
  uint64_t state = seed;
  for (double& element : values.data<double>()) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const double u = static_cast<double>(state >> 40U) / (1U << 24U);
    element = low + (high - low) * u;
    if (!floating) element = std::floor(element);
  }
  return values.cast(dtype);
}

}  // namespace onepass::ir
