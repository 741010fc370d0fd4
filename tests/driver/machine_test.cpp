// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "base/diagnostic.h"
#include "base/files.h"
#include "driver/calibrate.h"
#include "driver/machine_file.h"
#include "ir/parser.h"

namespace onepass::test {
namespace {

using targets::Figures;
using targets::Machine;
using testing::HasSubstr;

Figures figures_of(const std::string& target) {
  return {.target = target,
          .fma_gflops = 240,
          .clock_ghz = 3.9,
          .tile_products_per_ns = 0,
          .l1_bytes = 48 << 10,
          .l2_bytes = 2 << 20,
          .l3_bytes = 64 << 20,
          .l1_bytes_per_ns = 300,
          .l2_bytes_per_ns = 180,
          .l3_bytes_per_ns = 30,
          .memory_bytes_per_ns = 12.5,
          .all_cores_memory_bytes_per_ns = 20,
          .launch_ns = 11,
          .barrier_ns = 200};
}

Machine some_machine() {
  return {
      .cpu = "A \"CPU\" of ours", .cores = 2, .classes = {figures_of("x86-64-v3"), figures_of("x86-64-v4")}};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

template <class Call>
Diagnostic refusal(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.diagnostics().front();
  }
  ADD_FAILURE() << "taken, but should be refused";
  return {};
}

driver::Network network() {
  return driver::network_of(ir::parse(R"(graph g {
  x = input f32[1,8,9,9]
  w = constant f32[8,8,3,3] random(seed=1)
  y = Conv(x, w) {pads=[1,1,1,1]} @"conv"
  output y
})"));
}

}  // namespace

TEST(Machine, TheFileKeepsEveryFigure) {
  const std::string text = driver::machine_text(some_machine());
  const Machine read = driver::parse_machine(text, "file");
  EXPECT_EQ(driver::machine_text(read), text);
  ASSERT_EQ(read.classes.size(), 2u);
  EXPECT_EQ(read.cpu, some_machine().cpu);
  EXPECT_EQ(read.classes[0].target, "x86-64-v3");
  EXPECT_EQ(read.classes[1].l3_bytes, 64 << 20);
  EXPECT_EQ(read.classes[1].memory_bytes_per_ns, 12.5);
}

TEST(Machine, RefusesWhatIsNoDescription) {
  const std::string text = driver::machine_text(some_machine());
  const std::string bad[] = {"",
                             "{",
                             "[]",
                             "{\"onepass_machine\": 1}",
                             replaced(text, "\"onepass_machine\": 1", "\"onepass_machine\": 2"),
                             replaced(text, "\"clock_ghz\": 3.9", "\"clock_ghz\": 0.0"),
                             replaced(text, "\"clock_ghz\": 3.9", "\"clock_ghz\": 1e300"),
                             replaced(text, "\"clock_ghz\": 3.9", "\"clock_ghz\": \"fast\""),
                             replaced(text, "\"clock_ghz\": 3.9", "\"clock\": 3.9"),
                             replaced(text, "\"l2_bytes\": 2097152", "\"l2_bytes\": -1")};
  for (const std::string& each : bad)
    EXPECT_EQ(refusal([&] { driver::parse_machine(each, "file"); }).code, "bad_machine") << each;
}

TEST(Machine, FiguresReplaceCostsAndNothingElse) {
  const targets::Target& nominal = targets::find("x86-64-v4");
  const targets::Target measured = targets::with_figures(nominal, figures_of("x86-64-v4"));
  EXPECT_STREQ(measured.name, nominal.name);
  EXPECT_STREQ(measured.features, nominal.features);
  EXPECT_EQ(measured.vector_lanes, nominal.vector_lanes);
  EXPECT_EQ(measured.vector_registers, nominal.vector_registers);
  EXPECT_EQ(measured.clock_ghz, 3.9);
  EXPECT_DOUBLE_EQ(measured.flops_per_cycle * measured.clock_ghz, 240);
  EXPECT_EQ(measured.l3_bytes, 64 << 20);
  EXPECT_EQ(measured.launch_ns, 11);
}

TEST(Machine, ACompileTakesTheFiguresOfTheFileThatItNames) {
  const TemporaryFolder folder;
  write_file(folder.file("machine.json"), driver::machine_text(some_machine()));
  const driver::CompileOptions nominal{.target = "x86-64-v4", .exact = true};
  driver::CompileOptions measured = nominal;
  measured.machine = folder.file("machine.json");
  const driver::Network net = network();
  const driver::Program program = driver::plan_network(net, measured);
  EXPECT_EQ(program.plan.target->memory_bytes_per_ns, 12.5);
  EXPECT_NE(driver::plan_network(net, nominal).plan.target->memory_bytes_per_ns, 12.5);
  driver::write_artefact(net, program, measured, folder.file("a.so"));
  driver::write_artefact(net, driver::plan_network(net, measured), measured, folder.file("b.so"));
  EXPECT_EQ(read_file(folder.file("a.so")), read_file(folder.file("b.so")));
  const std::vector<std::byte> bytes = read_file(folder.file("a.so"));
  EXPECT_THAT(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
              HasSubstr("machine_hash"));
}

TEST(Machine, RefusesAFileWithoutTheClass) {
  const TemporaryFolder folder;
  Machine machine = some_machine();
  machine.classes.pop_back();
  write_file(folder.file("machine.json"), driver::machine_text(machine));
  const driver::CompileOptions options{.target = "x86-64-v4", .machine = folder.file("machine.json")};
  const Diagnostic problem = refusal([&] { driver::target_of(options); });
  EXPECT_EQ(problem.code, "bad_machine");
  EXPECT_THAT(problem.message, HasSubstr("x86-64-v4"));
  EXPECT_EQ(refusal([&] { driver::target_of({.machine = folder.file("none")}); }).code, "cannot_read");
}

TEST(Machine, CalibrateMeasuresEveryClassThatTheHostExecutes) {
  const Machine machine = driver::calibrate();
  size_t executed = 0;
  for (const targets::Target& target : targets::all()) executed += targets::host_executes(target) ? 1 : 0;
  EXPECT_EQ(machine.classes.size(), executed);
  // Reading the file checks that every figure is one that a machine may have.
  const Machine read = driver::parse_machine(driver::machine_text(machine), "calibrated");
  for (const Figures& figures : read.classes) {
    EXPECT_GE(figures.l1_bytes_per_ns, figures.memory_bytes_per_ns) << figures.target;
    EXPECT_GE(figures.l3_bytes, figures.l2_bytes) << figures.target;
  }
}

}  // namespace onepass::test
