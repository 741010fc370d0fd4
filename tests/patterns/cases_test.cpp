// SPDX-License-Identifier: Apache-2.0
//
// Every case of src/patterns/*.graph, src/passes/*.graph and tests/cases/graphs/*.graph: the rewrite does
// what the case expects, and the graph computes the same before and after.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "ir/parser.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "passes/infer_shapes.h"
#include "passes/passes.h"
#include "passes/pipeline.h"
#include "patterns/case_file.h"
#include "patterns/compare.h"

namespace onepass::test {

namespace {

constexpr double k_tolerance = 1e-5;

using Words = std::vector<std::string>;

passes::PassOptions options_of(const Case& text_case) {
  passes::PassOptions options;
  for (const Words& words : text_case.options) {
    if (words[0] == "stop_after") options.rewrite.stop_after = std::stoll(words.at(1));
    if (words[0] == "disabled") options.rewrite.disabled.push_back(words.at(1));
    if (words[0] == "max_folded_bytes") options.max_folded_bytes = std::stoll(words.at(1));
  }
  return options;
}

/// What the folder of the file asks for: the rewrites alone, the other passes alone, or all of them.
patterns::Journal transform(const Case& text_case, ir::Graph& graph) {
  patterns::Journal journal;
  passes::PassOptions options = options_of(text_case);
  if (text_case.file.starts_with("src/patterns/")) {
    patterns::apply_rewrites(graph, journal, options.rewrite);
    passes::eliminate_dead_code(graph);
  } else {
    options.rewrites = !text_case.file.starts_with("src/passes/");
    passes::run_passes(graph, journal, options);
  }
  return journal;
}

Words node_ops(const ir::Graph& graph) {
  Words ops;
  for (const ir::NodeId id : graph.topological_order()) ops.push_back(ir::name(graph.node(id).op));
  return ops;
}

Words origins_of(const ir::Graph& graph, const std::string& name) {
  for (const ir::NodeId id : graph.topological_order())
    if (graph.node(id).name == name) return graph.node(id).origins;
  return {};
}

std::string listing(const patterns::Journal& journal) {
  std::string text;
  for (const auto& a : journal.applied) text += fmt::format("applied {} {}\n", a.pattern, a.nodes);
  for (const auto& r : journal.refused)
    text += fmt::format("refused {} {} {}: {}\n", r.pattern, r.condition, r.nodes, r.reason);
  for (const auto& w : journal.warnings) text += to_string(w) + "\n";
  return text;
}

void expect_applied(const Words& words, const patterns::Journal& journal) {
  const auto count = std::count_if(journal.applied.begin(), journal.applied.end(),
                                   [&](const auto& applied) { return applied.pattern == words.at(1); });
  EXPECT_EQ(count, std::stoll(words.at(2))) << words[1] << "\n" << listing(journal);
}

void expect_refused(const Words& words, const patterns::Journal& journal) {
  const bool found = std::any_of(journal.refused.begin(), journal.refused.end(), [&](const auto& refusal) {
    return refusal.pattern == words.at(1) && refusal.condition == words.at(2);
  });
  EXPECT_TRUE(found) << fmt::format("{}", words) << "\n" << listing(journal);
}

void expect_reason(const Words& words, const patterns::Journal& journal) {
  const std::string text = fmt::format("{}", fmt::join(words.begin() + 1, words.end(), " "));
  const bool found = std::any_of(journal.refused.begin(), journal.refused.end(), [&](const auto& refusal) {
    return refusal.reason.find(text) != std::string::npos;
  });
  EXPECT_TRUE(found) << text << "\n" << listing(journal);
}

void expect_warnings(const Words& words, const patterns::Journal& journal) {
  Words codes;
  for (const Diagnostic& warning : journal.warnings) codes.push_back(warning.code);
  EXPECT_EQ(codes, Words(words.begin() + 1, words.end())) << listing(journal);
}

void expect_line(const Words& words, const ir::Graph& graph, const patterns::Journal& journal) {
  const Words rest(words.begin() + 1, words.end());
  if (words[0] == "applied") return expect_applied(words, journal);
  if (words[0] == "refused") return expect_refused(words, journal);
  if (words[0] == "reason") return expect_reason(words, journal);
  if (words[0] == "warning") return expect_warnings(words, journal);
  if (words[0] == "nodes") {
    EXPECT_EQ(node_ops(graph), rest) << ir::print(graph) << listing(journal);
  } else if (words[0] == "origins") {
    EXPECT_EQ(origins_of(graph, words.at(1)), Words(rest.begin() + 1, rest.end())) << ir::print(graph);
  } else {
    ADD_FAILURE() << "unknown expectation " << words[0];
  }
}

/// All applied patterns (none for normalisation) are bitwise.
bool is_bitwise(const patterns::Journal& journal) {
  return std::all_of(journal.applied.begin(), journal.applied.end(), [](const patterns::Applied& applied) {
    const auto& list = patterns::rewrites();
    const auto rule =
        std::find_if(list.begin(), list.end(), [&](const auto& r) { return r.name == applied.pattern; });
    return rule != list.end() && std::string(rule->exactness) == "bitwise";
  });
}

void expect_same_results(const ir::Graph& before, const ir::Graph& after, bool bitwise) {
  ASSERT_EQ(before.outputs().size(), after.outputs().size());
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    const std::vector<ir::Tensor> inputs = random_inputs(before, 100 * seed);
    const ops::InterpretOptions options{.precision = bitwise ? ops::Precision::f32 : ops::Precision::f64};
    const auto expected = ops::interpret(before, inputs, options);
    const auto actual = ops::interpret(after, inputs, options);
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(before.outputs()[i].name, after.outputs()[i].name);
      EXPECT_EQ(difference(expected[i], actual[i], bitwise ? 0 : k_tolerance), "")
          << before.outputs()[i].name << "\n"
          << ir::print(after);
    }
  }
}

class Cases : public testing::TestWithParam<Case> {};

TEST_P(Cases, DoesWhatItSaysAndComputesTheSame) {
  const Case& text_case = GetParam();
  ASSERT_FALSE(text_case.expectations.empty()) << "a case expects something";
  ir::Graph before = ir::parse(text_case.graph);
  if (!text_case.untyped) passes::infer_shapes(before);
  ir::Graph after = before;
  const patterns::Journal journal = transform(text_case, after);
  if (!text_case.untyped) ir::verify(after);
  for (const Words& words : text_case.expectations) expect_line(words, after, journal);
  if (!text_case.untyped) expect_same_results(before, after, is_bitwise(journal));
}

std::vector<Case> rewrite_cases() {
  std::vector<Case> all;
  for (const char* folder : {"src/patterns", "src/passes", "tests/cases/graphs"})
    for (Case& text_case : load_cases(folder))
      if (text_case.joins.empty()) all.push_back(std::move(text_case));
  return all;
}

INSTANTIATE_TEST_SUITE_P(Graphs, Cases, testing::ValuesIn(rewrite_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

}  // namespace onepass::test
