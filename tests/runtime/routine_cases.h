// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onepass::test {

/// A graph in text form, to be run as plain routines and by the reference interpreter on random inputs.
struct RoutineCase {
  std::string body;
  double tolerance = 0;  ///< of |a - b| / max(1, |b|); 0: the same bits (zeros may differ in sign)
  double low = -2, high = 2;
  bool specials = false;  ///< NaN, infinities and zeros among the inputs
};

/// Runs all cases in one model, with guard pages and a NaN-filled arena, on 1, 2 and 3 threads (the same
/// bits), and compares every output with the interpreter's.
void expect_cases(const std::vector<RoutineCase>& cases);

/// One node over inputs of the given types: "f32[2,3] f32[3]" are x0 and x1. `call` is such as "Add(x0, x1)"
/// or "TopK(x0, k) {axis=1}"; `constants` are lines of the text form.
std::string one_node(const std::string& input_types, const std::string& call,
                     const std::string& constants = "", const std::string& results = "y");

}  // namespace onepass::test
