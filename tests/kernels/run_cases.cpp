// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/kernel_abi.h"
#include "emit/emit.h"
#include "kernels/support.h"
#include "loops/interpreter.h"

namespace onepass::kernels::test {

namespace {

// ---- guarded memory ---------------------------------------------------------------------------------------

constexpr int64_t k_page_bytes = 4096;
constexpr std::byte k_canary{0xa5};

int64_t round_up(int64_t value, int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Memory that starts behind one unmapped page and ends before another, as near to it as alignment allows.
class GuardedMemory {
 public:
  GuardedMemory(int64_t bytes, int64_t align_bytes)
      : bytes_(bytes), usable_bytes_(round_up(std::max<int64_t>(bytes, 1), k_page_bytes)) {
    void* const base =
        mmap(nullptr, usable_bytes_ + 2 * k_page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    usable_ = static_cast<std::byte*>(base) + k_page_bytes;
    mprotect(usable_, usable_bytes_, PROT_READ | PROT_WRITE);
    std::memset(usable_, std::to_integer<int>(k_canary), usable_bytes_);
    data_ = usable_ + (usable_bytes_ - bytes_) / align_bytes * align_bytes;
  }
  ~GuardedMemory() { munmap(usable_ - k_page_bytes, usable_bytes_ + 2 * k_page_bytes); }
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  float* data() const { return reinterpret_cast<float*>(data_); }
  void protect() const { mprotect(usable_, usable_bytes_, PROT_READ); }

  /// Bytes that alignment leaves before and behind the data are as they were.
  bool surround_intact() const {
    for (const std::byte* at = usable_; at < usable_ + usable_bytes_; ++at)
      if ((at < data_ || at >= data_ + bytes_) && *at != k_canary) return false;
    return true;
  }

 private:
  int64_t bytes_, usable_bytes_;
  std::byte* usable_;
  std::byte* data_;
};

// ---- one run ----------------------------------------------------------------------------------------------

std::vector<const loops::Buffer*> operand_buffers(const loops::LoopNest& nest) {
  std::vector<const loops::Buffer*> buffers;
  for (const loops::Buffer& buffer : nest.buffers)
    if (!buffer.scratch) buffers.push_back(&buffer);
  return buffers;
}

bool written_through(const Case& test, const std::vector<const loops::Buffer*>& buffers, size_t operand) {
  for (size_t i = 0; i < buffers.size(); ++i)
    if (buffers[i]->written && (i == operand || test.operands[i].same_memory_as == static_cast<int>(operand)))
      return true;
  return false;
}

bool operands_fit(const Case& test) {
  const auto buffers = operand_buffers(test.nest);
  bool fit = buffers.size() == test.operands.size();
  EXPECT_EQ(buffers.size(), test.operands.size()) << test.label << ": operands";
  for (size_t i = 0; fit && i < buffers.size(); ++i) {
    const int64_t elems =
        static_cast<int64_t>(test.operands[i].values.size()) * 4 / loops::element_bytes(buffers[i]->scalar);
    if (test.operands[i].same_memory_as >= 0 || elems >= buffers[i]->elems) continue;
    ADD_FAILURE() << test.label << ": operand " << i << " (" << buffers[i]->name << ") has " << elems
                  << " elements of " << buffers[i]->elems;
    fit = false;
  }
  return fit;
}

/// Operands that are the memory of another have its values.
void resolve_shared(Operands& operands) {
  for (Operand& operand : operands)
    if (operand.same_memory_as >= 0) operand.values = operands[operand.same_memory_as].values;
}

Operands run_interpreted(const Case& test) {
  Operands after = test.operands;
  std::vector<std::span<std::byte>> spans;
  for (Operand& operand : after) {
    std::vector<float>& memory =
        operand.same_memory_as < 0 ? operand.values : after[operand.same_memory_as].values;
    spans.push_back(std::as_writable_bytes(std::span(memory)));
  }
  loops::interpret(test.nest, spans, 0, test.nest.slices);
  resolve_shared(after);
  return after;
}

struct NativeMemory {
  std::vector<std::unique_ptr<GuardedMemory>> owned;  ///< null where an operand shares memory
  std::vector<void*> addresses;
};

NativeMemory place_operands(const Case& test) {
  const auto buffers = operand_buffers(test.nest);
  NativeMemory memory;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Operand& operand = test.operands[i];
    if (operand.same_memory_as >= 0) {
      memory.owned.push_back(nullptr);
      memory.addresses.push_back(memory.addresses[operand.same_memory_as]);
      continue;
    }
    int64_t align_bytes = buffers[i]->align_bytes;
    for (size_t j = i + 1; j < buffers.size(); ++j)
      if (test.operands[j].same_memory_as == static_cast<int>(i))
        align_bytes = std::max(align_bytes, buffers[j]->align_bytes);
    memory.owned.push_back(
        std::make_unique<GuardedMemory>(operand.values.size() * sizeof(float), align_bytes));
    memory.addresses.push_back(memory.owned.back()->data());
    std::copy(operand.values.begin(), operand.values.end(), memory.owned.back()->data());
    if (!written_through(test, buffers, i)) memory.owned.back()->protect();
  }
  return memory;
}

/// Two or three ranges of slices, the last range first.
void call_in_reverse(KernelFunction function, const Call& call, int64_t slices) {
  const int64_t step = std::max<int64_t>(1, (slices + 2) / 3);
  for (int64_t begin = (slices - 1) / step * step; begin >= 0; begin -= step)
    function(&call, begin, std::min(begin + step, slices));
}

Operands run_native(const Case& test, KernelFunction function, const std::string& how) {
  const NativeMemory memory = place_operands(test);
  const GuardedMemory scratch(loops::scratch_bytes(test.nest), 64);
  std::fill_n(scratch.data(), loops::scratch_bytes(test.nest) / sizeof(float),
              std::numeric_limits<float>::quiet_NaN());
  const Call call{.operands = memory.addresses.data(), .scratch = scratch.data()};
  call_in_reverse(function, call, test.nest.slices);
  Operands after = test.operands;
  for (size_t i = 0; i < after.size(); ++i) {
    if (memory.owned[i] == nullptr) continue;
    EXPECT_TRUE(memory.owned[i]->surround_intact())
        << test.label << " (" << how << "): wrote around operand " << i;
    std::copy_n(memory.owned[i]->data(), after[i].values.size(), after[i].values.begin());
  }
  resolve_shared(after);
  return after;
}

// ---- compiled code ----------------------------------------------------------------------------------------

/// A folder that lives as long as the object.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "onepass-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

using Library = std::shared_ptr<void>;

Library open_library(const std::string& path) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  return {handle, [](void* library) { dlclose(library); }};
}

/// The functions of a library's table, in the order of the cases. Kernels themselves are hidden symbols.
constexpr const char* k_table = "onepass_test_kernels";

KernelFunction function_of(const Library& library, size_t index) {
  void* const table = dlsym(library.get(), k_table);
  if (table == nullptr) throw std::runtime_error("the library has no table of kernels");
  return static_cast<const KernelFunction*>(table)[index];
}

std::string assembly_table(const std::vector<Case>& cases) {
  std::string text = "  .section .data.rel.ro,\"aw\"\n  .p2align 3\n  .globl " + std::string(k_table) + "\n" +
                     k_table + ":\n";
  for (const Case& test : cases) text += "  .quad " + test.nest.name + "\n";
  return text;
}

std::string c_table(const std::vector<Case>& cases) {
  std::string text = "\nvoid* const " + std::string(k_table) + "[] = {";
  for (const Case& test : cases) text += "(void*)" + test.nest.name + ", ";
  return text + "};\n";
}

std::vector<loops::LoopNest> nests_of(const std::vector<Case>& cases) {
  std::vector<loops::LoopNest> nests;
  for (const Case& test : cases) nests.push_back(test.nest);
  return nests;
}

void write_object(const std::string& path, const emit::Object& object) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
}

Library compile_with_llvm(const std::vector<Case>& cases, const targets::Target& target,
                          const TemporaryFolder& folder) {
  const std::string stem = folder.file(target.name);
  write_object(stem + ".o", emit::compile_object(nests_of(cases), target));
  write_object(stem + "-table.o", emit::assemble(assembly_table(cases), target));
  emit::link_shared(
      {.object_paths = {stem + ".o", stem + "-table.o"}, .exported = {k_table}, .soname = "kernels.so"},
      target, stem + ".so");
  return open_library(stem + ".so");
}

bool has_c_compiler() {
  return std::system("cc --version > /dev/null 2>&1") == 0;
}

Library compile_with_cc(const std::vector<Case>& cases, const TemporaryFolder& folder) {
  const std::string source = folder.file("kernels.c");
  const std::string library = folder.file("kernels.so");
  const std::string log = folder.file("cc.log");
  std::ofstream(source) << emit::c_source(nests_of(cases)) << c_table(cases);
  const std::string command = "cc -std=gnu11 -O0 -march=native -ffp-contract=off -w -shared -fPIC -o " +
                              library + " " + source + " -lm > " + log + " 2>&1";
  if (std::system(command.c_str()) != 0) {
    std::ifstream messages(log);
    throw std::runtime_error("cc refuses the printed C:\n" +
                             std::string(std::istreambuf_iterator<char>(messages), {}));
  }
  return open_library(library);
}

// ---- comparison -------------------------------------------------------------------------------------------

struct Results {
  std::vector<Operands> after;    ///< by case; empty until the first run
  std::vector<std::string> from;  ///< how the first run was made
};

void take_or_compare(Results& results, size_t index, const Case& test, Operands after,
                     const std::string& how) {
  if (results.after[index].empty()) {
    results.after[index] = std::move(after);
    results.from[index] = how;
    return;
  }
  for (size_t i = 0; i < after.size(); ++i)
    expect_same_bits(
        results.after[index][i].values, after[i].values,
        test.label + ", operand " + std::to_string(i) + ", " + results.from[index] + " against " + how);
}

/// Interpreter and printed C, for the cases that are small enough.
void run_small(const std::vector<Case>& cases, const TemporaryFolder& folder, Results& results) {
  std::vector<size_t> small;
  std::vector<Case> small_cases;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!cases[i].interpret) continue;
    small.push_back(i);
    small_cases.push_back(cases[i]);
    take_or_compare(results, i, cases[i], run_interpreted(cases[i]), "interpreter");
  }
  if (small.empty() || !has_c_compiler()) return;
  const Library library = compile_with_cc(small_cases, folder);
  for (size_t at = 0; at < small.size(); ++at)
    take_or_compare(results, small[at], small_cases[at],
                    run_native(small_cases[at], function_of(library, at), "printed C"), "printed C");
}

