// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/diagnostic.h"
#include "emit/emit.h"
#include "emit/harness.h"
#include "emit/process.h"

namespace onepass::test {

namespace {

const targets::Target& target() {
  return targets::all().front();
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST(Assemble, DataAndIncludedFilesAreExported) {
  const TemporaryFolder folder;
  write_file(folder / "weights.bin", std::string("0123456789abcdef"));
  const std::string text =
      ".section .rodata,\"a\"\n.p2align 12\n.globl blob\n.type blob,@object\nblob:\n.incbin \"" +
      (folder / "weights.bin") +
      "\"\n.size blob, 16\n.globl name\nname: .asciz \"relu\"\n"
      ".section .data.rel.ro,\"aw\"\n.p2align 3\n.globl entry\nentry: .quad blob\n.quad 42\n.hidden "
      "inner\ninner: .quad "
      "7\n";
  write_file(folder / "data.o", emit::assemble(text, target()));
  emit::link_shared(
      {.object_paths = {folder / "data.o"}, .exported = {"blob", "name", "entry"}, .soname = "data.so"},
      target(), folder / "data.so");
  if (!targets::host_executes(target())) GTEST_SKIP() << "another host's shared object";
  void* library = dlopen((folder / "data.so").c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto* blob = static_cast<const char*>(dlsym(library, "blob"));
  EXPECT_EQ(std::memcmp(blob, "0123456789abcdef", 16), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(blob) % 4096, 0u);
  EXPECT_STREQ(static_cast<const char*>(dlsym(library, "name")), "relu");
  const auto* entry = static_cast<const int64_t*>(dlsym(library, "entry"));
  EXPECT_EQ(reinterpret_cast<const char*>(entry[0]), blob);
  EXPECT_EQ(entry[1], 42);
  EXPECT_EQ(dlsym(library, "inner"), nullptr);
  dlclose(library);
}

TEST(Assemble, FaultyTextIsRefused) {
  EXPECT_THROW(emit::assemble(".quadd 1\n", target()), InternalError);
  EXPECT_THROW(emit::assemble(".incbin \"/nonexistent/file\"\n", target()), InternalError);
}

TEST(Link, SameInputsGiveTheSameBytesAndLeaveNothingBehind) {
  const TemporaryFolder folder;
  write_file(folder / "data.o", emit::assemble(".data\n.globl a\na: .quad 1\n", target()));
  for (const char* name : {"one.so", "two.so"})
    emit::link_shared({.object_paths = {folder / "data.o"}, .exported = {"a"}, .soname = "x.so"}, target(),
                      folder / name);
  EXPECT_EQ(contents(folder / "one.so"), contents(folder / "two.so"));
  const auto files = std::filesystem::directory_iterator(folder / ".");
  EXPECT_EQ(std::distance(begin(files), end(files)), 3);
}

TEST(Link, UndefinedSymbolsAreNamed) {
  const TemporaryFolder folder;
  write_file(folder / "data.o", emit::assemble(".data\n.globl a\na: .quad missing_symbol\n", target()));
  try {
    emit::link_shared({.object_paths = {folder / "data.o"}, .exported = {"a"}, .soname = "x.so"}, target(),
                      folder / "x.so");
    FAIL() << "linked";
  } catch (const InternalError& error) {
    EXPECT_NE(std::string(error.what()).find("missing_symbol"), std::string::npos);
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "x.so"));
}

TEST(Link, AFolderThatIsMissingIsTheUsersFault) {
  const TemporaryFolder folder;
  write_file(folder / "data.o", emit::assemble(".data\n.globl a\na: .quad 1\n", target()));
  EXPECT_THROW(emit::link_shared({.object_paths = {folder / "data.o"}, .exported = {"a"}}, target(),
                                 folder / "no/x.so"),
               Error);
}

TEST(Process, OutputExitCodeAndAbsence) {
  const auto result = emit::run_process({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->exit_code, 3);
  EXPECT_EQ(result->messages, "out\nerr\n");
  EXPECT_FALSE(emit::run_process({"onepass-no-such-program"}).has_value());
}

}  // namespace onepass::test
