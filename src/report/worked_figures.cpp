// SPDX-License-Identifier: Apache-2.0
#include "report/worked_figures.h"

#include <fmt/format.h>

#include "ir/types.h"

namespace onepass::report {

namespace {

constexpr int64_t k_half_bytes = 2, k_float_bytes = 4;
constexpr double k_mebibyte = 1024.0 * 1024.0;

std::string passes(const ir::Shape& shape) {
  const int64_t values = ir::element_count(shape);
  return fmt::format(
      "A map {} holds {} values. Conv, BatchNormalization and ReLU apart write it three times, {:.2f} "
      "million\n"
      "values; one kernel writes it once, {:.2f} million.\n",
      ir::to_string(shape), values, 3e-6 * static_cast<double>(values), 1e-6 * static_cast<double>(values));
}

std::string sizes(const ir::Shape& shape) {
  const auto values = static_cast<double>(ir::element_count(shape));
  return fmt::format("A map {} is {:.0f} MiB in half precision and {:.0f} MiB in single precision.\n",
                     ir::to_string(shape), values * k_half_bytes / k_mebibyte,
                     values * k_float_bytes / k_mebibyte);
}

/// Three kernels write the map three times and read it twice between them; one kernel writes it once.
std::string saved(const ir::Shape& shape, double bytes_per_ns) {
  const int64_t map_bytes = ir::element_count(shape) * k_float_bytes;
  const int64_t saved_bytes = 2 * map_bytes + 2 * map_bytes;
  return fmt::format(
      "One kernel in place of three saves two writes and two reads of {}: {} bytes in f32, at {:.1f} GB/s "
      "{:.3f} ms.\n"
      "No factor is applied: a cache that holds the map gives the bytes at its own bandwidth.\n",
      ir::to_string(shape), saved_bytes, bytes_per_ns, static_cast<double>(saved_bytes) / bytes_per_ns / 1e6);
}

}  // namespace

std::string worked_figures(double bytes_per_ns) {
  return passes({56, 56, 128}) + sizes({256, 256, 512}) + saved({56, 56, 128}, bytes_per_ns) +
         saved({256, 256, 512}, bytes_per_ns);
}

}  // namespace onepass::report
