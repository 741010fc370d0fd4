// SPDX-License-Identifier: Apache-2.0
#include "passes/pipeline.h"

#include <gtest/gtest.h>

#include "ir/parser.h"
#include "ir/printer.h"
#include "passes/infer_shapes.h"
#include "passes/run_pass.h"

namespace onepass::test {

namespace {

constexpr const char* k_model = R"(graph g {
  x = input f32[1,2,5,5]
  w0 = constant f32[3,2,1,1] random(seed=1)
  w = Identity(w0)
  k = constant f32[] {2}
  kk = Mul(k, k)
  c = Conv(x, w) @"conv1"
  m = Mul(c, kk) @"mul1"
  d = Dropout(m)
  r = Relu(d) @"relu1"
  y = Sum(r, r, r) @"sum1"
  output y
})";

ir::Graph typed(const char* text) {
  ir::Graph graph = ir::parse(text);
  passes::infer_shapes(graph);
  return graph;
}

std::vector<std::string> ops(const ir::Graph& graph) {
  std::vector<std::string> names;
  for (const ir::NodeId id : graph.topological_order()) names.push_back(ir::name(graph.node(id).op));
  return names;
}

TEST(Pipeline, NormalisesFoldsAndRewrites) {
  ir::Graph graph = typed(k_model);
  patterns::Journal journal;
  passes::run_passes(graph, journal);
  EXPECT_EQ(ops(graph), (std::vector<std::string>{"Conv", "Relu", "Add", "Add"}));
  ASSERT_EQ(journal.applied.size(), 1u);
  EXPECT_EQ(journal.applied[0].pattern, "conv_affine");
}

TEST(Pipeline, WithoutRewritesItStillNormalises) {
  ir::Graph graph = typed(k_model);
  patterns::Journal journal;
  passes::run_passes(graph, journal, {.rewrites = false});
  EXPECT_EQ(ops(graph), (std::vector<std::string>{"Conv", "Mul", "Relu", "Add", "Add"}));
  EXPECT_TRUE(journal.applied.empty());
}

TEST(Pipeline, SecondRunChangesNothing) {
  ir::Graph graph = typed(k_model);
  patterns::Journal journal;
  passes::run_passes(graph, journal);
  const std::string before = ir::print(graph);
  std::vector<std::string> changed;
  passes::run_passes(graph, journal, {.on_change = [&](const std::string& pass, const ir::Graph&) {
                       changed.push_back(pass);
                     }});
  EXPECT_EQ(changed, std::vector<std::string>{});
  EXPECT_EQ(ir::print(graph), before);
}

TEST(Pipeline, ReportsChangesAndTimes) {
  ir::Graph graph = typed(k_model);
  patterns::Journal journal;
  std::vector<std::string> changed, timed;
  passes::PassOptions options;
  options.on_change = [&](const std::string& pass, const ir::Graph&) { changed.push_back(pass); };
  options.on_time = [&](const std::string& pass, double milliseconds) {
    timed.push_back(pass);
    EXPECT_GE(milliseconds, 0);
  };
  passes::run_passes(graph, journal, options);
  EXPECT_EQ(changed,
            (std::vector<std::string>{"normalise", "eliminate_identity", "fold_constants", "rewrites"}));
  EXPECT_EQ(timed.back(), "eliminate_dead_code");
  EXPECT_GT(timed.size(), changed.size());
}

TEST(RunPass, NamesThePassInErrors) {
  ir::Graph graph = typed(k_model);
  const auto fails = [](ir::Graph&) -> bool { throw Error({.code = "some_code", .message = "no luck"}); };
  try {
    passes::run_pass("luckless", graph, {}, fails);
    FAIL() << "the error is passed on";
  } catch (const Error& error) {
    EXPECT_EQ(error.diagnostics().at(0).message, "no luck (in pass luckless)");
    EXPECT_EQ(error.diagnostics().at(0).code, "some_code");
  }
}

TEST(RunPass, VerifiesAChangedGraph) {
  ir::Graph graph = typed(k_model);
  const auto breaks = [](ir::Graph& g) {
    g.node(g.topological_order().front()).inputs.clear();  // the use list still names the node
    return true;
  };
  try {
    passes::run_pass("careless", graph, {}, breaks);
    FAIL() << "the verifier finds it";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("careless"), std::string::npos) << error.what();
  }
}

}  // namespace

}  // namespace onepass::test
