// SPDX-License-Identifier: Apache-2.0
//
// Every text case is compiled unfused, folded and fused, loaded, and run twice between guard pages with the
// arena full of NaN, on one thread and on three; each result is compared with the interpreter on the graph as
// written: within tolerance of it in float, or of it in double and nearer to that than the float result is.
//
//   expect fused PATTERN N      N joins of the pattern in the fused plan
//   expect split PATTERN COND   some candidate of the pattern stays split, or a copy, by that condition
//   expect placed PATTERN N     nodes of which something lies in place by the pattern
//   expect launches FAMILY N    launches of a kernel family in the fused plan
//   expect applied PATTERN N    rewrites of the pattern
#include "driver/execute.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "ir/parser.h"
#include "ops/interpreter.h"
#include "patterns/case_file.h"
#include "verify/compare.h"

namespace onepass::test {
namespace {

constexpr double k_tolerance = 1e-5;

template <class Range, class Predicate>
int64_t count_where(const Range& range, const Predicate& predicate) {
  return std::count_if(range.begin(), range.end(), predicate);
}

void check_expectations(const Case& text_case, const driver::Program& program) {
  for (const std::vector<std::string>& words : text_case.expectations) {
    const plan::Plan& plan = program.plan;
    const std::string &verb = words.at(0), &subject = words.at(1);
    int64_t found = -1;
    if (verb == "fused")
      found = count_where(plan.decisions, [&](const auto& d) { return d.fused && d.pattern == subject; });
    if (verb == "placed")
      found = count_where(plan.placements, [&](const auto& d) { return d.fused && d.pattern == subject; });
    if (verb == "launches")
      found = count_where(plan.launches, [&](const auto& l) { return l.family == subject; });
    if (verb == "applied")
      found = count_where(program.journal.applied, [&](const auto& a) { return a.pattern == subject; });
    if (verb == "split") {
      const auto same = [&](const auto& d) {
        return !d.fused && d.pattern == subject && d.condition == words.at(2);
      };
      EXPECT_GT(count_where(plan.decisions, same) + count_where(plan.placements, same), 0)
          << "split " << subject << " " << words.at(2);
      continue;
    }
    ASSERT_GE(found, 0) << "unknown expectation " << verb;
    EXPECT_EQ(found, std::stoll(words.at(2))) << verb << " " << subject;
  }
}

/// Results of the interpreter, in float and in double.
struct Expected {
  std::vector<ir::Tensor> reference, referee;
};

Expected expected_of(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs) {
  return {ops::interpret(graph, inputs), ops::interpret(graph, inputs, {.precision = ops::Precision::f64})};
}

verify::Errors errors_of(const ir::Tensor& actual, const Expected& expected, size_t output) {
  const ir::Tensor &reference = expected.reference[output], &referee = expected.referee[output];
  return {.reference = verify::error(actual, reference),
          .referee = verify::error(actual, referee),
          .own = verify::error(reference, referee)};
}

void run_variant(const driver::Network& network, driver::Fusion fusion, const std::vector<ir::Tensor>& inputs,
                 const Expected& expected, const Case* expectations) {
  driver::CompileOptions options;
  options.fusion = fusion;
  const driver::Program program = driver::plan_network(network, options);
  if (expectations != nullptr) check_expectations(*expectations, program);
  const runtime::LoadedModel model = driver::load_program(network, program, options);
  const std::vector<ir::Tensor> first = run_guarded(program, model, inputs);
  const std::vector<ir::Tensor> second = run_guarded(program, model, inputs, 3);
  ASSERT_EQ(first.size(), expected.reference.size());
  for (size_t o = 0; o < first.size(); ++o) {
    const verify::Errors errors = errors_of(first[o], expected, o);
    EXPECT_TRUE(verify::holds(errors, k_tolerance))
        << "output " << o << ", fusion " << static_cast<int>(fusion) << ": " << errors.reference
        << " from the reference, " << errors.referee << " from the referee, the reference's own "
        << errors.own;
    EXPECT_TRUE(same_bits(first[o], second[o])) << "second run, on three threads, output " << o;
  }
}

class Execute : public testing::TestWithParam<Case> {};

TEST_P(Execute, EqualsTheInterpreter) {
  const driver::Network network = driver::network_of(ir::parse(GetParam().graph));
  const std::vector<ir::Tensor> inputs = random_inputs(network.model.graph, 7);
  const Expected expected = expected_of(network.model.graph, inputs);
  run_variant(network, driver::Fusion::off, inputs, expected, nullptr);
  run_variant(network, driver::Fusion::folded, inputs, expected, nullptr);
  run_variant(network, driver::Fusion::on, inputs, expected, &GetParam());
}

std::string case_name(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Cases, Execute, testing::ValuesIn(load_cases("tests/execute")), case_name);

/// The graphs of the pattern and pass cases, fused; their own expectations are checked beside the patterns.
std::vector<Case> pattern_graphs() {
  std::vector<Case> cases;
  for (const char* folder : {"src/patterns", "src/passes", "tests/cases/graphs"})
    for (Case& text_case : load_cases(folder))
      if (!text_case.untyped) cases.push_back(std::move(text_case));
  return cases;
}

class ExecutePattern : public testing::TestWithParam<Case> {};

TEST_P(ExecutePattern, EqualsTheInterpreter) {
  const driver::Network network = driver::network_of(ir::parse(GetParam().graph));
  const std::vector<ir::Tensor> inputs = random_inputs(network.model.graph, 7);
  run_variant(network, driver::Fusion::on, inputs, expected_of(network.model.graph, inputs), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Patterns, ExecutePattern, testing::ValuesIn(pattern_graphs()), case_name);

}  // namespace
}  // namespace onepass::test
