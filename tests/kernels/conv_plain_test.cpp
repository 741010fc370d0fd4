// SPDX-License-Identifier: Apache-2.0
//
// Convolutions that write a plain map, or rows of channels: the same bits as into channel blocks.
#include <gtest/gtest.h>

#include <memory>

#include "kernels/choice.h"
#include "kernels/support.h"

namespace onepass::kernels::test {
namespace {

struct Shape {
  const char* label;
  int64_t n = 1, c = 1, k = 1, h = 1, w = 1;
  int64_t kernel = 1, groups = 1;
  bool bias = true;
};

ConvSpec spec_of(const Shape& s, const targets::Target& target, bool plain_source) {
  ConvSpec spec;
  spec.kernel_h = spec.kernel_w = s.kernel;
  spec.pad_top = spec.pad_left = s.kernel / 2;
  spec.groups = s.groups;
  spec.bias = s.bias;
  spec.dst = blocked_map(s.n, s.k, s.h, s.w, target.vector_lanes);
  spec.src = plain_map(s.n, s.c, s.h, s.w);
  const Halo halo = required_halo(spec);
  spec.src = plain_source ? plain_map(s.n, s.c, s.h, s.w, halo)
                          : blocked_map(s.n, s.c, s.h, s.w, target.vector_lanes, halo);
  return spec;
}

/// The best tile of every family.
std::vector<KernelChoice> choices(const ConvSpec& spec, const targets::Target& target) {
  std::vector<KernelChoice> result;
  if (conv_depthwise_supports(spec, target))
    result.push_back(ConvDepthwiseChoice{spec, conv_depthwise_tiles(spec, target).front()});
  if (conv_amx_supports(spec, target))
    result.push_back(ConvAmxChoice{spec, conv_amx_tiles(spec, 6, target).front()});
  if (conv_direct_supports(spec, target))
    result.push_back(ConvDirectChoice{spec, conv_direct_tiles(spec, target).front()});
  return result;
}

/// The same kernel with another destination.
KernelChoice writing(KernelChoice choice, const FeatureMap& dst) {
  std::visit(
      [&](auto& c) {
        if constexpr (requires { c.spec.groups; }) c.spec.dst = dst;
      },
      choice);
  return choice;
}

ConvSpec spec_in(const KernelChoice& choice) {
  ConvSpec spec;
  std::visit(
      [&](const auto& c) {
        if constexpr (requires { c.spec.groups; }) spec = c.spec;
      },
      choice);
  return spec;
}

/// n x c x h x w as rows of `block` channels.
FeatureMap rows_map(int64_t n, int64_t c, int64_t h, int64_t w, int64_t block) {
  FeatureMap map = plain_map(n, c, h, w);
  map.block = block;
  map.row_stride = w * block;
  map.plane_stride = h * map.row_stride;
  map.batch_stride = map.blocks() * map.plane_stride;
  return map;
}

/// (x * scale + shift), then minus a map, then an activation under which zero is not zero.
Epilogue steps_over(const FeatureMap& map) {
  using Step = EpilogueStep;
  return {{{.kind = Step::Kind::affine},
           {.kind = Step::Kind::binary,
            .op = ir::Op::Sub,
            .operand = {.kind = StepOperand::Kind::map, .map = map}},
           {.kind = Step::Kind::activation, .activation = {ir::Op::Sigmoid, 0, 0}}}};
}

struct Pair {
  std::vector<Case> blocked, plain;
};

void add_pair(const Shape& shape, const KernelChoice& choice, const FeatureMap& plain,
              const targets::Target& target, Pair& cases) {
  const ConvSpec spec = spec_in(choice);
  const std::vector<float> x = random_values(spec.src.values(), 1);
  const std::vector<float> w =
      random_values(shape.k * shape.c / shape.groups * shape.kernel * shape.kernel, 2);
  Operands operands = {to_map(spec.src, x), pack_weights(choice, target, w)};
  if (shape.bias) operands.emplace_back(pad_channels(random_values(shape.k, 3), spec.dst, target));
  if (!spec.epilogue.steps.empty()) {
    for (const uint64_t seed : {4, 5})
      operands.emplace_back(pad_channels(random_values(shape.k, seed), spec.dst, target));
    operands.emplace_back(to_map(spec.epilogue.steps[1].operand.map, random_values(spec.dst.values(), 6)));
  }
  const std::string label = std::string(shape.label) + " " + family_name(choice) + " " + target.name;
  const std::string number = std::to_string(cases.plain.size());
  auto expected = std::make_shared<std::vector<float>>();
  Operands into_plain = operands;
  operands.emplace_back(empty_map(spec.dst));
  into_plain.emplace_back(empty_map(plain));
  cases.blocked.push_back(
      {label, build("blocked" + number, choice, target), std::move(operands),
       [=](const Operands& after) { *expected = from_map(spec.dst, after.back().values); }});
  cases.plain.push_back(
      {label, build("plain" + number, writing(choice, plain), target), std::move(into_plain),
       [=](const Operands& after) { expect_map(plain, after.back().values, *expected, label); }});
}

bool supported(const KernelChoice& choice, const targets::Target& target) {
  const ConvSpec spec = spec_in(choice);
  return std::holds_alternative<ConvDirectChoice>(choice)      ? conv_direct_supports(spec, target)
         : std::holds_alternative<ConvDepthwiseChoice>(choice) ? conv_depthwise_supports(spec, target)
                                                               : conv_amx_supports(spec, target);
}

void run(const std::vector<Shape>& shapes, std::initializer_list<bool> with_steps,
         bool plain_source = false) {
  for (const targets::Target& target : targets::all()) {
    Pair cases;
    for (const Shape& shape : shapes)
      for (const bool steps : with_steps) {
        ConvSpec spec = spec_of(shape, target, plain_source);
        if (steps)
          spec.epilogue =
              steps_over(blocked_map(shape.n, shape.k, shape.h, shape.w, target.vector_lanes, {1, 0, 0, 1}));
        const size_t before = cases.plain.size();
        const FeatureMap plain = plain_map(shape.n, shape.k, shape.h, shape.w);
        for (const KernelChoice& choice : choices(spec, target))
          if (supported(writing(choice, plain), target)) add_pair(shape, choice, plain, target, cases);
        ASSERT_GT(cases.plain.size(), before) << shape.label;
      }
    run_cases(std::move(cases.blocked));
    run_cases(std::move(cases.plain));
  }
}

TEST(ConvPlain, channels_and_columns_of_every_remainder) {
  run({{.label = "one channel", .c = 7, .k = 1, .h = 3, .w = 5, .kernel = 3},
       {.label = "a few channels", .n = 2, .c = 20, .k = 10, .h = 2, .w = 17},
       {.label = "whole blocks", .c = 16, .k = 64, .h = 3, .w = 32},
       {.label = "a tail", .c = 33, .k = 85, .h = 4, .w = 13, .bias = false},
       {.label = "window", .n = 2, .c = 17, .k = 18, .h = 4, .w = 6, .kernel = 3}},
      {true});
}

TEST(ConvPlain, one_row_of_channels) {
  run({{.label = "one pixel", .n = 2, .c = 40, .k = 27},
       {.label = "one row of one channel", .c = 24, .k = 1, .h = 1, .w = 21}},
      {false});
}

TEST(ConvPlain, long_rows_are_written_in_runs) {
  run({{.label = "runs", .c = 2, .k = 35, .h = 1, .w = 301},
       {.label = "one vector", .c = 1, .k = 4, .h = 1, .w = 801}},
      {false});
}

TEST(ConvPlain, plain_sources) {
  run({{.label = "plain to plain", .c = 3, .k = 19, .h = 6, .w = 9, .kernel = 3}}, {true}, true);
}

TEST(ConvPlain, depthwise_and_groups) {
  run({{.label = "depthwise", .n = 2, .c = 24, .k = 24, .h = 5, .w = 19, .kernel = 3, .groups = 24},
       {.label = "few", .c = 4, .k = 4, .h = 3, .w = 33, .kernel = 3, .groups = 4},
       {.label = "one pixel", .c = 24, .k = 24, .groups = 24},
       {.label = "pairs", .c = 36, .k = 36, .h = 2, .w = 7, .kernel = 3, .groups = 18},
       {.label = "wide groups", .c = 32, .k = 32, .h = 2, .w = 6, .kernel = 3, .groups = 2}},
      {false});
}

TEST(ConvPlain, rows_of_channels) {
  struct Rows {
    Shape shape;
    int64_t block;
  };
  const std::vector<Rows> all_rows = {
      {{.label = "all channels", .n = 2, .c = 9, .k = 10, .h = 3, .w = 5}, 10},
      {{.label = "many channels", .c = 17, .k = 40, .h = 2, .w = 7, .kernel = 3}, 40},
      {{.label = "one of few", .c = 4, .k = 4, .h = 3, .w = 9, .kernel = 3, .groups = 4}, 4},
      {{.label = "depthwise", .c = 24, .k = 24, .h = 2, .w = 5, .kernel = 3, .groups = 24}, 24},
      {{.label = "three of 85", .c = 33, .k = 255, .h = 2, .w = 14}, 85},
      {{.label = "six of 21", .n = 2, .c = 5, .k = 126, .h = 2, .w = 3, .kernel = 3}, 21},
      {{.label = "whole vectors", .c = 8, .k = 96, .h = 2, .w = 5}, 48},
      {{.label = "long", .c = 2, .k = 40, .h = 1, .w = 301}, 20},
      {{.label = "depthwise of two", .c = 34, .k = 34, .h = 2, .w = 5, .kernel = 3, .groups = 34}, 17}};
  for (const targets::Target& target : targets::all()) {
    Pair cases;
    for (const auto& [shape, block] : all_rows)
      for (const KernelChoice& choice : choices(spec_of(shape, target, false), target)) {
        const FeatureMap rows = rows_map(shape.n, shape.k, shape.h, shape.w, block);
        if (supported(writing(choice, rows), target)) add_pair(shape, choice, rows, target, cases);
      }
    ASSERT_GE(cases.plain.size(), all_rows.size());
    run_cases(std::move(cases.blocked));
    run_cases(std::move(cases.plain));
  }
}

TEST(ConvPlain, rows_that_are_refused) {
  const targets::Target& target = targets::find("x86-64-v4");
  ConvSpec spec = spec_of({.label = "", .c = 8, .k = 24, .h = 3, .w = 3}, target, false);
  spec.dst = rows_map(1, 24, 3, 3, 24);
  EXPECT_TRUE(conv_direct_supports(spec, target));
  spec.dst = rows_map(1, 24, 3, 3, 8);
  EXPECT_FALSE(conv_direct_supports(spec, target)) << "a vector would be in three rows";
  spec.dst = rows_map(1, 24, 3, 3, 20);
  EXPECT_FALSE(conv_direct_supports(spec, target)) << "the last row is short";
}

TEST(ConvPlain, a_halo_and_operands_that_are_not_blocked_are_refused) {
  const targets::Target& target = targets::find("x86-64-v3");
  ConvSpec spec = spec_of({.label = "", .c = 8, .k = 8, .h = 3, .w = 3}, target, false);
  spec.dst = plain_map(1, 8, 3, 3);
  EXPECT_TRUE(conv_direct_supports(spec, target));
  spec.epilogue = steps_over(spec.dst);
  EXPECT_FALSE(conv_direct_supports(spec, target));
  spec.epilogue = {};
  spec.dst = plain_map(1, 8, 3, 3, {1, 1, 1, 1});
  EXPECT_FALSE(conv_direct_supports(spec, target));
}

TEST(ConvPlain, the_estimate_counts_fewer_bytes_and_more_work) {
  const targets::Target& target = targets::find("x86-64-v3");
  ConvSpec spec = spec_of({.label = "", .c = 8, .k = 9, .h = 8, .w = 8}, target, false);
  const KernelChoice blocked = choices(spec, target).front();
  const KernelChoice plain = writing(blocked, plain_map(1, 9, 8, 8));
  const Estimate before = estimate(blocked, target), after = estimate(plain, target);
  EXPECT_EQ(before.bytes_written, 16 * 64 * 4);
  EXPECT_EQ(after.bytes_written, 9 * 64 * 4);
  EXPECT_GT(after.pointwise_flops, before.pointwise_flops);
  EXPECT_EQ(after.efficiency, before.efficiency);
}

}  // namespace
}  // namespace onepass::kernels::test
