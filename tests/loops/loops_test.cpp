// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "base/diagnostic.h"
#include "loops/builder.h"
#include "loops/check.h"
#include "loops/interpreter.h"
#include "loops/printer.h"

namespace onepass::test {

namespace {

using namespace loops;

constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();
constexpr float k_inf = std::numeric_limits<float>::infinity();

void run(const LoopNest& nest, std::vector<std::vector<float>>& operands) {
  std::vector<std::span<std::byte>> memory;
  for (auto& operand : operands) memory.push_back(std::as_writable_bytes(std::span(operand)));
  interpret(nest, memory, 0, nest.slices);
}

/// dst[i] = formula(a[i], b[i]).
std::vector<float> lanewise(const std::function<Value(Value, Value)>& formula, std::vector<float> a,
                            std::vector<float> b) {
  const int lanes = static_cast<int>(a.size());
  Builder builder("lanewise");
  const BufferId x = builder.input("x", lanes), y = builder.input("y", lanes),
                 dst = builder.output("dst", lanes);
  builder.store(dst, 0, formula(builder.load(x, 0, lanes), builder.load(y, 0, lanes)));
  std::vector<std::vector<float>> operands = {std::move(a), std::move(b), std::vector<float>(lanes)};
  run(builder.finish(), operands);
  return operands[2];
}

std::vector<float> lanewise(Binary op, std::vector<float> a, std::vector<float> b) {
  return lanewise([&](Value x, Value y) { return binary(op, std::move(x), std::move(y)); }, std::move(a),
                  std::move(b));
}

std::vector<float> lanewise(Unary op, std::vector<float> a) {
  return lanewise([&](const Value& x, const Value&) { return unary(op, x); }, a, a);
}

template <class Action>
std::string failure(Action action) {
  try {
    action();
  } catch (const InternalError& error) {
    return error.what();
  }
  return "no error";
}

MATCHER_P(SameBits, value, "") {
  return std::bit_cast<uint32_t>(float(arg)) == std::bit_cast<uint32_t>(float(value));
}

using testing::ElementsAre;
using testing::HasSubstr;

}  // namespace

// ---- the interpreter --------------------------------------------------------------------------------------

TEST(Interpreter, MaximumAndMinimumTakeTheSecondOperandWhenUnordered) {
  EXPECT_THAT(lanewise(Binary::max, {k_nan, 3, 0.0f, -0.0f}, {1, k_nan, -0.0f, 0.0f}),
              ElementsAre(1, testing::IsNan(), SameBits(-0.0f), SameBits(0.0f)));
  EXPECT_THAT(lanewise(Binary::min, {k_nan, 3, 0.0f, 2}, {1, k_nan, -0.0f, -k_inf}),
              ElementsAre(1, testing::IsNan(), SameBits(-0.0f), -k_inf));
}

TEST(Interpreter, TruncationGivesTheSmallestIntegerOutOfRange) {
  const auto result = lanewise(
      [](const Value& x, const Value&) { return unary(Unary::bits_to_f32, unary(Unary::to_i32, x)); },
      {k_nan, 3e9f, -3e9f, -2147483648.0f, 2147483520.0f, -1.9f, 1.9f, -0.0f}, std::vector<float>(8));
  std::vector<int32_t> words;
  for (const float value : result) words.push_back(std::bit_cast<int32_t>(value));
  const int32_t least = std::numeric_limits<int32_t>::min();
  EXPECT_THAT(words, ElementsAre(least, least, least, least, 2147483520, -1, 1, 0));
}

TEST(Interpreter, RoundingGoesToEvenAndKeepsTheSign) {
  EXPECT_THAT(lanewise(Unary::round_even, {0.5f, 1.5f, 2.5f, -0.5f}), ElementsAre(0, 2, 2, SameBits(-0.0f)));
  EXPECT_THAT(lanewise(Unary::neg, {0.0f, 1}), ElementsAre(SameBits(-0.0f), -1));
  EXPECT_THAT(lanewise(Unary::abs, {-0.0f, -k_inf}), ElementsAre(SameBits(0.0f), k_inf));
}

TEST(Interpreter, FmaRoundsOnce) {
  const float a = 1 + std::ldexp(1.0f, -23);
  const auto fused = [](const Value& x, const Value& y) { return fma(x, x, unary(Unary::neg, y)); };
  EXPECT_THAT(lanewise(fused, {a}, {a * a}), ElementsAre(std::ldexp(1.0f, -46)));
}

TEST(Interpreter, DenormalsAreKept) {
  const float denormal = std::numeric_limits<float>::denorm_min();
  EXPECT_THAT(lanewise(Binary::add, {denormal}, {denormal}), ElementsAre(2 * denormal));
}

TEST(Interpreter, NotEqualHoldsForNan) {
  const auto formula = [](const Value& x, const Value& y) {
    return select(Compare::ne, x, y, constant(1, 2), constant(0, 2));
  };
  EXPECT_THAT(lanewise(formula, {k_nan, 2}, {k_nan, 2}), ElementsAre(1, 0));
}

TEST(Interpreter, InactiveLanesAreZeroAndUntouched) {
  Builder b("active");
  const BufferId src = b.input("src", 2), dst = b.output("dst", 8);
  b.store(dst, 0, b.load(src, 0, 4, 2));
  b.store(dst, 6, b.load(src, 0, 4, 2), 2);
  std::vector<std::vector<float>> operands = {{1, 2}, std::vector<float>(8, 9)};
  run(b.finish(), operands);
  EXPECT_THAT(operands[1], ElementsAre(1, 2, 0, 0, 9, 9, 1, 2));
}

TEST(Interpreter, IntegersFloorDivide) {
  Builder b("integers");
  const BufferId src = b.input("src", 8), dst = b.output("dst", 8);
  const Affine slice = b.slices(8);
  const Affine quotient = b.floor_div(slice - 4, 3), rest = b.mod(slice - 4, 3);
  b.store(dst, slice, b.broadcast(src, quotient * 3 + rest + 4, 1));
  b.when(Compare::lt, quotient, -1, [&] { b.store(dst, slice, constant(-2, 1)); });
  std::vector<std::vector<float>> operands = {{0, 1, 2, 3, 4, 5, 6, 7}, std::vector<float>(8)};
  run(b.finish(), operands);
  EXPECT_THAT(operands[1], ElementsAre(-2, 1, 2, 3, 4, 5, 6, 7));
}

TEST(Interpreter, ScratchIsFreshInEverySlice) {
  Builder b("fresh");
  const BufferId tmp = b.scratch("tmp", 1), dst = b.output("dst", 4);
  const Affine slice = b.slices(2);
  b.store(dst, slice * 2, b.load(tmp, 0, 1));
  b.store(tmp, 0, constant(1, 1));
  b.store(dst, slice * 2 + 1, b.load(tmp, 0, 1));
  std::vector<std::vector<float>> operands = {std::vector<float>(4)};
  run(b.finish(), operands);
  EXPECT_THAT(operands[0], ElementsAre(testing::IsNan(), 1, testing::IsNan(), 1));
}

TEST(Interpreter, AccessesOutOfBoundsAreNamed) {
  for (const int64_t index : {-1, 5}) {
    Builder b("reader");
    const BufferId src = b.input("pixels", 8), dst = b.output("dst", 4);
    const Affine slice = b.slices(1);
    b.store(dst, 0, b.load(src, slice + index, 4));
    const LoopNest nest = b.finish();
    std::vector<std::vector<float>> operands = {std::vector<float>(8), std::vector<float>(4)};
    const std::string text = failure([&] { run(nest, operands); });
    EXPECT_THAT(text, HasSubstr("'reader'"));
    EXPECT_THAT(text, HasSubstr(index < 0 ? "element -1 of buffer pixels" : "element 8 of buffer pixels"));
  }
}

TEST(Interpreter, StridedStoresAreChecked) {
  Builder b("strided");
  const BufferId dst = b.output("dst", 9);
  b.store_strided(dst, 0, constant(1, 4), 3);
  const LoopNest nest = b.finish();
  std::vector<std::vector<float>> operands = {std::vector<float>(9)};
  EXPECT_THAT(failure([&] { run(nest, operands); }), HasSubstr("element 9 of buffer dst"));
}

TEST(Interpreter, UndefinedRegistersAreNamed) {
  Builder b("undefined");
  const BufferId dst = b.output("dst", 4);
  const RegisterId sum = b.registers("sum", {Scalar::f32, 4}, 2);
  const Affine slice = b.slices(2);
  b.when(Compare::eq, slice, 0, [&] { b.assign(sum, 1, constant(1, 4)); });
  b.store(dst, 0, b.read(sum, 1));
  const LoopNest nest = b.finish();
  std::vector<std::vector<float>> operands = {std::vector<float>(4)};
  EXPECT_THAT(failure([&] { run(nest, operands); }), HasSubstr("slot 1 of register sum is read before"));
}

TEST(Interpreter, OperandsAreChecked) {
  Builder b("operands");
  const BufferId dst = b.output("dst", 4);
  b.store(dst, 0, constant(1, 4));
  const LoopNest nest = b.finish();
  std::vector<std::vector<float>> small = {std::vector<float>(3)}, none, many(2, std::vector<float>(4));
  EXPECT_THAT(failure([&] { run(nest, small); }), HasSubstr("operand dst has 12 bytes"));
  EXPECT_THAT(failure([&] { run(nest, none); }), HasSubstr("operands are missing"));
  EXPECT_THAT(failure([&] { run(nest, many); }), HasSubstr("more operands"));
}

TEST(Interpreter, ShiftsAreChecked) {
  Builder b("shifts");
  const BufferId dst = b.output("dst", 2);
  const Value amount = binary(Binary::add, lane_index(2), constant_i32(31, 2));
  b.store(dst, 0, unary(Unary::bits_to_f32, binary(Binary::shift_left, constant_i32(1, 2), amount)));
  const LoopNest nest = b.finish();
  std::vector<std::vector<float>> operands = {std::vector<float>(2)};
  EXPECT_THAT(failure([&] { run(nest, operands); }), HasSubstr("shift"));
}

// ---- the check --------------------------------------------------------------------------------------------

namespace {

using Fault = std::function<void(Builder&, BufferId src, BufferId dst, RegisterId reg)>;

std::string check_failure(const Fault& fault) {
  return failure([&] {
    Builder b("faulty");
    const BufferId src = b.input("src", 64), dst = b.output("dst", 64);
    const RegisterId reg = b.registers("reg", {Scalar::f32, 8}, 2);
    fault(b, src, dst, reg);
    b.finish();
  });
}

}  // namespace

TEST(Check, FaultsAreNamed) {
  EXPECT_EQ(check_failure([](Builder& b, BufferId src, BufferId dst, RegisterId) {
              b.store(dst, 0, b.load(src, 0, 8));
            }),
            "no error");
  EXPECT_THAT(
      check_failure([](Builder& b, BufferId src, BufferId, RegisterId) { b.store(src, 0, constant(1, 8)); }),
      HasSubstr("src is read-only"));
  EXPECT_THAT(check_failure([](Builder& b, BufferId, BufferId dst, RegisterId) {
                b.store(dst, 0, constant_i32(1, 8));
              }),
              HasSubstr("buffer's type"));
  EXPECT_THAT(
      check_failure([](Builder& b, BufferId, BufferId dst, RegisterId) { b.store(dst, 0, constant(1, 3)); }),
      HasSubstr("3 lanes"));
  EXPECT_THAT(
      check_failure([](Builder& b, BufferId, BufferId, RegisterId reg) { b.assign(reg, 2, constant(1, 8)); }),
      HasSubstr("slot 2 of register reg"));
  EXPECT_THAT(
      check_failure([](Builder& b, BufferId, BufferId, RegisterId reg) { b.assign(reg, 0, constant(1, 4)); }),
      HasSubstr("types of a register assignment"));
  EXPECT_THAT(check_failure([](Builder& b, BufferId, BufferId dst, RegisterId) {
                b.store(dst, 0, binary(Binary::add, constant(1, 8), constant(1, 4)));
              }),
              HasSubstr("types of a binary"));
  EXPECT_THAT(check_failure([](Builder& b, BufferId, BufferId dst, RegisterId) {
                b.store(dst, 0, shuffle(constant(1, 4), constant(1, 4), {0, 8}));
              }),
              HasSubstr("lane 8 of 8"));
}

TEST(Check, VariablesHaveScopes) {
  EXPECT_THAT(check_failure([](Builder& b, BufferId, BufferId dst, RegisterId) {
                Affine inside;
                b.loop("i", 0, 4, 1, [&](Affine i) { inside = i; });
                b.store(dst, inside, constant(1, 1));
              }),
              HasSubstr("i is used out of scope"));
  EXPECT_THAT(check_failure([](Builder& b, BufferId, BufferId, RegisterId reg) {
                b.loop("i", 0, 2, 1, [&](Affine i) { b.assign(reg, i, constant(1, 8)); });
              }),
              HasSubstr("depends on a loop that stays"));
  EXPECT_THAT(check_failure([](Builder& b, BufferId, BufferId, RegisterId) { b.floor_div(7, -2); }),
              HasSubstr("positive constant"));
}

TEST(Check, NestsMadeByHandAreChecked) {
  LoopNest nest{.name = "no identifier"};
  EXPECT_THAT(failure([&] { check(nest); }), HasSubstr("no identifier"));
  nest.name = "fine";
  check(nest);
  nest.slices = 2;
  EXPECT_THAT(failure([&] { check(nest); }), HasSubstr("slice variable"));
  nest.slices = 1;
  nest.body.push_back({Store{BufferId{3}, 0, constant(1, 1)}});
  EXPECT_THAT(failure([&] { check(nest); }), HasSubstr("buffer 3 is unknown"));
  nest.body = {{For{.var = {0}, .begin = 0, .end = 2}}};
  EXPECT_THAT(failure([&] { check(nest); }), HasSubstr("variable 0 is unknown"));
}

// ---- the printer ------------------------------------------------------------------------------------------

TEST(Printer, NestsAreReadable) {
  Builder b("shown");
  const BufferId src = b.input("src", 64, 64), dst = b.output("dst", 64), tmp = b.scratch("tmp", 8);
  const RegisterId sum = b.registers("sum", {Scalar::f32, 8}, 2);
  const Affine slice = b.slices(2);
  const Affine row = b.floor_div(slice, 2);
  b.unrolled("i", 2, [&](Affine i) { b.assign(sum, i, constant(0.5, 8)); });
  b.loop("k", row, slice * 2 - 1, 3, [&](Affine k) {
    const Value x = b.load(src, k * 8, 8, 3);
    b.assign(sum, 0, fma(x, x, b.read(sum)));
    b.when(
        Compare::le, k, slice, [&] { b.store_strided(tmp, 0, b.read(sum, 1), 2, 4); },
        [&] { b.store(dst, 8, binary(Binary::max, b.broadcast(src, 1, 8), constant(0, 8))); });
  });
  EXPECT_EQ(print(b.finish()), R"(nest shown slices 2
  input src: f32[64] align 64
  output dst: f32[64]
  scratch tmp: f32[8] align 64
  registers sum: f32x8[2]
  parallel slice.0
  let quotient.1 = floor_div(slice.0, 2)
  unrolled i.2 in 0 .. 2
    sum[i.2] = 0.5
  for k.3 in quotient.1 .. 2*slice.0 - 1 step 3
    %0 = load f32x8 src[8*k.3 active 3]
    sum[0] = fma(%0, %0, sum[0])
    if k.3 <= slice.0
      tmp[0 step 2 active 4] = sum[1]
    else
      dst[8] = max(broadcast f32x8 src[1], 0)
)");
}

}  // namespace onepass::test
