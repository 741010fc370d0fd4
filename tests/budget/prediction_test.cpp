// SPDX-License-Identifier: Apache-2.0
//
// What the budget predicts, beside what the compiled network shows in two hundred frames.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/files.h"
#include "budget/support.h"
#include "driver/pipeline.h"
#include "driver/subject.h"
#include "verify/verify.h"

namespace onepass::test {
namespace {

constexpr const char* k_network = R"(
    x = input f32[1,32,20,20]
    w1 = constant f32[64,32,3,3] random(seed=1, lo=-0.1, hi=0.1)
    w2 = constant f32[64,64,3,3] random(seed=2, lo=-0.07, hi=0.07)
    w3 = constant f32[64,64,1,1] random(seed=3, lo=-0.2, hi=0.2)
    w4 = constant f32[64,40] random(seed=4, lo=-0.3, hi=0.3)
    a = Conv(x, w1) {pads=[1,1,1,1]}
    r = Relu(a)
    b = Conv(r, w2) {pads=[1,1,1,1]}
    s = Relu(b)
    c = Conv(s, w3)
    d = Add(c, r)
    t = Relu(d)
    g = GlobalAveragePool(t)
    f = Flatten(g)
    m = MatMul(f, w4)
    output m
)";

/// The greatest error from the referee in 200 frames of noise.
double measured_error(const driver::Network& network, const driver::Program& program,
                      const driver::CompileOptions& options) {
  const runtime::LoadedModel model = driver::load_program(network, program, options);
  const verify::Subject subject = driver::make_subject(network, program, model);
  const verify::Frames frames(network.model.graph, {.count = 200});
  const verify::VerifyReport report =
      verify::run_verify(subject, frames, {.tolerance = options.tolerance, .strict = true});
  EXPECT_TRUE(report.parity()) << options.tolerance;
  return report.outputs.at(0).worst.referee;
}

TEST(Prediction, IsNoMoreThanTheMarginBelowWhatFramesShow) {
  const driver::Network network = driver::network_of(budget_graph(k_network));
  for (double tolerance : {9e-6, 1e-5, 1e-3, 1e-2}) {
    const driver::CompileOptions options{.tolerance = tolerance};
    const driver::Program program = driver::plan_network(network, options);
    const double measured = measured_error(network, program, options);
    EXPECT_LT(measured, tolerance);
    if (!program.budget.measured) continue;  // no loose algorithm on this host, and the default tolerance
    EXPECT_TRUE(program.budget.holds);
    EXPECT_LE(measured, budget::k_margin * program.budget.predicted) << tolerance;
    EXPECT_GE(measured, program.budget.predicted / 8) << "and it is no idle bound";
  }
}

TEST(Prediction, ExactTakesNoBudget) {
  const driver::Network network = driver::network_of(budget_graph(k_network));
  const driver::Program program = driver::plan_network(network, {.exact = true});
  EXPECT_EQ(program.budget.tolerance, 0);
  for (const plan::Launch& launch : program.plan.launches)
    EXPECT_TRUE(launch.family != "conv_winograd" && launch.family != "conv_amx") << launch.family;
}

TEST(Prediction, SensitivitiesAreKeptInAFileAndADamagedOneIsMeasuredAnew) {
  const TemporaryFolder folder;
  const driver::Network network = driver::network_of(budget_graph(k_network));
  const driver::CompileOptions options{.target = "x86-64-v4+amx", .sensitivities = folder.file("kept.json")};
  const driver::Program first = driver::plan_network(network, options);
  ASSERT_TRUE(first.budget.measured);
  const std::vector<std::byte> kept = read_file(options.sensitivities);
  const driver::Program second = driver::plan_network(network, options);
  EXPECT_EQ(first.budget.predicted, second.budget.predicted);
  for (const char* damaged : {"", "{", "[1,2]", "{\"key\": 3}", "{\"key\":\"x\",\"sensitivities\":{}}"}) {
    write_file(options.sensitivities, std::string_view(damaged));
    EXPECT_EQ(driver::plan_network(network, options).budget.predicted, first.budget.predicted) << damaged;
    EXPECT_EQ(read_file(options.sensitivities), kept) << damaged;
  }
}

TEST(Prediction, TheObjectCacheKeepsSensitivitiesToo) {
  const TemporaryFolder folder;
  const driver::Network network = driver::network_of(budget_graph(k_network));
  const driver::CompileOptions options{.target = "x86-64-v4+amx", .object_cache = folder.path()};
  const driver::Program first = driver::plan_network(network, options);
  EXPECT_FALSE(std::filesystem::is_empty(folder.path()));
  EXPECT_EQ(first.budget.predicted, driver::plan_network(network, options).budget.predicted);
}

}  // namespace
}  // namespace onepass::test
