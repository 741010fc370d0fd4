// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <optional>
#include <unordered_map>
#include <vector>

#include "emit/llvm_index.h"
#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::emit {

/// The values of a kernel: lanes become vector operations, one for one; one lane is a scalar.
class Values {
 public:
  Values(llvm::IRBuilder<>& builder, Indexes& indexes, const loops::LoopNest& nest,
         const targets::Target& target);

  /// To be called once, with the builder in the function's first block.
  void make_registers();

  /// Shared sub-expressions are computed once until the next start_statement().
  void start_statement() { known_.clear(); }
  llvm::Value* value(const loops::Value& value);
  void assign(const loops::Assign& assign);
  void store(const loops::Store& store);
  void prefetch(const loops::Prefetch& prefetch);

 private:
  llvm::Type* type(loops::Type type) const;
  llvm::Value* lower(loops::Type type, const loops::Constant& constant);
  llvm::Value* lower(loops::Type type, const loops::LaneIndex& lane);
  llvm::Value* lower(loops::Type type, const loops::Load& load);
  llvm::Value* lower(loops::Type type, const loops::Broadcast& broadcast);
  llvm::Value* lower(loops::Type type, const loops::Read& read);
  llvm::Value* lower(loops::Type type, const loops::UnaryOp& unary);
  llvm::Value* lower(loops::Type type, const loops::BinaryOp& binary);
  llvm::Value* lower(loops::Type type, const loops::Fma& fma);
  llvm::Value* lower(loops::Type type, const loops::Select& select);
  llvm::Value* lower(loops::Type type, const loops::Shuffle& shuffle);

  bool is_bf16(loops::BufferId buffer) const;
  llvm::Type* memory_type(loops::BufferId buffer, loops::Type type) const;
  llvm::Value* from_memory(loops::BufferId buffer, llvm::Value* held);
  llvm::Value* to_memory(loops::BufferId buffer, llvm::Value* value);
  llvm::Value* load_held(llvm::Type* type, const loops::Load& load, int lanes, int active);
  llvm::Value* load_plain(llvm::Type* type, const loops::Load& load);
  void prefetch_ahead(llvm::Value* address);
  enum class Cache { l1 = 3, l2 = 2 };  ///< the locality argument of llvm.prefetch
  void prefetch(llvm::Value* address, Cache cache);
  llvm::Value* load_masked(llvm::Type* type, const loops::Load& load, int active);
  llvm::Value* load_every_second(llvm::Type* type, const loops::Load& load, int lanes);
  llvm::Value* load_lanes(llvm::Type* type, const loops::Load& load, int active);
  llvm::Value* lane_address(loops::BufferId buffer, const loops::Affine& index, int64_t offset);
  llvm::Value* mask(int active, int lanes);

  llvm::Value* compare(loops::Compare compare, loops::Scalar scalar, llvm::Value* a, llvm::Value* b);
  bool rounds_in_one(const llvm::Value* value) const;
  llvm::Value* narrow_bf16(llvm::Value* value);
  llvm::Value* pack_bf16(llvm::Value* low, llvm::Value* high);
  llvm::Value* scale(llvm::Value* value, llvm::Value* exponent);
  llvm::Value* truncate(llvm::Value* value);
  llvm::Value* truncate_checked(llvm::Value* value);
  llvm::AllocaInst* slot(loops::RegisterId reg, const loops::Affine& index);

  llvm::IRBuilder<>& builder_;
  Indexes& indexes_;
  const loops::LoopNest& nest_;
  const targets::Target& target_;
  std::vector<std::vector<llvm::AllocaInst*>> registers_;
  std::unordered_map<const loops::Expr*, llvm::Value*> known_;
};

}  // namespace onepass::emit
