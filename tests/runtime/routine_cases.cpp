// SPDX-License-Identifier: Apache-2.0
#include "runtime/routine_cases.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>

#include "ir/random_tensor.h"
#include "ops/interpreter.h"
#include "runtime/loaded_model.h"
#include "runtime/model_builder.h"

namespace onepass::test {

namespace {

struct Prepared {
  ir::Graph graph;
  std::vector<ir::Tensor> inputs;
  std::vector<ir::Tensor> expected;
};

void add_specials(ir::Tensor& tensor) {
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  const double specials[] = {std::nan(""), k_infinity, -k_infinity, 0.0, -0.0, 1e-40, 88.8, -104.0};
  const auto fill = [&]<class E>(std::span<E> elements) {
    for (size_t i = 0; i < std::size(specials) && i * 3 < elements.size(); ++i)
      elements[i * 3] = static_cast<E>(specials[i]);
  };
  if (tensor.dtype() == ir::DType::f32) fill(tensor.data<float>());
  if (tensor.dtype() == ir::DType::f64) fill(tensor.data<double>());
}

Prepared prepare(const RoutineCase& c) {
  Prepared result{.graph = typed_graph(c.body), .inputs = {}, .expected = {}};
  uint64_t seed = 17;
  for (const ir::ValueId input : result.graph.inputs()) {
    const ir::TensorType& type = result.graph.value(input).type;
    const bool boolean = type.dtype == ir::DType::boolean;
    result.inputs.push_back(
        ir::random_tensor(type.dtype, type.dims, ++seed, boolean ? 0 : c.low, boolean ? 2 : c.high));
    if (c.specials) add_specials(result.inputs.back());
  }
  result.expected = ops::interpret(result.graph, result.inputs);
  return result;
}

/// Nothing when equal enough, else what differs.
template <class E>
std::string difference(const E* actual, const E* expected, int64_t count, double tolerance) {
  for (int64_t i = 0; i < count; ++i) {
    const auto a = static_cast<double>(actual[i]);
    const auto b = static_cast<double>(expected[i]);
    if (actual[i] == expected[i] || (std::isnan(a) && std::isnan(b))) continue;
    if (std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)) && std::isfinite(b)) continue;
    std::ostringstream text;
    text << "element " << i << " is " << a << ", the interpreter says " << b;
    return text.str();
  }
  return "";
}

std::string difference(const void* actual, const ir::Tensor& expected, double tolerance) {
  const int64_t count = expected.size();
  const auto compare = [&]<class E>(E) {
    return difference(static_cast<const E*>(actual), expected.data<E>().data(), count, tolerance);
  };
  switch (expected.dtype()) {
    case ir::DType::f32:
      return compare(float{});
    case ir::DType::f64:
      return compare(double{});
    case ir::DType::i64:
      return compare(int64_t{});
    case ir::DType::i32:
      return compare(int32_t{});
    case ir::DType::i8:
      return compare(int8_t{});
    case ir::DType::u8:
      return compare(uint8_t{});
    default:
      return compare(bool{});
  }
}

void set_inputs(runtime::Session& session, const std::vector<Prepared>& prepared) {
  int next = 0;
  for (const Prepared& p : prepared)
    for (const ir::Tensor& tensor : p.inputs)
      if (tensor.size_bytes() > 0)
        std::memcpy(session.input(next++), tensor.bytes(), static_cast<size_t>(tensor.size_bytes()));
      else
        ++next;
}

std::vector<std::vector<char>> run(const runtime::LoadedModel& model, const std::vector<Prepared>& prepared,
                                   int threads) {
  runtime::Session session(model, threads, true);
  set_inputs(session, prepared);
  session.run();
  std::vector<std::vector<char>> outputs;
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    const auto* bytes = static_cast<const char*>(session.output(static_cast<int>(i)));
    outputs.emplace_back(bytes, bytes + model.outputs()[i].size_bytes);
  }
  return outputs;
}

void compare(const std::vector<RoutineCase>& cases, const std::vector<Prepared>& prepared,
             runtime::Session& session) {
  int output = 0;
  for (size_t i = 0; i < cases.size(); ++i)
    for (const ir::Tensor& expected : prepared[i].expected) {
      EXPECT_EQ(session.output_dims(output), expected.shape()) << cases[i].body;
      EXPECT_EQ(difference(session.output(output), expected, cases[i].tolerance), "") << cases[i].body;
      ++output;
    }
}

}  // namespace

void expect_cases(const std::vector<RoutineCase>& cases) {
  RoutineModel routines;
  std::vector<Prepared> prepared;
  for (const RoutineCase& c : cases) {
    SCOPED_TRACE(c.body);
    ASSERT_NO_THROW(prepared.push_back(prepare(c)));
    ASSERT_NO_THROW(routines.add(prepared.back().graph));
  }
  const TemporaryFolder folder;
  const runtime::LoadedModel model(link_model(routines.description, routines.weights, folder));
  runtime::Session session(model, 1, true);
  set_inputs(session, prepared);
  session.run();
  compare(cases, prepared, session);
  const auto alone = run(model, prepared, 1);
  for (const int threads : {2, 3})
    EXPECT_TRUE(run(model, prepared, threads) == alone) << threads << " threads";
}

std::string one_node(const std::string& input_types, const std::string& call, const std::string& constants,
                     const std::string& results) {
  std::ostringstream text;
  std::istringstream types(input_types);
  std::string type;
  for (int i = 0; types >> type; ++i) text << "x" << i << " = input " << type << "\n";
  text << constants << "\n" << results << " = " << call << "\n";
  std::istringstream names(results);
  for (std::string name; std::getline(names, name, ',');) text << "output " << name << "\n";
  return text.str();
}

}  // namespace onepass::test
