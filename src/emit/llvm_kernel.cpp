// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm_kernel.h"

#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <string>

#include "base/diagnostic.h"
#include "base/kernel_abi.h"
#include "emit/llvm_index.h"
#include "emit/llvm_tiles.h"
#include "emit/llvm_values.h"

namespace onepass::emit {

namespace {

using loops::Compare;

bool holds(Compare compare, int64_t difference) {
  switch (compare) {
    case Compare::lt:
      return difference < 0;
    case Compare::le:
      return difference <= 0;
    case Compare::gt:
      return difference > 0;
    case Compare::ge:
      return difference >= 0;
    case Compare::eq:
      return difference == 0;
    case Compare::ne:
      return difference != 0;
  }
  return false;
}

llvm::CmpInst::Predicate predicate(Compare compare) {
  switch (compare) {
    case Compare::lt:
      return llvm::CmpInst::ICMP_SLT;
    case Compare::le:
      return llvm::CmpInst::ICMP_SLE;
    case Compare::gt:
      return llvm::CmpInst::ICMP_SGT;
    case Compare::ge:
      return llvm::CmpInst::ICMP_SGE;
    case Compare::eq:
      return llvm::CmpInst::ICMP_EQ;
    case Compare::ne:
      return llvm::CmpInst::ICMP_NE;
  }
  return llvm::CmpInst::BAD_ICMP_PREDICATE;
}

class KernelEmitter {
 public:
  KernelEmitter(llvm::Function* function, const loops::LoopNest& nest, const targets::Target& target)
      : function_(function),
        nest_(nest),
        builder_(llvm::BasicBlock::Create(function->getContext(), "entry", function)),
        indexes_(builder_, nest),
        values_(builder_, indexes_, nest, target),
        tiles_(builder_, indexes_, nest) {}

  void emit() {
    values_.make_registers();
    set_buffers();
    tiles_.configure();
    indexes_.open_level(start_body());
    slice_loop();
    tiles_.release();
    builder_.CreateRetVoid();
    indexes_.close_level();
    tidy();
  }

 private:
  // ---- the function ---------------------------------------------------------------------------------------

