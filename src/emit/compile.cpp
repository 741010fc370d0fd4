// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "base/diagnostic.h"
#include "emit/emit.h"
#include "emit/llvm_kernel.h"
#include "emit/llvm_target.h"
#include "emit/revision.h"
#include "loops/check.h"
#include "loops/printer.h"

namespace onepass::emit {

namespace {

/// A module with its context and machine.
struct Compilation {
  llvm::LLVMContext context;
  std::unique_ptr<llvm::TargetMachine> machine;
  std::unique_ptr<llvm::Module> module;
};

std::unique_ptr<Compilation> build_module(std::span<const loops::LoopNest> nests,
                                          const targets::Target& target, bool keep_names) {
  auto compilation = std::make_unique<Compilation>();
  compilation->context.setDiscardValueNames(!keep_names);
  compilation->machine = target_machine(target);
  compilation->module = std::make_unique<llvm::Module>("kernels", compilation->context);
  llvm::Module& module = *compilation->module;
  module.setTargetTriple(target.triple);
  module.setDataLayout(compilation->machine->createDataLayout());
  for (const loops::LoopNest& nest : nests) {
    loops::check(nest);
    add_kernel(module, nest, target);
  }
  std::string message;
  llvm::raw_string_ostream stream(message);
  if (llvm::verifyModule(module, &stream)) throw InternalError("LLVM refuses a kernel: " + message);
  return compilation;
}

llvm::SmallString<0> generate(Compilation& compilation, llvm::CodeGenFileType file_type) {
  llvm::SmallString<0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (compilation.machine->addPassesToEmitFile(passes, stream, nullptr, file_type))
    throw InternalError("LLVM does not generate code for this target");
  passes.run(*compilation.module);
  return bytes;
}

}  // namespace

Object compile_object(std::span<const loops::LoopNest> nests, const targets::Target& target) {
  const auto compilation = build_module(nests, target, false);
  const llvm::SmallString<0> bytes = generate(*compilation, llvm::CodeGenFileType::ObjectFile);
  const auto* first = reinterpret_cast<const std::byte*>(bytes.data());
  return Object(first, first + bytes.size());
}

std::string object_key(const loops::LoopNest& nest, const targets::Target& target) {
  return fmt::format("emit {}\nLLVM {}\n{} {} {}\n{} lanes, {} registers, broadcast {}\n{}", k_revision,
                     LLVM_VERSION_STRING, target.triple, target.cpu, target.features, target.vector_lanes,
                     target.vector_registers, target.broadcast_operand, loops::print(nest));
}

namespace {

Object object_of(const loops::LoopNest& nest, const targets::Target& target, const ObjectStore* store) {
  if (store == nullptr) return compile_object({&nest, 1}, target);
  const std::string key = object_key(nest, target);
  if (std::optional<Object> kept = store->find(key)) return std::move(*kept);
  Object object = compile_object({&nest, 1}, target);
  store->keep(key, object);
  return object;
}

}  // namespace

std::vector<Object> compile_objects(std::span<const loops::LoopNest> nests, const targets::Target& target,
                                    int jobs, const ObjectStore* store) {
  std::vector<Object> objects(nests.size());
  std::vector<std::exception_ptr> failures(nests.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < nests.size(); i = next++) {
      try {
        objects[i] = object_of(nests[i], target, store);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> helpers;
    for (int i = 1; i < std::min<int>(jobs, static_cast<int>(nests.size())); ++i) helpers.emplace_back(work);
    work();
  }
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return objects;
}

std::string llvm_ir(std::span<const loops::LoopNest> nests, const targets::Target& target) {
  const auto compilation = build_module(nests, target, true);
  std::string text;
  llvm::raw_string_ostream stream(text);
  compilation->module->print(stream, nullptr);
  return text;
}

std::string assembly(std::span<const loops::LoopNest> nests, const targets::Target& target) {
  const auto compilation = build_module(nests, target, false);
  return std::string(generate(*compilation, llvm::CodeGenFileType::AssemblyFile).str());
}

}  // namespace onepass::emit
