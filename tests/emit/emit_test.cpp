// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "base/diagnostic.h"
#include "emit/emit.h"
#include "emit/harness.h"
#include "emit/nests.h"

namespace onepass::test {

namespace {

using targets::Target;

constexpr TileShape k_avx512_tile{14, 2, 16, 64, 4, 2};
constexpr TileShape k_avx2_tile{6, 2, 8, 64, 4, 2};

std::vector<loops::LoopNest> all_nests() {
  std::vector<loops::LoopNest> nests;
  for (const int lanes : {1, 2, 4, 8, 16, 32, 64})
    for (loops::LoopNest& nest : construct_nests(lanes)) nests.push_back(std::move(nest));
  nests.push_back(gemm_tile("tile_14x32", k_avx512_tile));
  nests.push_back(gemm_tile("tile_6x16", k_avx2_tile));
  return nests;
}

void expect_interpreter_results(const Library& library, const std::vector<loops::LoopNest>& nests) {
  for (size_t i = 0; i < nests.size(); ++i) {
    for (const Operands& start : {random_operands(nests[i], 1), special_operands(nests[i], 2)}) {
      Operands expected = start, actual = start;
      run_interpreter(nests[i], expected);
      run_kernel(library.kernel(i), nests[i], actual);
      EXPECT_EQ(difference(nests[i], expected, actual), "");
    }
  }
}

int count(const std::string& text, const std::string& word) {
  int found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

}  // namespace

class EmitTarget : public testing::TestWithParam<const Target*> {};

TEST_P(EmitTarget, CompiledKernelsEqualTheInterpreter) {
  const std::vector<loops::LoopNest> nests = all_nests();
  if (!targets::host_executes(*GetParam())) {
    EXPECT_FALSE(emit::compile_object(nests, *GetParam()).empty());
    GTEST_SKIP() << GetParam()->name << " compiled, not executed: this host lacks it";
  }
  expect_interpreter_results(Library::from_llvm(nests, *GetParam()), nests);
}

TEST_P(EmitTarget, TileProductsEqualTheInterpreter) {
  if (GetParam()->tile_products_per_ns == 0) GTEST_SKIP() << GetParam()->name << " has no tiles";
  const std::vector<loops::LoopNest> nests = tile_nests();
  const std::string text = emit::assembly(nests, *GetParam());
  EXPECT_EQ(count(text, "ldtilecfg"), 1);
  EXPECT_EQ(count(text, "tilerelease"), 1);
  EXPECT_EQ(count(text, "tdpbf16ps"), 3);
  EXPECT_GE(count(text, "vcvtne2ps2bf16"), 2);
  if (!targets::host_executes(*GetParam()))
    GTEST_SKIP() << GetParam()->name << " compiled, not executed: this host lacks it";
  expect_interpreter_results(Library::from_llvm(nests, *GetParam()), nests);
}

TEST_P(EmitTarget, SameNestsGiveTheSameBytes) {
  const std::vector<loops::LoopNest> nests = construct_nests(8);
  EXPECT_EQ(emit::compile_object(nests, *GetParam()), emit::compile_object(nests, *GetParam()));
  EXPECT_EQ(emit::compile_objects(nests, *GetParam(), 1), emit::compile_objects(nests, *GetParam(), 3));
}

TEST_P(EmitTarget, RegisterTilesStayInRegisters) {
  const bool wide = GetParam()->vector_registers == 32;
  const std::vector<loops::LoopNest> nests = {gemm_tile("tile", wide ? k_avx512_tile : k_avx2_tile)};
  const auto reports = emit::spill_report(nests, *GetParam());
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].function, "tile");
  EXPECT_EQ(reports[0].loop_stack_references, 0);
  EXPECT_GE(reports[0].loop_instructions, wide ? 14 * 2 * 4 : 6 * 2 * 4);
}

TEST_P(EmitTarget, TooManyAccumulatorsAreReported) {
  const std::vector<loops::LoopNest> nests = {
      gemm_tile("big", {GetParam()->vector_registers, 2, GetParam()->vector_lanes, 64, 4, 2})};
  EXPECT_GT(emit::spill_report(nests, *GetParam())[0].loop_stack_references, 0);
}

TEST_P(EmitTarget, OverlappingTapsKeepTheirLoads) {
  const int lanes = GetParam()->vector_lanes;
  const std::vector<loops::LoopNest> apart = {window("taps", lanes, true)},
                                     merged = {window("taps", lanes, false)};
  EXPECT_EQ(emit::spill_report(apart, *GetParam())[0].loop_stack_references, 0);
  const int loads = count(emit::assembly(apart, *GetParam()), "vbroadcastss");
  EXPECT_GT(loads, count(emit::assembly(merged, *GetParam()), "vbroadcastss"));
}

TEST_P(EmitTarget, MaximumAndMinimumAreOneInstruction) {
  std::vector<loops::LoopNest> nests = construct_nests(GetParam()->vector_lanes);
  std::erase_if(nests, [](const loops::LoopNest& nest) { return !nest.name.starts_with("binary_ops"); });
  const std::string text = emit::assembly(nests, *GetParam());
  EXPECT_GE(count(text, "vmaxps"), 2);
  EXPECT_GE(count(text, "vminps"), 1);
  EXPECT_GE(count(text, "vfmadd"), 1);
}

std::vector<const Target*> all_targets() {
  std::vector<const Target*> all;
  for (const Target& target : targets::all()) all.push_back(&target);
  return all;
}

INSTANTIATE_TEST_SUITE_P(Targets, EmitTarget, testing::ValuesIn(all_targets()), [](const auto& info) {
  std::string name = info.param->name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
});

TEST(CSource, CompiledTextEqualsTheInterpreter) {
  const std::vector<loops::LoopNest> nests = all_nests();
  expect_interpreter_results(Library::from_c(nests), nests);
}

TEST(CSource, TileProductsEqualTheInterpreter) {
  expect_interpreter_results(Library::from_c(tile_nests()), tile_nests());
}

TEST(Emit, TextsAreNotEmpty) {
  const std::vector<loops::LoopNest> nests = {gemm_tile("tile", k_avx2_tile)};
  EXPECT_NE(emit::llvm_ir(nests, targets::all().front()).find("define hidden void @tile"), std::string::npos);
  EXPECT_NE(emit::assembly(nests, targets::all().front()).find("tile:"), std::string::npos);
}

TEST(Emit, NeonKernelsStayInRegisters) {
  const Target neon{.name = "aarch64",
                    .triple = "aarch64-unknown-linux-gnu",
                    .cpu = "generic",
                    .features = "+neon",
                    .vector_lanes = 4,
                    .vector_registers = 32};
  EXPECT_FALSE(emit::compile_object(construct_nests(4), neon).empty());
  const std::vector<loops::LoopNest> nests = {gemm_tile("tile", {6, 4, 4, 64, 4, 2})};
  const auto report = emit::spill_report(nests, neon)[0];
  EXPECT_EQ(report.loop_stack_references, 0);
  EXPECT_GE(report.loop_instructions, 6 * 4 * 4);
}

TEST(Emit, TwoNestsOfOneNameAreRefused) {
  const std::vector<loops::LoopNest> nests = {gemm_tile("tile", k_avx2_tile), gemm_tile("tile", k_avx2_tile)};
  EXPECT_THROW(emit::compile_object(nests, targets::all().front()), InternalError);
}

}  // namespace onepass::test
