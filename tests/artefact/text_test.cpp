// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "artefact/arena_layout.h"
#include "artefact/description.h"
#include "base/diagnostic.h"

namespace onepass::artefact {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Description small() {
  Description d;
  d.inputs = {{.name = "x\"\\\n/*", .dtype = DataType::f32, .dims = {1, 3}}};
  d.outputs = {
      {.name = "rows", .dtype = DataType::i64, .dims = {9, 3}, .counted_axis = 0, .count_offset_bytes = 128}};
  d.launches = {
      {.symbol = "kernel_0",
       .name = "conv1 + relu",
       .operands = {{Space::input, 0, 0}, {Space::arena, 0, 64}},
       .slices = 4,
       .cost_ns = 77},
      {.symbol = "onepass_copy_4", .name = "copy", .params = {5, -1}, .operands = {{Space::output, 0, 0}}}};
  d.arena_bytes = 1000;
  d.scratch_bytes = 100;
  d.weights_bytes = 10;
  d.target = "x86-64-v3";
  d.metadata = "{\"tool\":\"onepass\"}";
  return d;
}

TEST(DataAssembly, SameDescriptionSameText) {
  EXPECT_EQ(data_assembly(small(), "w.bin"), data_assembly(small(), "w.bin"));
  Description other = small();
  other.launches[0].slices = 5;
  EXPECT_NE(data_assembly(small(), "w.bin"), data_assembly(other, "w.bin"));
}

TEST(DataAssembly, NamesEveryPart) {
  const std::string text = data_assembly(small(), "w.bin");
  EXPECT_THAT(text, HasSubstr(" .hidden kernel_0\n"));
  EXPECT_THAT(text, HasSubstr(" .quad kernel_0\n"));
  EXPECT_THAT(text, HasSubstr(" .hidden onepass_model_record\n"));
  EXPECT_THAT(text, HasSubstr(" .p2align 12\n.Lweights:\n .incbin \"w.bin\",0,10\n"));
  EXPECT_THAT(text, HasSubstr(" .asciz \"x\\042\\134\\012/*\"\n"));
  EXPECT_THAT(text, HasSubstr(".section .data.rel.ro"));
}

TEST(DataAssembly, LeavesNoWeightsOut) {
  Description d = small();
  d.weights_bytes = 0;
  EXPECT_THAT(data_assembly(d, ""), Not(HasSubstr(".incbin")));
}

TEST(DataAssembly, RequiresIdentifiers) {
  for (const char* symbol : {"", "a b", "9a", "a\n.quad 1", "a;b"}) {
    Description d = small();
    d.launches[0].symbol = symbol;
    EXPECT_THROW(data_assembly(d, "w.bin"), InternalError) << symbol;
  }
}

TEST(DataAssembly, RequiresAtMostEightAxes) {
  Description d = small();
  d.inputs[0].dims.assign(9, 1);
  EXPECT_THROW(data_assembly(d, "w.bin"), InternalError);
}

TEST(CHeader, SpellsOutTheModel) {
  const std::string text = c_header(small(), "My net-1.0");
  EXPECT_THAT(text, HasSubstr(" *   0  i64[<=9,3]  rows\n"));
  EXPECT_THAT(text, HasSubstr("0  f32[1,3]  x\"\\?/?\n"));
  EXPECT_THAT(text, HasSubstr("#define MY_NET_1_0_INPUT_COUNT 1\n"));
  const int64_t bytes = total_arena_bytes(1000, thread_block(2, 100), 1);
  EXPECT_THAT(text, HasSubstr("#define MY_NET_1_0_ARENA_BYTES " + std::to_string(bytes) + "\n"));
  EXPECT_THAT(c_header(small(), "9net"), HasSubstr("#define MODEL_9NET_OUTPUT_COUNT 1\n"));
}

TEST(CHeader, BeginsWithTheInstalledHeader) {
  std::ifstream file(std::string(ONEPASS_SOURCE_DIR) + "/include/onepass/model.h");
  const std::string installed{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(installed.empty());
  EXPECT_EQ(c_header(small(), "net").substr(0, installed.size()), installed);
}

TEST(CHeader, IsPlainC) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "onepass_c_header";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "one.h") << c_header(small(), "one");
  std::ofstream(folder / "two.h") << c_header(small(), "two*/");
  std::ofstream(folder / "use.c") << "#include \"one.h\"\n#include \"two.h\"\n#include \"one.h\"\n"
                                     "int use(void) { return ONE_ARENA_BYTES + TWO___INPUT_COUNT; }\n";
  const std::string command =
      "cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only " + (folder / "use.c").string();
  EXPECT_EQ(std::system(command.c_str()), 0);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace onepass::artefact
