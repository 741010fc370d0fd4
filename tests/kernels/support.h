// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/feature_map.h"
#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::kernels::test {

// ---- running a nest three ways ----------------------------------------------------------------------------

/// The memory of one operand of a nest, before the run or after it.
struct Operand {
  Operand(std::vector<float> initial) : values(std::move(initial)) {}  // NOLINT: values are an operand
  std::vector<float> values;
  int same_memory_as = -1;  ///< an earlier operand whose memory this one is (values are then ignored)
};
using Operands = std::vector<Operand>;

/// One nest on one set of operands. `check` gets every operand as the interpreter left it.
struct Case {
  std::string label;
  loops::LoopNest nest;
  Operands operands;
  std::function<void(const Operands& after)> check;
  /// False for operands too large for the interpreter and for C that is not optimised: LLVM's code only, and
  /// `check` sees what its first run left.
  bool interpret = true;
};

/// Runs every case through the loop interpreter, as LLVM code for each target that this host executes, and as
/// printed C compiled by the system's `cc` (when there is one). All must leave the same bits (any NaN equals
/// any NaN). Native runs see operands that end at an unmapped page, inputs that cannot be written, scratch
/// filled with NaN, and their slices in reverse order. Faults are test failures that name the case.
void run_cases(std::vector<Case> cases);

/// One case; returns its operands afterwards.
Operands run_case(const std::string& label, loops::LoopNest nest, Operands operands);

// ---- values -----------------------------------------------------------------------------------------------

std::vector<float> random_values(int64_t count, uint64_t seed, double low = -1, double high = 1);
std::vector<float> nan_values(int64_t count);

/// What the memory around a map's values holds.
enum class Surround { zero, nan };

/// The memory of `map`: `nchw` (n * c * h * w values) in place, `halo` around it, lanes behind the last
/// channel zero, everything else (gaps between planes, other channels of a slice) NaN.
std::vector<float> to_map(const FeatureMap& map, std::span<const float> nchw, Surround halo = Surround::zero);
/// Memory for a result: NaN everywhere.
std::vector<float> empty_map(const FeatureMap& map);
/// The values of `map` in the order n, c, h, w.
std::vector<float> from_map(const FeatureMap& map, std::span<const float> memory);

// ---- expectations -----------------------------------------------------------------------------------------

/// The halo of `map` and its lanes behind the last channel are zero (of either sign in the lanes).
void expect_zero_surround(const FeatureMap& map, std::span<const float> memory, const std::string& label);
/// Everything outside the map (gaps, other channels) is NaN still: nothing wrote there.
void expect_untouched_outside(const FeatureMap& map, std::span<const float> memory, const std::string& label);
/// Same bits, or NaN both.
void expect_same_bits(std::span<const float> expected, std::span<const float> actual,
                      const std::string& label);
/// |expected - actual| <= tolerance * max(1, max|expected|); NaN and infinities at the same places.
void expect_near(std::span<const float> expected, std::span<const float> actual, double tolerance,
                 const std::string& label);
/// values(map) have these bits, its surround is zero and nothing else was written.
void expect_map(const FeatureMap& map, std::span<const float> memory, std::span<const float> expected_nchw,
                const std::string& label);

/// Distance of `actual` from the exact value in units of the last place of a float near `exact`, or near
/// k_least_for_ulp where `exact` is smaller; 0 when both are NaN or the same infinity, infinite when only one
/// is.
constexpr double k_least_for_ulp = 0x1p-118;
double ulp_distance(double exact, float actual);

}  // namespace onepass::kernels::test