/// The cases that `target` runs: nests with tiles on targets that have some, the others on those without.
std::vector<size_t> cases_for(const targets::Target& target, const std::vector<Case>& cases) {
  std::vector<size_t> chosen;
  for (size_t i = 0; i < cases.size(); ++i)
    if ((cases[i].nest.tiles > 0) == (target.tile_products_per_ns > 0)) chosen.push_back(i);
  return chosen;
}

void run_compiled(const std::vector<Case>& cases, const targets::Target& target, Results& results) {
  const TemporaryFolder folder;
  const std::vector<size_t> chosen = cases_for(target, cases);
  if (chosen.empty()) return;
  std::vector<Case> own;
  for (const size_t i : chosen) own.push_back(cases[i]);
  const std::string how = std::string("LLVM ") + target.name;
  const Library library = compile_with_llvm(own, target, folder);
  for (size_t at = 0; at < own.size(); ++at)
    take_or_compare(results, chosen[at], own[at], run_native(own[at], function_of(library, at), how), how);
}

void run_all_ways(const std::vector<Case>& cases, Results& results) {
  const TemporaryFolder folder;
  run_small(cases, folder, results);
  for (const targets::Target& target : targets::all())
    if (targets::host_executes(target)) run_compiled(cases, target, results);
}

}  // namespace

void run_cases(std::vector<Case> cases) {
  for (size_t i = 0; i < cases.size(); ++i) {
    cases[i].nest.name = "kernel_" + std::to_string(i);
    if (!operands_fit(cases[i])) return;
  }
  Results results{std::vector<Operands>(cases.size()), std::vector<std::string>(cases.size())};
  try {
    run_all_ways(cases, results);
  } catch (const std::exception& fault) {
    ADD_FAILURE() << fault.what();
    return;
  }
  for (size_t i = 0; i < cases.size(); ++i)
    if (cases[i].check && !results.after[i].empty()) cases[i].check(results.after[i]);
}

Operands run_case(const std::string& label, loops::LoopNest nest, Operands operands) {
  Operands result = operands;
  std::vector<Case> cases;
  cases.push_back(
      {label, std::move(nest), std::move(operands), [&](const Operands& after) { result = after; }});
  run_cases(std::move(cases));
  return result;
}

}  // namespace onepass::kernels::test
