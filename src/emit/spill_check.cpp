// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstrAnalysis.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ELFObjectFile.h>

#include <map>

#include "base/diagnostic.h"
#include "emit/emit.h"
#include "emit/llvm_target.h"

namespace onepass::emit {

namespace {

struct Instruction {
  uint64_t address;
  llvm::MCInst decoded;
};

/// [first, last] are instruction numbers.
struct Loop {
  size_t first, last;
};

class Disassembler {
 public:
  explicit Disassembler(const targets::Target& target)
      : registers_(llvm_target(target).createMCRegInfo(target.triple)),
        syntax_(llvm_target(target).createMCAsmInfo(*registers_, target.triple, options_)),
        instructions_(llvm_target(target).createMCInstrInfo()),
        subtarget_(llvm_target(target).createMCSubtargetInfo(target.triple, target.cpu, target.features)),
        context_(llvm::Triple(target.triple), syntax_.get(), registers_.get(), subtarget_.get()),
        disassembler_(llvm_target(target).createMCDisassembler(*subtarget_, context_)),
        analysis_(llvm_target(target).createMCInstrAnalysis(instructions_.get())) {}

  SpillReport report(const std::string& name, llvm::ArrayRef<uint8_t> code) const {
    SpillReport report{.function = name};
    const std::vector<Instruction> function = decode(code);
    const bool frame_pointer = sets_frame_pointer(function);
    for (const Loop& loop : innermost(loops(function, code.size()))) {
      for (size_t i = loop.first; i <= loop.last; ++i) {
        ++report.loop_instructions;
        if (touches_stack(function[i].decoded, frame_pointer)) ++report.loop_stack_references;
      }
    }
    return report;
  }

 private:
  std::vector<Instruction> decode(llvm::ArrayRef<uint8_t> code) const {
    std::vector<Instruction> function;
    for (uint64_t address = 0; address < code.size();) {
      uint64_t size = 0;
      llvm::MCInst decoded;
      const auto status =
          disassembler_->getInstruction(decoded, size, code.slice(address), address, llvm::nulls());
      if (status != llvm::MCDisassembler::Success) throw InternalError("generated code does not disassemble");
      function.push_back({address, decoded});
      address += size;
    }
    return function;
  }

  std::vector<Loop> loops(const std::vector<Instruction>& function, uint64_t size_bytes) const {
    std::map<uint64_t, size_t> numbers;
    for (size_t i = 0; i < function.size(); ++i) numbers[function[i].address] = i;
    std::vector<Loop> found;
    for (size_t i = 0; i < function.size(); ++i) {
      if (!analysis_->isBranch(function[i].decoded)) continue;
      const uint64_t next = i + 1 < function.size() ? function[i + 1].address : size_bytes;
      uint64_t target = 0;
      const uint64_t size = next - function[i].address;
      if (!analysis_->evaluateBranch(function[i].decoded, function[i].address, size, target)) continue;
      const auto first = numbers.find(target);
      if (first != numbers.end() && first->second <= i) found.push_back({first->second, i});
    }
    return found;
  }

  static std::vector<Loop> innermost(const std::vector<Loop>& loops) {
    std::vector<Loop> result;
    for (const Loop& outer : loops) {
      bool holds_another = false;
      for (const Loop& inner : loops) {
        const bool same = inner.first == outer.first && inner.last == outer.last;
        holds_another |= !same && inner.first >= outer.first && inner.last <= outer.last;
      }
      if (!holds_another) result.push_back(outer);
    }
    return result;
  }

  bool is_named(llvm::MCRegister reg, std::initializer_list<const char*> names) const {
    if (!reg.isValid()) return false;
    for (const char* name : names)
      if (std::string_view(registers_->getName(reg)) == name) return true;
    return false;
  }

  bool sets_frame_pointer(const std::vector<Instruction>& function) const {
    for (const Instruction& instruction : function) {
      const llvm::MCInst& decoded = instruction.decoded;
      if (decoded.getNumOperands() < 2 || !decoded.getOperand(0).isReg() || !decoded.getOperand(1).isReg())
        continue;
      if (is_named(decoded.getOperand(0).getReg(), {"RBP", "FP"}) &&
          is_named(decoded.getOperand(1).getReg(), {"RSP", "SP"}))
        return true;
    }
    return false;
  }

  /// Loads and stores through the stack or frame pointer. Pushes and pops have no such operand.
  bool touches_stack(const llvm::MCInst& instruction, bool frame_pointer) const {
    const llvm::MCInstrDesc& description = instructions_->get(instruction.getOpcode());
    if (!description.mayLoad() && !description.mayStore()) return false;
    for (const llvm::MCOperand& operand : instruction) {
      if (!operand.isReg()) continue;
      if (is_named(operand.getReg(), {"RSP", "SP"})) return true;
      if (frame_pointer && is_named(operand.getReg(), {"RBP", "FP"})) return true;
    }
    return false;
  }

  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> syntax_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
};

template <class T>
T checked(llvm::Expected<T> expected) {
  if (expected) return std::move(*expected);
  throw InternalError("generated object: " + llvm::toString(expected.takeError()));
}

std::map<std::string, llvm::ArrayRef<uint8_t>> function_code(const llvm::object::ELFObjectFileBase& object) {
  std::map<std::string, llvm::ArrayRef<uint8_t>> code;
  for (const llvm::object::ELFSymbolRef symbol : object.symbols()) {
    if (checked(symbol.getType()) != llvm::object::SymbolRef::ST_Function) continue;
    const llvm::object::section_iterator section = checked(symbol.getSection());
    if (section == object.section_end()) continue;
    const llvm::StringRef contents = checked(section->getContents());
    const auto bytes = llvm::arrayRefFromStringRef(contents);
    code[checked(symbol.getName()).str()] = bytes.slice(checked(symbol.getAddress()), symbol.getSize());
  }
  return code;
}

}  // namespace

std::vector<SpillReport> spill_report(std::span<const loops::LoopNest> nests, const targets::Target& target) {
  const Object bytes = compile_object(nests, target);
  const llvm::StringRef contents(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto object = checked(llvm::object::ObjectFile::createELFObjectFile({contents, "kernels"}));
  const auto* elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(object.get());
  require(elf != nullptr, "the object is ELF");
  const auto code = function_code(*elf);
  const Disassembler disassembler(target);
  std::vector<SpillReport> reports;
  for (const loops::LoopNest& nest : nests)
    reports.push_back(disassembler.report(nest.name, code.at(nest.name)));
  return reports;
}

}  // namespace onepass::emit