  llvm::Value* load_pointer(llvm::Value* from, int64_t offset_bytes) {
    llvm::Value* address = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), from, offset_bytes);
    llvm::LoadInst* load = builder_.CreateLoad(builder_.getPtrTy(), address);
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(function_->getContext(), {}));
    return load;
  }

  void set_buffers() {
    llvm::Value* operands = load_pointer(function_->getArg(0), offsetof(Call, operands));
    llvm::Value* scratch = load_pointer(function_->getArg(0), offsetof(Call, scratch));
    int64_t operand = 0;
    for (int32_t i = 0; i < static_cast<int32_t>(nest_.buffers.size()); ++i) {
      const loops::BufferId id{i};
      if (!nest_.buffers[i].scratch) {
        indexes_.set_buffer(id, load_pointer(operands, operand++ * static_cast<int64_t>(sizeof(void*))));
        continue;
      }
      const int64_t offset_bytes = loops::scratch_offset_bytes(nest_, id);
      indexes_.set_buffer(id,
                          builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), scratch, offset_bytes));
    }
  }

  void slice_loop() {
    const LinearForm begin = indexes_.new_atom(function_->getArg(1));
    const LinearForm end = indexes_.new_atom(function_->getArg(2));
    runtime_loop(begin, end, 1, [&](const LinearForm& slice) {
      if (nest_.slice.id >= 0) indexes_.bind(nest_.slice, slice);
      emit_body(nest_.body);
    });
  }

  void tidy() {
    std::vector<llvm::AllocaInst*> registers;
    for (llvm::Instruction& instruction : function_->getEntryBlock())
      if (auto* alloca = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) registers.push_back(alloca);
    llvm::DominatorTree dominators(*function_);
    llvm::PromoteMemToReg(registers, dominators);
    for (auto block = function_->begin(); block != function_->end();)
      llvm::MergeBlockIntoPredecessor(&*block++);
  }

  // ---- control flow ---------------------------------------------------------------------------------------

  llvm::BasicBlock* new_block(const char* name) {
    return llvm::BasicBlock::Create(function_->getContext(), name, function_);
  }

  /// Ends the current block and goes on in a new one; what is inserted before the result runs in the former.
  llvm::Instruction* start_body() {
    llvm::BasicBlock* body = new_block("body");
    llvm::Instruction* jump = builder_.CreateBr(body);
    builder_.SetInsertPoint(body);
    return jump;
  }

  template <class EmitBody>
  void runtime_loop(const LinearForm& begin, const LinearForm& end, int64_t step, EmitBody emit_loop_body) {
    const LinearForm span = end - begin;
    llvm::Value* first = indexes_.value(begin);
    llvm::Value* limit = indexes_.value(end);
    llvm::BasicBlock* loop = new_block("loop");
    llvm::BasicBlock* after = new_block("after");
    if (span.terms.empty())
      builder_.CreateBr(loop);
    else
      builder_.CreateCondBr(builder_.CreateICmpSLT(first, limit), loop, after);
    llvm::BasicBlock* before = builder_.GetInsertBlock();
    builder_.SetInsertPoint(loop);
    llvm::PHINode* counter = builder_.CreatePHI(builder_.getInt64Ty(), 2);
    counter->addIncoming(first, before);
    indexes_.open_level(start_body());
    emit_loop_body(indexes_.new_atom(counter));
    indexes_.close_level();
    llvm::Value* next = builder_.CreateNSWAdd(counter, builder_.getInt64(step));
    counter->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, limit), loop, after);
    builder_.SetInsertPoint(after);
  }

  // ---- statements -----------------------------------------------------------------------------------------

  void emit_body(const loops::Body& body) {
    for (const loops::Stmt& stmt : body) {
      values_.start_statement();
      std::visit([&](const auto& kind) { emit_stmt(kind); }, stmt.kind);
    }
  }

  void emit_stmt(const loops::For& loop) {
    const LinearForm begin = indexes_.form(loop.begin);
    const LinearForm end = indexes_.form(loop.end);
    const LinearForm span = end - begin;
    if (loop.unrolled) return expand(loop, begin.constant, end.constant);
    if (span.terms.empty() && span.constant <= 0) return;
    if (span.terms.empty() && span.constant <= loop.step) {
      indexes_.bind(loop.var, begin);
      return emit_body(loop.body);
    }
    runtime_loop(begin, end, loop.step, [&](const LinearForm& counter) {
      indexes_.bind(loop.var, counter);
      emit_body(loop.body);
    });
  }

  void expand(const loops::For& loop, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += loop.step) {
      indexes_.bind(loop.var, {i, {}});
      if (loop.overlapping) indexes_.open_iteration();
      emit_body(loop.body);
      if (loop.overlapping) indexes_.close_iteration();
    }
  }

  void emit_stmt(const loops::Let& let) {
    indexes_.bind(let.var, indexes_.let(let.op, indexes_.form(let.a), indexes_.form(let.b)));
  }

  void emit_stmt(const loops::Store& store) { values_.store(store); }

  void emit_stmt(const loops::Assign& assign) { values_.assign(assign); }

  void emit_stmt(const loops::Prefetch& prefetch) { values_.prefetch(prefetch); }
  void emit_stmt(const loops::TileZero& zero) { tiles_.zero(zero); }
  void emit_stmt(const loops::TileLoad& load) { tiles_.load(load); }
  void emit_stmt(const loops::TileStore& store) { tiles_.store(store); }
  void emit_stmt(const loops::TileProduct& product) { tiles_.product(product); }

  void emit_stmt(const loops::If& branch) {
    const LinearForm a = indexes_.form(branch.a);
    const LinearForm b = indexes_.form(branch.b);
    const LinearForm difference = a - b;
    if (difference.terms.empty())
      return emit_body(holds(branch.compare, difference.constant) ? branch.then : branch.otherwise);
    llvm::BasicBlock* then = new_block("then");
    llvm::BasicBlock* otherwise = new_block("otherwise");
    llvm::BasicBlock* after = new_block("after");
    llvm::Value* condition =
        builder_.CreateICmp(predicate(branch.compare), indexes_.value(a), indexes_.value(b));
    builder_.CreateCondBr(condition, then, otherwise);
    emit_arm(branch.then, then, after);
    emit_arm(branch.otherwise, otherwise, after);
    builder_.SetInsertPoint(after);
  }

  void emit_arm(const loops::Body& body, llvm::BasicBlock* block, llvm::BasicBlock* after) {
    builder_.SetInsertPoint(block);
    indexes_.open_scope();
    emit_body(body);
    indexes_.close_scope();
    builder_.CreateBr(after);
  }

  llvm::Function* function_;
  const loops::LoopNest& nest_;
  llvm::IRBuilder<> builder_;
  Indexes indexes_;
  Values values_;
  Tiles tiles_;
};

llvm::Function* declare(llvm::Module& module, const loops::LoopNest& nest, const targets::Target& target) {
  llvm::LLVMContext& context = module.getContext();
  auto* i64 = llvm::Type::getInt64Ty(context);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                       {llvm::PointerType::getUnqual(context), i64, i64}, false);
  if (module.getFunction(nest.name) != nullptr)
    throw InternalError("two loop nests are named '" + nest.name + "'");
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, nest.name, module);
  function->setVisibility(llvm::GlobalValue::HiddenVisibility);
  function->setDSOLocal(true);
  function->setDoesNotThrow();
  const std::string width = std::to_string(target.vector_lanes * 32);
  function->addFnAttr("target-cpu", target.cpu);
  function->addFnAttr("target-features", target.features);
  function->addFnAttr("prefer-vector-width", width);
  function->addFnAttr("min-legal-vector-width", width);
  function->addFnAttr("frame-pointer", "none");
  function->addParamAttr(0, llvm::Attribute::NoAlias);
  function->addParamAttr(0, llvm::Attribute::ReadOnly);
  return function;
}

}  // namespace

void add_kernel(llvm::Module& module, const loops::LoopNest& nest, const targets::Target& target) {
  KernelEmitter(declare(module, nest, target), nest, target).emit();
}

}  // namespace onepass::emit
