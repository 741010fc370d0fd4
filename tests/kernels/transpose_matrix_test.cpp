// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "kernels/pointwise.h"
#include "kernels/support.h"

namespace onepass::kernels::test {

namespace {

struct Extents {
  int64_t matrices, rows, columns, run;
};

Case transpose_case(const Extents& e, const targets::Target& target) {
  const std::vector<float> x = random_values(e.matrices * e.rows * e.columns * e.run, 1);
  std::vector<float> expected;
  for (int64_t n = 0; n < e.matrices; ++n)
    for (int64_t column = 0; column < e.columns; ++column)
      for (int64_t row = 0; row < e.rows; ++row)
        for (int64_t i = 0; i < e.run; ++i)
          expected.push_back(x[((n * e.rows + row) * e.columns + column) * e.run + i]);
  const std::string label = std::to_string(e.matrices) + "x" + std::to_string(e.rows) + "x" +
                            std::to_string(e.columns) + "x" + std::to_string(e.run) + " " + target.name;
  return {label,
          transpose("f", transpose_spec(e.matrices, e.rows, e.columns, e.run), target),
          {x, nan_values(static_cast<int64_t>(x.size()))},
          [=](const Operands& after) { expect_same_bits(expected, after[1].values, label); }};
}

void run(std::initializer_list<Extents> extents) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all())
    for (const Extents& e : extents) cases.push_back(transpose_case(e, target));
  run_cases(std::move(cases));
}

}  // namespace

TEST(Transpose, squares_and_what_is_left_of_them) {
  run({{1, 1, 1, 1},
       {3, 2, 5, 1},
       {2, 16, 16, 1},
       {1, 17, 33, 1},
       {2, 85, 37, 1},
       {1, 7, 150, 1},
       {1, 150, 7, 1}});
}

TEST(Transpose, several_tiles_and_slices) {
  run({{2, 85, 200, 1}, {1, 700, 70, 1}, {1, 3000, 3, 1}, {1, 3, 12000, 1}, {300, 8, 9, 1}});
  const targets::Target& target = targets::find("x86-64-v3");
  EXPECT_GT(transpose("f", transpose_spec(2, 85, 400, 1), target).slices, 3);
  EXPECT_GT(transpose("f", transpose_spec(1, 9000, 4, 1), target).slices, 1);
  EXPECT_EQ(transpose("f", transpose_spec(10, 8, 8, 1), target).slices, 1);
}

TEST(Transpose, runs) {
  run({{2, 3, 4, 2}, {1, 5, 3, 16}, {2, 2, 29, 49}, {1, 2, 3, 130}});
}

TEST(Transpose, maps_of_other_extents_are_refused) {
  TransposeSpec spec = transpose_spec(2, 3, 4, 1);
  std::swap(spec.src, spec.dst);
  EXPECT_NO_THROW(transpose("f", spec, targets::all().front()));
  spec.src = spec.dst;
  EXPECT_THROW(transpose("f", spec, targets::all().front()), InternalError);
}

TEST(Transpose, estimate) {
  const Estimate estimate = estimate_transpose(transpose_spec(2, 3, 4, 5));
  EXPECT_EQ(estimate.bytes_read, 120 * 4);
  EXPECT_EQ(estimate.bytes_written, 120 * 4);
}

}  // namespace onepass::kernels::test
