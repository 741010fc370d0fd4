// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm_target.h"

#include <fmt/format.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>

#include <mutex>

#include "base/diagnostic.h"

namespace onepass::emit {

namespace {

void register_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();
    LLVMInitializeX86Disassembler();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
    LLVMInitializeAArch64Disassembler();
  });
}

}  // namespace

const llvm::Target& llvm_target(const targets::Target& target) {
  register_targets();
  std::string message;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, message);
  if (found == nullptr)
    throw InternalError(fmt::format("LLVM has no target '{}': {}", target.triple, message));
  return *found;
}

std::unique_ptr<llvm::TargetMachine> target_machine(const targets::Target& target) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FunctionSections = true;
  options.DataSections = true;
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target(target).createTargetMachine(
      target.triple, target.cpu, target.features, options, llvm::Reloc::PIC_, std::nullopt,
      llvm::CodeGenOptLevel::Aggressive));
  if (machine == nullptr) throw InternalError(fmt::format("LLVM makes no machine for '{}'", target.name));
  return machine;
}

}  // namespace onepass::emit
