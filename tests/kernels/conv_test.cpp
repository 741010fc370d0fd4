// SPDX-License-Identifier: Apache-2.0
//
// conv_direct and conv_depthwise against plain loops in double, for every tile that is offered and every
// target.
#include "kernels/conv.h"

#include <gtest/gtest.h>

#include <cmath>

#include "conv_reference.h"
#include "conv_shapes.h"
#include "kernels/choice.h"
#include "support.h"

namespace onepass::kernels::test {
namespace {

TEST(ConvDirect, PointwiseWithChannelTails) {
  run({{.label = "1->1", .c = 1, .k = 1, .h = 3, .w = 5},
       {.label = "7->9", .c = 7, .k = 9, .h = 4, .w = 7},
       {.label = "17->33", .n = 2, .c = 17, .k = 33, .h = 3, .w = 13, .bias = false},
       {.label = "32->64", .c = 32, .k = 64, .h = 2, .w = 30},
       {.label = "stride 2", .c = 15, .k = 24, .h = 7, .w = 9, .stride = 2}},
      {false, true});
}

TEST(ConvDirect, Windows) {
  run({{.label = "3x3", .c = 9, .k = 16, .h = 6, .w = 15, .kernel_h = 3, .kernel_w = 3, .pad = 1},
       {.label = "3x3 s2",
        .c = 16,
        .k = 40,
        .h = 9,
        .w = 11,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride = 2,
        .pad = 1},
       {.label = "7x7 s2",
        .c = 3,
        .k = 20,
        .h = 14,
        .w = 17,
        .kernel_h = 7,
        .kernel_w = 7,
        .stride = 2,
        .pad = 3},
       {.label = "1x5", .c = 5, .k = 8, .h = 3, .w = 12, .kernel_w = 5},
       {.label = "3x1 dilated", .c = 4, .k = 17, .h = 9, .w = 5, .kernel_h = 3, .dilation = 2},
       {.label = "window beyond the map",
        .c = 2,
        .k = 3,
        .h = 2,
        .w = 2,
        .kernel_h = 5,
        .kernel_w = 5,
        .pad = 2}},
      {false, true});
}

TEST(ConvDirect, StagesAPlainSourceWithoutHalo) {
  for (const targets::Target& target : targets::all()) {
    std::vector<Case> cases;
    for (const Shape& shape :
         {Shape{.label = "3x3 s2",
                .n = 2,
                .c = 3,
                .k = 40,
                .h = 9,
                .w = 21,
                .kernel_h = 3,
                .kernel_w = 3,
                .stride = 2,
                .pad = 1},
          Shape{.label = "7x7", .c = 2, .k = 17, .h = 5, .w = 6, .kernel_h = 7, .kernel_w = 7, .pad = 3},
          Shape{.label = "dilated",
                .c = 4,
                .k = 8,
                .h = 8,
                .w = 35,
                .kernel_h = 3,
                .kernel_w = 3,
                .pad = 2,
                .dilation = 2}}) {
      ConvSpec spec = spec_of(shape, 1, target.vector_lanes);
      spec.src = plain_map(shape.n, shape.c, shape.h, shape.w);
      const std::vector<float> x = random_values(shape.n * shape.c * shape.h * shape.w, 1),
                               bias = random_values(shape.k, 3);
      const std::vector<float> w = random_values(shape.k * shape.c * shape.kernel_h * shape.kernel_w, 2);
      const KernelChoice choice = choose_conv(spec, target);
      const std::string label = std::string(shape.label) + " staged " + target.name;
      const std::vector<float> expected = reference(spec, x, w, bias);
      const auto check = [=](const Operands& after) {
        expect_near(expected, from_map(spec.dst, after.back().values), 1e-5, label);
        expect_zero_surround(spec.dst, after.back().values, label);
      };
      cases.push_back({label,
                       build("kernel" + std::to_string(cases.size()), choice, target),
                       {to_map(spec.src, x), pack_weights(choice, target, w),
                        pad_channels(bias, spec.dst, target), empty_map(spec.dst)},
                       check});
    }
    run_cases(std::move(cases));
  }
}

TEST(ConvDirect, MergesRowsWithoutChangingABit) {
  for (const targets::Target& target : targets::all()) {
    ConvSpec spec =
        spec_of({.label = "", .c = 16, .k = 32, .h = 7, .w = 7}, target.vector_lanes, target.vector_lanes);
    spec.dst = blocked_map(1, 32, 7, 7, target.vector_lanes);
    const std::vector<float> x = to_map(spec.src, random_values(16 * 49, 1)), w = random_values(16 * 32, 2);
    const std::vector<float> bias = pad_channels(random_values(32, 3), spec.dst, target);
    std::vector<std::vector<float>> results;
    for (int64_t merged_rows : {1, 7}) {
      const ConvTile tile{.pixels = 5, .vectors = 2, .merged_rows = merged_rows};
      const Operands after =
          run_case("merged rows", conv_direct("kernel", spec, tile, target),
                   {x, pack_conv_direct(spec, tile, target, w), bias, empty_map(spec.dst)});
      results.push_back(from_map(spec.dst, after.back().values));
    }
    expect_same_bits(results[0], results[1], target.name);
  }
}

TEST(ConvDirect, Groups) {
  run({{.label = "2 groups of 16",
        .c = 32,
        .k = 32,
        .h = 4,
        .w = 6,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad = 1,
        .groups = 2}},
      {false});
  // Groups of odd width read plain planes.
  run({{.label = "3 groups 5->16",
        .c = 15,
        .k = 48,
        .h = 4,
        .w = 6,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad = 1,
        .groups = 3}},
      {true});
}

TEST(ConvDepthwise, Windows) {
  run({{.label = "3x3",
        .c = 24,
        .k = 24,
        .h = 5,
        .w = 19,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad = 1,
        .groups = 24},
       {.label = "3x3 s2",
        .c = 9,
        .k = 9,
        .h = 9,
        .w = 10,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride = 2,
        .pad = 1,
        .groups = 9},
       {.label = "5x5",
        .n = 2,
        .c = 17,
        .k = 17,
        .h = 6,
        .w = 7,
        .kernel_h = 5,
        .kernel_w = 5,
        .pad = 2,
        .groups = 17,
        .bias = false},
       {.label = "7x7", .c = 8, .k = 8, .h = 7, .w = 16, .kernel_h = 7, .kernel_w = 7, .pad = 3, .groups = 8},
       {.label = "3x3 dilated",
        .c = 16,
        .k = 16,
        .h = 9,
        .w = 9,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad = 2,
        .dilation = 2,
        .groups = 16}},
      {false});
}

TEST(ConvDepthwise, NarrowGroups) {
  run({{.label = "groups of 2",
        .c = 24,
        .k = 24,
        .h = 4,
        .w = 9,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad = 1,
        .groups = 12},
       {.label = "groups of 4",
        .c = 32,
        .k = 32,
        .h = 4,
        .w = 5,
        .kernel_h = 3,
        .kernel_w = 3,
        .stride = 2,
        .pad = 1,
        .groups = 8},
       {.label = "groups of 8, dilated",
        .n = 2,
        .c = 24,
        .k = 24,
        .h = 6,
        .w = 27,
        .kernel_h = 3,
        .kernel_w = 3,
        .pad = 2,
        .dilation = 2,
        .groups = 3},
       {.label = "groups of 2, more taps than stay in registers",
        .c = 12,
        .k = 12,
        .h = 3,
        .w = 11,
        .kernel_w = 9,
        .pad = 1,
        .groups = 6,
        .bias = false}},
      {false});
}

TEST(ConvDirect, MatrixOfRows) {
  for (const targets::Target& target : targets::all()) {
    const int64_t rows = 5, inputs = 37, outputs = 26;
    ConvSpec spec{.src = matrix_map(rows, inputs), .dst = matrix_map(rows, outputs), .bias = true};
    const std::vector<float> x = random_values(rows * inputs, 1), w = random_values(outputs * inputs, 2);
    const std::vector<float> bias = random_values(outputs, 3);
    const KernelChoice choice = choose_conv(spec, target);
    const Operands after = run_case("matrix", build("kernel", choice, target),
                                    {x, pack_weights(choice, target, w), pad_channels(bias, spec.dst, target),
                                     nan_values(rows * outputs)});
    std::vector<float> expected;
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = bias[o];
        for (int64_t i = 0; i < inputs; ++i)
          sum += static_cast<double>(x[r * inputs + i]) * w[o * inputs + i];
        expected.push_back(static_cast<float>(sum));
      }
    expect_near(expected, after.back().values, 1e-5, target.name);
  }
}

TEST(ConvWinograd, WholeAndRaggedTiles) {
  for (const targets::Target& target : targets::all()) {
    std::vector<Case> cases;
    for (const Shape& shape :
         {Shape{.label = "whole", .c = 20, .k = 40, .h = 8, .w = 12, .kernel_h = 3, .kernel_w = 3, .pad = 1},
          Shape{.label = "ragged",
                .n = 2,
                .c = 7,
                .k = 17,
                .h = 7,
                .w = 9,
                .kernel_h = 3,
                .kernel_w = 3,
                .pad = 1},
          Shape{.label = "no pad",
                .c = 150,
                .k = 16,
                .h = 8,
                .w = 7,
                .kernel_h = 3,
                .kernel_w = 3,
                .bias = false}})
      for (int64_t m : {4, 2}) {
        ConvSpec spec = spec_of(shape, target.vector_lanes, target.vector_lanes);
        const WinogradTile tile{.m = m, .tiles = 5, .vectors = 2};
        spec.src =
            blocked_map(shape.n, shape.c, shape.h, shape.w, target.vector_lanes, winograd_halo(spec, tile));
        const std::vector<float> x = random_values(shape.n * shape.c * shape.h * shape.w, 1);
        const std::vector<float> w = random_values(shape.k * shape.c * 9, 2),
                                 bias = random_values(shape.bias ? shape.k : 0, 3);
        const std::vector<float> expected = reference(spec, x, w, bias);
        const std::string label = std::string(shape.label) + " F" + std::to_string(m) + " " + target.name;
        Operands operands = {to_map(spec.src, x), pack_conv_winograd(spec, tile, target, w)};
        if (shape.bias) operands.emplace_back(pad_channels(bias, spec.dst, target));
        operands.emplace_back(empty_map(spec.dst));
        const auto check = [=](const Operands& after) {
          expect_near(expected, from_map(spec.dst, after.back().values), 2e-6, label);
          expect_zero_surround(spec.dst, after.back().values, label);
        };
        cases.push_back({label, conv_winograd("kernel" + std::to_string(cases.size()), spec, tile, target),
                         std::move(operands), check});
      }
    run_cases(std::move(cases));
  }
}

/// conv -> * scale + shift -> Add(map) -> Sigmoid, in one kernel, against the same steps in plain loops.
TEST(ConvEpilogue, EveryKindOfStepAndMaskedTail) {
  for (const targets::Target& target : targets::all()) {
    ConvSpec spec =
        spec_of({.label = "", .c = 8, .k = 21, .h = 3, .w = 6}, target.vector_lanes, target.vector_lanes);
    const FeatureMap gate = blocked_map(1, 21, 1, 1, target.vector_lanes);
    using Step = EpilogueStep;
    spec.epilogue.steps = {
        {.kind = Step::Kind::affine},
        {.kind = Step::Kind::binary,
         .op = ir::Op::Sub,
         .accumulator_left = false,
         .operand = {.kind = StepOperand::Kind::map, .map = spec.dst}},
        {.kind = Step::Kind::binary,
         .op = ir::Op::Mul,
         .operand = {.kind = StepOperand::Kind::gate, .map = gate}},
        {.kind = Step::Kind::binary, .op = ir::Op::Div, .operand = {.kind = StepOperand::Kind::per_channel}},
        {.kind = Step::Kind::binary,
         .op = ir::Op::Add,
         .operand = {.kind = StepOperand::Kind::scalar, .value = 0.25}},
        {.kind = Step::Kind::activation, .activation = {ir::Op::Sigmoid, 0, 0}},
    };
    const std::vector<float> x = random_values(8 * 18, 1), w = random_values(8 * 21, 2),
                             bias = random_values(21, 3);
    const std::vector<float> scale = random_values(21, 4), shift = random_values(21, 5),
                             other = random_values(21 * 18, 6);
    const std::vector<float> gates = random_values(21, 7), divisor = random_values(21, 8, 1, 2);
    const KernelChoice choice = choose_conv(spec, target);
    const auto padded = [&](const std::vector<float>& v) { return pad_channels(v, spec.dst, target); };
    const Operands after = run_case(
        "epilogue", build("kernel", choice, target),
        {to_map(spec.src, x), pack_weights(choice, target, w), padded(bias), padded(scale), padded(shift),
         to_map(spec.dst, other), to_map(gate, gates), padded(divisor), empty_map(spec.dst)});
    ConvSpec plain = spec;
    std::vector<float> expected = reference(plain, x, w, bias);
    for (size_t i = 0; i < expected.size(); ++i) {
      const size_t c = i / 18;
      const double value =
          (other[i] - (static_cast<double>(expected[i]) * scale[c] + shift[c])) * gates[c] / divisor[c] +
          0.25;
      expected[i] = static_cast<float>(1 / (1 + std::exp(-value)));
    }
    expect_near(expected, from_map(spec.dst, after.back().values), 1e-5, target.name);
    expect_zero_surround(spec.dst, after.back().values, target.name);
  }
}

/// NaN and infinity reach exactly the outputs whose window holds them, in vector body and tails alike.
TEST(ConvDirect, KeepsNonFiniteValuesWhereTheyBelong) {
  for (const targets::Target& target : targets::all()) {
    ConvSpec spec =
        spec_of({.label = "", .c = 3, .k = 5, .h = 5, .w = 23, .kernel_h = 3, .kernel_w = 3, .pad = 1}, 1,
                target.vector_lanes);
    spec.epilogue.steps = {{.kind = EpilogueStep::Kind::activation, .activation = {ir::Op::Relu, 0, 0}}};
    std::vector<float> x = random_values(3 * 5 * 23, 1);
    x[2 * 23 + 22] = std::nanf("");
    const std::vector<float> w = random_values(3 * 5 * 9, 2), bias = random_values(5, 3);
    std::vector<float> expected = reference(spec, x, w, bias);
    for (float& value : expected)
      if (value < 0) value = 0;
    const KernelChoice choice = choose_conv(spec, target);
    const Operands after = run_case("nan", build("kernel", choice, target),
                                    {to_map(spec.src, x), pack_weights(choice, target, w),
                                     pad_channels(bias, spec.dst, target), empty_map(spec.dst)});
    expect_near(expected, from_map(spec.dst, after.back().values), 1e-5, target.name);
  }
}

}  // namespace
}  // namespace onepass::kernels::test
