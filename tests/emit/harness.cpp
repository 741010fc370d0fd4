// SPDX-License-Identifier: Apache-2.0
#include "emit/harness.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include "base/diagnostic.h"
#include "emit/process.h"
#include "loops/interpreter.h"

namespace onepass::test {

namespace {

constexpr const char* k_table = "kernel_table";

std::vector<float> special_values() {
  using limits = std::numeric_limits<float>;
  return {limits::quiet_NaN(),
          limits::infinity(),
          -limits::infinity(),
          0.0f,
          -0.0f,
          limits::denorm_min(),
          -1e-40f,
          limits::max(),
          limits::lowest(),
          limits::min(),
          1.0f,
          -1.0f,
          0.5f,
          1.5f,
          2.5f,
          -2.5f,
          -0.5f,
          0.49999997f,
          2147483520.0f,
          2147483648.0f,
          -2147483648.0f,
          -2147483904.0f,
          8388609.0f,
          -3.7f};
}

std::string table_text(const std::vector<loops::LoopNest>& nests) {
  std::string text = fmt::format(".section .data.rel.ro.{0},\"aw\"\n.p2align 3\n.globl {0}\n{0}:\n", k_table);
  for (const loops::LoopNest& nest : nests) text += fmt::format(".quad {}\n", nest.name);
  return text;
}

}  // namespace

Operands random_operands(const loops::LoopNest& nest, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> real(-2.0f, 2.0f);
  std::uniform_int_distribution<int32_t> integer(-1000, 1000);
  Operands operands;
  for (const loops::Buffer& buffer : nest.buffers) {
    if (buffer.scratch) continue;
    std::vector<uint32_t>& words = operands.emplace_back(buffer.elems);
    for (uint32_t& word : words)
      word = buffer.scalar == loops::Scalar::f32 ? std::bit_cast<uint32_t>(real(random))
                                                 : static_cast<uint32_t>(integer(random));
  }
  return operands;
}

Operands special_operands(const loops::LoopNest& nest, uint32_t seed) {
  Operands operands = random_operands(nest, seed);
  std::mt19937 random(seed);
  const std::vector<float> values = special_values();
  size_t operand = 0;
  for (const loops::Buffer& buffer : nest.buffers) {
    if (buffer.scratch) continue;
    std::vector<uint32_t>& words = operands[operand++];
    if (buffer.written || buffer.scalar != loops::Scalar::f32) continue;
    for (uint32_t& word : words) word = std::bit_cast<uint32_t>(values[random() % values.size()]);
  }
  return operands;
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "onepass-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw InternalError("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::string& path, const emit::Object& bytes) {
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

Library::Library(const std::string& path, size_t count)
    : handle_(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw InternalError(dlerror());
  const auto* table = static_cast<KernelFunction*>(dlsym(handle_, k_table));
  if (table == nullptr) throw InternalError(dlerror());
  kernels_.assign(table, table + count);
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

Library Library::from_llvm(const std::vector<loops::LoopNest>& nests, const targets::Target& target) {
  const TemporaryFolder folder;
  write_file(folder / "kernels.o", emit::compile_object(nests, target));
  write_file(folder / "table.o", emit::assemble(table_text(nests), target));
  emit::link_shared(
      {.object_paths = {folder / "kernels.o", folder / "table.o"}, .exported = {k_table}, .soname = "k.so"},
      target, folder / "kernels.so");
  return Library(folder / "kernels.so", nests.size());
}

Library Library::from_c(const std::vector<loops::LoopNest>& nests) {
  const TemporaryFolder folder;
  std::string text = emit::c_source(nests);
  text += fmt::format("\nvoid (*const {}[])(const struct onepass_call*, int64_t, int64_t) = {{\n", k_table);
  for (const loops::LoopNest& nest : nests) text += fmt::format("  {},\n", nest.name);
  write_file(folder / "kernels.c", text + "};\n");
  const auto result = emit::run_process({"cc", "-std=gnu11", "-O1", "-ffp-contract=off", "-Wall", "-Wextra",
                                         "-Werror", "-Wno-psabi", "-Wno-unused-variable", "-shared", "-fPIC",
                                         "-o", folder / "c.so", folder / "kernels.c", "-lm"});
  if (!result) throw InternalError("no C compiler 'cc' on PATH");
  if (result->exit_code != 0) throw InternalError("cc: " + result->messages);
  return Library(folder / "c.so", nests.size());
}

void run_kernel(KernelFunction kernel, const loops::LoopNest& nest, Operands& operands) {
  std::vector<void*> addresses;
  for (std::vector<uint32_t>& words : operands) addresses.push_back(words.data());
  const auto scratch_bytes = static_cast<size_t>(loops::scratch_bytes(nest)) + 64;
  void* scratch = std::aligned_alloc(64, scratch_bytes);
  const Call call{addresses.data(), scratch, nullptr};
  const int64_t middle = nest.slices / 2;
  kernel(&call, middle, nest.slices);
  kernel(&call, 0, middle);
  std::free(scratch);
}

void run_interpreter(const loops::LoopNest& nest, Operands& operands) {
  std::vector<std::span<std::byte>> memory;
  for (std::vector<uint32_t>& words : operands) memory.push_back(std::as_writable_bytes(std::span(words)));
  loops::interpret(nest, memory, 0, nest.slices);
}

std::string difference(const loops::LoopNest& nest, const Operands& expected, const Operands& actual) {
  size_t operand = 0;
  for (const loops::Buffer& buffer : nest.buffers) {
    if (buffer.scratch) continue;
    for (size_t i = 0; i < expected[operand].size(); ++i) {
      const uint32_t a = expected[operand][i], b = actual[operand][i];
      const bool f32 = buffer.scalar == loops::Scalar::f32;
      const auto a_value = std::bit_cast<float>(a), b_value = std::bit_cast<float>(b);
      if (a == b || (f32 && std::isnan(a_value) && std::isnan(b_value))) continue;
      return fmt::format("{}: buffer {} element {}: expected {:#x} ({}), got {:#x} ({})", nest.name,
                         buffer.name, i, a, a_value, b, b_value);
    }
    ++operand;
  }
  return "";
}

}  // namespace onepass::test
