// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <functional>

#include "base/diagnostic.h"
#include "base/files.h"
#include "driver/tune.h"
#include "execute.h"
#include "ir/parser.h"

namespace onepass::test {
namespace {

using plan::TileChoice;
using plan::TileTable;
using testing::HasSubstr;

driver::Network network() {
  return driver::network_of(ir::parse(R"(graph g {
  x = input f32[1,32,20,20]
  w = constant f32[64,32,1,1] random(seed=1)
  v = constant f32[64,64,3,3] random(seed=2)
  y = Conv(x, w) @"narrow"
  r = Relu(y)
  z = Conv(r, v) {pads=[1,1,1,1]} @"wide"
  s = Add(z, r)
  output s
})"));
}

Diagnostic refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.diagnostics().front();
  }
  ADD_FAILURE() << "taken, but should be refused";
  return {};
}

const plan::Launch& launch_of(const plan::Plan& plan, const std::string& node) {
  for (const plan::Launch& launch : plan.launches)
    if (launch.tile && launch.name.find(node) != std::string::npos) return launch;
  throw InternalError("no such launch");
}

/// A legal kernel that the model has not chosen.
TileChoice another(const plan::Plan& plan, const plan::TileQuestion& question) {
  const TileChoice own = plan::tile_choice_of(question.kernel);
  for (const auto& kernel :
       plan::legal_kernels(*plan::conv_spec_in(question.kernel), *plan.target, question.policy))
    if (plan::tile_choice_of(kernel) != own) return plan::tile_choice_of(kernel);
  throw InternalError("one kernel alone");
}

driver::CompileOptions with_choices(driver::CompileOptions options, const TileTable& choices,
                                    const std::string& path) {
  write_file(path, driver::choices_text(choices));
  options.choices = path;
  return options;
}

constexpr const char* k_nodes[] = {"narrow", "wide"};  // wide has a residual join

}  // namespace

TEST(Tune, TheFileKeepsEveryChoice) {
  const TileTable choices = {{"a", {"conv_direct", {{"pixels", 6}, {"vectors", 4}}}},
                             {"b \"quoted\"", {"conv_amx", {}}}};
  const std::string text = driver::choices_text(choices);
  EXPECT_EQ(driver::parse_choices(text, "file"), choices);
  EXPECT_EQ(driver::choices_text(driver::parse_choices(text, "file")), text);
}

TEST(Tune, RefusesWhatIsNoFileOfChoices) {
  for (const char* text :
       {"", "[]", "{}", R"({"onepass_choices": 2, "choices": {}})", R"({"onepass_choices": 1})",
        R"({"onepass_choices": 1, "choices": {"k": 3}})",
        R"({"onepass_choices": 1, "choices": {"k": {"family": "f", "tile": {"m": 1.5}}}})"})
    EXPECT_EQ(refusal([&] { driver::parse_choices(text, "file"); }).code, "bad_choices") << text;
}

TEST(Tune, ACompileTakesTheChoicesThatItsFileNames) {
  const TemporaryFolder folder;
  const driver::Network net = network();
  const driver::CompileOptions plain{.target = "x86-64-v3", .exact = true};
  const driver::Program before = driver::plan_network(net, plain);
  TileTable choices;
  for (const char* node : k_nodes) {
    const plan::TileQuestion& question = *launch_of(before.plan, node).tile;
    choices[question.key] = another(before.plan, question);
  }
  const auto options = with_choices(plain, choices, folder.file("choices.json"));
  const driver::Program after = driver::plan_network(net, options);
  for (const char* node : k_nodes) {
    const plan::TileQuestion& question = *launch_of(after.plan, node).tile;
    EXPECT_EQ(plan::tile_choice_of(question.kernel), choices.at(question.key)) << node;
    EXPECT_NE(launch_of(after.plan, node).symbol, launch_of(before.plan, node).symbol) << node;
  }
  // Direct sums in the same order, whatever the tile.
  if (!targets::host_executes(*after.plan.target)) return;
  const auto inputs = random_inputs(net.model.graph, 7);
  const auto a = run_guarded(before, driver::load_program(net, before, plain), inputs);
  const auto b = run_guarded(after, driver::load_program(net, after, options), inputs);
  ASSERT_EQ(a.size(), 1u);
  EXPECT_TRUE(same_bits(a[0], b.at(0)));
}

TEST(Tune, TheSameFileGivesTheSameBytes) {
  const TemporaryFolder folder;
  const driver::Network net = network();
  const driver::CompileOptions plain{.target = "x86-64-v4", .exact = true};
  const driver::Program before = driver::plan_network(net, plain);
  const plan::TileQuestion& question = *launch_of(before.plan, "narrow").tile;
  const auto options =
      with_choices(plain, {{question.key, another(before.plan, question)}}, folder.file("choices.json"));
  for (const char* name : {"a.so", "b.so"})
    driver::write_artefact(net, driver::plan_network(net, options), options, folder.file(name));
  const std::vector<std::byte> bytes = read_file(folder.file("a.so"));
  EXPECT_EQ(bytes, read_file(folder.file("b.so")));
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              HasSubstr("choices_hash"));
}

TEST(Tune, RefusesAKernelThatIsNotLegal) {
  const TemporaryFolder folder;
  const driver::Network net = network();
  const driver::CompileOptions plain{.target = "x86-64-v4", .exact = true};
  const driver::Program before = driver::plan_network(net, plain);
  const plan::TileQuestion& question = *launch_of(before.plan, "wide").tile;
  const TileChoice bad[] = {
      {"conv_direct", {{"pixels", 1000}, {"vectors", 1}, {"rows_outer", 1}, {"merged_rows", 1}}},
      {"conv_winograd", {{"m", 4}, {"tiles", 14}, {"vectors", 2}}},  // no transforms under exact
      {"pool", {}}};
  for (const TileChoice& choice : bad) {
    const auto options = with_choices(plain, {{question.key, choice}}, folder.file("choices.json"));
    const Diagnostic problem = refusal([&] { driver::plan_network(net, options); });
    EXPECT_EQ(problem.code, "bad_choices");
    EXPECT_THAT(problem.message, HasSubstr(to_string(choice)));
    EXPECT_THAT(problem.message, HasSubstr(question.key));
  }
}

TEST(Tune, MeasuresLegalKernelsInsideItsTime) {
  const TemporaryFolder folder;
  const driver::Network net = network();
  const driver::CompileOptions options{.exact = true};
  const driver::Tuning tuning = driver::tune(net, options, 5);
  EXPECT_EQ(tuning.records.size() + tuning.left_out, 2u);
  EXPECT_EQ(tuning.choices.size(), tuning.records.size());
  ASSERT_FALSE(tuning.records.empty());
  for (const driver::TuneRecord& record : tuning.records) {
    if (record.kept == record.model) {
      EXPECT_EQ(record.ratio, 1);
    } else {
      EXPECT_LE(record.ratio, 0.95);
    }
  }
  driver::plan_network(net, with_choices(options, tuning.choices, folder.file("choices.json")));
  EXPECT_EQ(driver::tune(net, options, 1e-9).left_out, 2u);
}

}  // namespace onepass::test
