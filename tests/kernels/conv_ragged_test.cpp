// SPDX-License-Identifier: Apache-2.0
//
// Groups whose channels do not fill vectors, against the definition in double.
#include <gtest/gtest.h>

#include <cmath>

#include "conv_reference.h"
#include "kernels/choice.h"
#include "support.h"

namespace onepass::kernels::test {
namespace {

/// Groups of `inputs` channels and `outputs`, a square kernel with all its padding.
struct Shape {
  const char* label;
  int64_t groups, inputs, outputs, kernel = 1, n = 1, h = 3, w = 4, stride = 1;
};

ConvSpec spec_of(const Shape& s, const targets::Target& target) {
  const int64_t lanes = target.vector_lanes, channels = s.groups * s.inputs;
  ConvSpec spec;
  spec.src = plain_map(s.n, channels, s.h, s.w);
  spec.dst = blocked_map(s.n, s.groups * s.outputs, (s.h - 1) / s.stride + 1, (s.w - 1) / s.stride + 1, lanes,
                         {1, 1, 1, 1});
  spec.kernel_h = spec.kernel_w = s.kernel;
  spec.stride_h = spec.stride_w = s.stride;
  spec.pad_top = spec.pad_left = s.kernel / 2;
  spec.groups = s.groups;
  spec.bias = true;
  spec.src = blocked_map(s.n, channels, s.h, s.w, lanes, required_halo(spec));
  return spec;
}

/// The best tile and the last one in the other order of slices. `x` holds the source's values.
void add_cases(const Shape& shape, const targets::Target& target, const std::vector<float>& x,
               std::vector<Case>& cases) {
  const ConvSpec spec = spec_of(shape, target);
  ASSERT_TRUE(conv_direct_supports(spec, target)) << shape.label << " " << target.name;
  const int64_t outputs = spec.dst.c;
  const std::vector<float> w = random_values(outputs * shape.inputs * shape.kernel * shape.kernel, 2);
  const std::vector<float> bias = random_values(outputs, 3), expected = reference(spec, x, w, bias);
  std::vector<ConvTile> tiles = conv_direct_tiles(spec, target);
  tiles.back().rows_outer = !tiles.back().rows_outer;
  if (tiles.size() > 1) tiles = {tiles.front(), tiles.back()};
  for (const ConvTile& tile : tiles) {
    const KernelChoice choice = ConvDirectChoice{spec, tile};
    const std::string label = std::string(shape.label) + " " + target.name;
    cases.push_back({label,
                     build("kernel" + std::to_string(cases.size()), choice, target),
                     {to_map(spec.src, x), pack_weights(choice, target, w),
                      pad_channels(bias, spec.dst, target), empty_map(spec.dst)},
                     [=](const Operands& after) {
                       expect_near(expected, from_map(spec.dst, after.back().values), 1e-5, label);
                       expect_zero_surround(spec.dst, after.back().values, label);
                       expect_untouched_outside(spec.dst, after.back().values, label);
                     }});
  }
}

void run(const std::vector<Shape>& shapes) {
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all()) {
    if (target.tile_products_per_ns > 0) continue;  // as on the class without tiles
    for (const Shape& shape : shapes)
      add_cases(shape, target, random_values(shape.n * shape.groups * shape.inputs * shape.h * shape.w, 1),
                cases);
  }
  run_cases(std::move(cases));
}

TEST(ConvRagged, MultiplesOfHalfAVector) {
  run({{.label = "5 of 24", .groups = 5, .inputs = 24, .outputs = 24, .kernel = 3, .h = 2, .w = 31},
       {.label = "3 of 24", .groups = 3, .inputs = 24, .outputs = 24, .kernel = 3, .n = 2, .stride = 2},
       {.label = "2 of 40", .groups = 2, .inputs = 40, .outputs = 40},
       {.label = "4 of 56", .groups = 4, .inputs = 56, .outputs = 56}});
}

TEST(ConvRagged, SeveralGroupsOfAVector) {
  run({{.label = "3 of 12", .groups = 3, .inputs = 12, .outputs = 12, .kernel = 3},
       {.label = "6 of 6", .groups = 6, .inputs = 6, .outputs = 6},
       {.label = "9 of 5", .groups = 9, .inputs = 5, .outputs = 5}});
}

TEST(ConvRagged, OtherWidthsInThanOut) {
  run({{.label = "4 of 8->24", .groups = 4, .inputs = 8, .outputs = 24},
       {.label = "2 of 24->16", .groups = 2, .inputs = 24, .outputs = 16},
       {.label = "3 of 5->16", .groups = 3, .inputs = 5, .outputs = 16},
       {.label = "4 of 12->7", .groups = 4, .inputs = 12, .outputs = 7}});
}

TEST(ConvRagged, KeepsNonFiniteValuesInTheirGroup) {
  const Shape shape{.label = "4 of 12", .groups = 4, .inputs = 12, .outputs = 12};
  std::vector<float> x = random_values(48 * 12, 1);
  x[13 * 12 + 5] = std::nanf("");
  x[40 * 12 + 7] = HUGE_VALF;
  std::vector<Case> cases;
  for (const targets::Target& target : targets::all()) add_cases(shape, target, x, cases);
  run_cases(std::move(cases));
}

}  // namespace
}  // namespace onepass::kernels::test
