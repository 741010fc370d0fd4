// SPDX-License-Identifier: Apache-2.0
#include "runtime/routine_cases.h"

namespace onepass::test {
namespace {

std::vector<RoutineCase> over_types(const std::string& op, const std::vector<std::string>& types, double low,
                                    double high) {
  std::vector<RoutineCase> cases;
  for (const std::string& type : types) {
    const auto types_of = [&](const char* a, const char* b) { return type + a + " " + type + b; };
    for (const auto& [a, b] :
         {std::pair{"[3,37]", "[3,37]"}, {"[2,3,4]", "[3,1]"}, {"[4]", "[5,1]"}, {"[]", "[9]"}})
      cases.push_back({one_node(types_of(a, b), op), 0, low, high});
  }
  return cases;
}

void append(std::vector<RoutineCase>& cases, const std::vector<RoutineCase>& more) {
  cases.insert(cases.end(), more.begin(), more.end());
}

TEST(Elementwise, ArithmeticOfEveryType) {
  std::vector<RoutineCase> cases;
  for (const char* op : {"Add(x0, x1)", "Sub(x0, x1)", "Mul(x0, x1)", "Min(x0, x1)", "Max(x0, x1)"})
    append(cases, over_types(op, {"f32", "f64", "i64", "i32", "i8", "u8"}, -100, 100));
  append(cases, over_types("Div(x0, x1)", {"f32", "f64"}, -3, 3));
  append(cases, over_types("Div(x0, x1)", {"i64", "i32", "i8", "u8"}, 1, 100));
  append(cases, over_types("Mod(x0, x1)", {"i64", "i32", "i8"}, -100, -1));
  append(cases, over_types("Mod(x0, x1) {fmod=1}", {"f32", "i64"}, 1, 100));
  expect_cases(cases);
}

TEST(Elementwise, SignsOfModAndDiv) {
  const std::string constants =
      "a = constant i32[6] {7, -7, 7, -7, -2147483648, 6}\n"
      "b = constant i32[6] {3, 3, -3, -3, -1, 3}\n";
  std::vector<RoutineCase> cases;
  for (const char* call : {"Mod(x0, b)", "Mod(x0, b) {fmod=1}", "Div(x0, b)", "Mod(a, x0)"})
    cases.push_back({one_node("i32[6]", call, constants), 0, 1, 9});
  expect_cases(cases);
}

TEST(Elementwise, Comparisons) {
  std::vector<RoutineCase> cases;
  for (const char* op :
       {"Equal(x0, x1)", "Greater(x0, x1)", "GreaterOrEqual(x0, x1)", "Less(x0, x1)", "LessOrEqual(x0, x1)"})
    append(cases, over_types(op, {"f32", "f64", "i64", "i32", "i8", "u8"}, 0, 4));
  for (const char* op : {"Equal(x0, x1)", "And(x0, x1)", "Or(x0, x1)"})
    append(cases, over_types(op, {"bool"}, 0, 2));
  cases.push_back({one_node("bool[7]", "Not(x0)")});
  cases.push_back({one_node("f32[40] f32[40]", "Greater(x0, x1)"), 0, -2, 2, true});
  expect_cases(cases);
}

TEST(Elementwise, ManyOperands) {
  expect_cases({{one_node("f32[2,3,4] f32[3,1] f32[4] f32[]", "Sum(x0, x1, x2, x3)")},
                {one_node("f32[4] f32[2,3,4] f32[3,1]", "Max(x0, x1, x2)"), 0, -2, 2, true},
                {one_node("i64[5] i64[5] i64[1]", "Min(x0, x1, x2)"), 0, -50, 50},
                {one_node("f32[6]", "Sum(x0)")},
                {one_node("f32[200,300] f32[300] f32[200,1]", "Sum(x0, x1, x2)")}});
}

TEST(Elementwise, SpecialValues) {
  std::vector<RoutineCase> cases;
  for (const char* call :
       {"Add(x0, x1)", "Div(x0, x1)", "Min(x0, x1)", "Max(x0, x1)", "PRelu(x0, x1)", "Pow(x0, x1)"})
    cases.push_back({one_node("f32[64] f32[64]", call), 0, -2, 2, true});
  expect_cases(cases);
}

TEST(Elementwise, PowerAndPRelu) {
  expect_cases({{one_node("f32[3,5] f32[5]", "Pow(x0, x1)"), 0, 0.1, 3},
                {one_node("i64[3,5] i64[5]", "Pow(x0, x1)"), 0, -3, 5},
                {one_node("i32[9] i32[9]", "Pow(x0, x1)"), 0, -9, 9},
                {one_node("f32[2,3,4,5] f32[3,1,1]", "PRelu(x0, x1)")},
                {one_node("f32[2,3] f32[1]", "PRelu(x0, x1)")}});
}

TEST(Elementwise, WhereOfEveryElementSize) {
  expect_cases({{one_node("bool[3,4] f32[3,4] f32[4]", "Where(x0, x1, x2)")},
                {one_node("bool[3,1] i64[] i64[2,1,4]", "Where(x0, x1, x2)")},
                {one_node("bool[9] u8[1] u8[9]", "Where(x0, x1, x2)"), 0, 0, 9},
                {one_node("bool[300,1] f32[300,200] f32[]", "Where(x0, x1, x2)")}});
}

TEST(Elementwise, CastBetweenAllTypes) {
  const std::pair<const char*, int> types[] = {{"f32", 1}, {"f64", 11}, {"i64", 7}, {"i32", 6},
                                               {"i8", 3},  {"u8", 2},   {"bool", 9}};
  std::vector<RoutineCase> cases;
  for (const auto& from : types)
    for (const auto& to : types)
      cases.push_back(
          {one_node(std::string(from.first) + "[3,7]", "Cast(x0) {to=" + std::to_string(to.second) + "}"), 0,
           -300, 300});
  cases.push_back({one_node("f32[50]", "Cast(x0) {to=6}"), 0, -2, 2, true});
  expect_cases(cases);
}

constexpr const char* k_activations[] = {"Relu(x0)",
                                         "LeakyRelu(x0) {alpha=0.2}",
                                         "ThresholdedRelu(x0)",
                                         "Clip(x0, lo, hi)",
                                         "Clip(x0, _, hi)",
                                         "Clip(x0)",
                                         "Sigmoid(x0)",
                                         "HardSigmoid(x0)",
                                         "HardSwish(x0)",
                                         "Swish(x0) {alpha=1.5}",
                                         "Tanh(x0)",
                                         "Elu(x0)",
                                         "Celu(x0) {alpha=2.0}",
                                         "Selu(x0)",
                                         "Gelu(x0)",
                                         "Gelu(x0) {approximate=\"tanh\"}",
                                         "Mish(x0)",
                                         "Softplus(x0)",
                                         "Softsign(x0)",
                                         "Exp(x0)",
                                         "Log(x0)",
                                         "Erf(x0)",
                                         "Sqrt(x0)",
                                         "Reciprocal(x0)",
                                         "Floor(x0)",
                                         "Ceil(x0)",
                                         "Round(x0)",
                                         "Abs(x0)",
                                         "Neg(x0)"};

/// Every activation on `type`, with bounds for Clip.
std::vector<RoutineCase> activations_of(const std::string& type, double tolerance) {
  const std::string bounds = "lo = constant " + type + "[] {-0.5}\nhi = constant " + type + "[] {0.75}";
  std::vector<RoutineCase> cases;
  for (const char* call : k_activations) {
    cases.push_back({one_node(type + "[3,100]", call, bounds), tolerance, -3, 3});
    cases.push_back({one_node(type + "[40]", call, bounds), tolerance, -3, 3, true});
  }
  return cases;
}

TEST(Elementwise, ActivationsAreTheInterpreters) {
  expect_cases(activations_of("f32", 0));
}

TEST(Elementwise, ActivationsInDouble) {
  expect_cases(activations_of("f64", 0));
}

TEST(Elementwise, IntegerFunctions) {
  std::vector<RoutineCase> cases;
  for (const std::string type : {"i64", "i32", "i8", "u8"})
    for (const char* call : {"Abs(x0)", "Neg(x0)", "Relu(x0)", "Clip(x0, lo, hi)", "Clip(x0, lo)"})
      cases.push_back({one_node(type + "[37]", call,
                                "lo = constant " + type + "[] {3}\nhi = constant " + type + "[] {50}"),
                       0, type == "u8" ? 0.0 : -120.0, 120});
  cases.push_back({one_node("i64[3]", "Neg(a)", "a = constant i64[3] {-9223372036854775808, 0, 5}")});
  cases.back().body =
      "a = constant i64[3] {-9223372036854775808, 9223372036854775807, 5}\nn = Neg(a)\noutput n\n";
  expect_cases(cases);
}

TEST(Elementwise, BatchNormalizationOfElements) {
  const char* statistics =
      "s = constant f32[3,4] random(seed=1)\nb = constant f32[3,4] random(seed=2)\n"
      "m = constant f32[3,4] random(seed=3)\nv = constant f32[3,4] random(seed=4, lo=0.5, hi=2)";
  expect_cases({{one_node("f32[2,3,4]", "BatchNormalization(x0, s, b, m, v) {spatial=0}", statistics)}});
}

TEST(Elementwise, BatchNormalizationOfChannels) {
  const char* statistics =
      "s = constant f32[3] {1, -2, 1e30}\nb = constant f32[3] {0.5, 0, -1}\n"
      "m = constant f32[3] {1, 2, -3}\nv = constant f32[3] {4, -1, 0}";
  std::vector<RoutineCase> cases;
  for (const char* type : {"f32[5,3]", "f32[2,3,7]", "f32[1,3,4,5]", "f32[2,3,2,3,4]", "f32[40,3,50,20]"}) {
    cases.push_back({one_node(type, "BatchNormalization(x0, s, b, m, v) {epsilon=0.0}", statistics)});
    cases.push_back({one_node(std::string(type) + " f32[3] f32[3] f32[3] f32[3]",
                              "BatchNormalization(x0, x1, x2, x3, x4)"),
                     0, 0.5, 2});
  }
  cases.push_back({one_node("f32[5,3,8]", "BatchNormalization(x0, s, b, m, v)", statistics), 0, -3, 3, true});
  expect_cases(cases);
}

TEST(Elementwise, ClipBetweenRunTimeBounds) {
  std::vector<RoutineCase> cases;
  for (const std::string type : {"f32", "f64", "i64", "i32", "i8", "u8"}) {
    const std::string known = "lo = constant " + type + "[] {3}\nhi = constant " + type + "[1] {50}";
    const double low = type == "u8" ? 0 : -120;
    const std::string both = type + "[300] " + type + "[] " + type + "[1]",
                      one = type + "[300] " + type + "[]";
    cases.push_back({one_node(both, "Clip(x0, x1, x2)"), 0, low, 120});
    cases.push_back({one_node(both, "Clip(x0, x2, x1)"), 0, low, 120});
    cases.push_back({one_node(one, "Clip(x0, x1)"), 0, low, 120});
    cases.push_back({one_node(one, "Clip(x0, _, x1)"), 0, low, 120});
    cases.push_back({one_node(one, "Clip(x0, lo, x1)", known), 0, low, 120});
    cases.push_back({one_node(one, "Clip(x0, x1, hi)", known), 0, low, 120});
    cases.push_back({one_node(type + "[300]", "Clip(x0, lo, hi)", known), 0, low, 120});
  }
  // The first element of every operand is NaN: a bound that is NaN bounds nothing.
  cases.push_back({one_node("f32[40] f32[] f32[]", "Clip(x0, x1, x2)"), 0, -3, 3, true});
  expect_cases(cases);
}

}  // namespace
}  // namespace onepass::test
