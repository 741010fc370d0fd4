// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "loops/nest.h"

namespace onepass::emit {

/// constant + sum of coefficient * atom. An atom is an integer known only when the kernel runs; atoms stand
/// in the order of their levels, outermost first.
struct LinearForm {
  int64_t constant = 0;
  std::vector<std::pair<int, int64_t>> terms;
};

LinearForm operator-(const LinearForm& a, const LinearForm& b);

/// The integers of a kernel. Each loop that stays in the code is a level with a preamble: a block that runs
/// once per iteration before the rest of its body. Integer arithmetic and base pointers go to the preamble of
/// the innermost level on which they depend, each once; bodies see base pointers plus constant offsets.
class Indexes {
 public:
  Indexes(llvm::IRBuilder<>& builder, const loops::LoopNest& nest);

  /// Opens a level; instructions go before `preamble_end`, the preamble's terminator.
  void open_level(llvm::Instruction* preamble_end);
  void close_level();

  void bind(loops::Var var, LinearForm form) { bindings_[var.id] = std::move(form); }
  /// A form for `value`, which the innermost level defines.
  LinearForm new_atom(llvm::Value* value);
  LinearForm form(const loops::Affine& affine) const;
  LinearForm let(loops::IntOp op, const LinearForm& a, const LinearForm& b);
  llvm::Value* value(const LinearForm& form);

  void set_buffer(loops::BufferId buffer, llvm::Value* pointer) { buffers_[buffer.id] = pointer; }
  llvm::Value* address(loops::BufferId buffer, const LinearForm& elems);
  /// The same address; inside an iteration of an overlapping loop, through a pointer of that iteration's own,
  /// so that LLVM does not see that iterations read the same memory.
  llvm::Value* load_address(loops::BufferId buffer, const LinearForm& elems);

  /// Code that does not dominate what follows it: laundered pointers made inside are forgotten at its end.
  void open_scope() { laundered_.emplace_back(); }
  void close_scope() { laundered_.pop_back(); }
  /// An iteration of an overlapping loop.
  void open_iteration();
  void close_iteration();

 private:
  using Terms = std::vector<std::pair<int, int64_t>>;
  using BaseKey = std::pair<int32_t, Terms>;
  using LetKey = std::tuple<loops::IntOp, int64_t, Terms, int64_t, Terms>;

  struct Atom {
    llvm::Value* value;
    int level;
  };
  struct Level {
    llvm::Instruction* preamble_end;
    std::map<BaseKey, llvm::Value*> bases;
    std::map<LetKey, int> lets;
    std::map<std::pair<int, int64_t>, llvm::Value*> products;
  };

  int level(const Terms& terms) const;
  int add_atom(llvm::Value* value, int level);
  LinearForm atom_form(int atom) const;
  void add_term(LinearForm& form, int atom, int64_t coefficient) const;
  llvm::Value* product(std::pair<int, int64_t> term);
  llvm::Value* base(int32_t buffer, const Terms& terms);
  llvm::Value* laundered_base(int32_t buffer, const Terms& terms);
  llvm::Value* compute(loops::IntOp op, llvm::Value* a, llvm::Value* b, int64_t divisor);
  llvm::Value* offset(llvm::Value* pointer, int64_t bytes);

  llvm::IRBuilder<>& builder_;
  std::vector<LinearForm> bindings_;
  std::vector<llvm::Value*> buffers_;
  std::vector<int64_t> element_bytes_;  ///< by buffer
  std::vector<Atom> atoms_;
  std::vector<Level> levels_;
  std::vector<std::map<std::pair<int, BaseKey>, llvm::Value*>> laundered_;
  std::vector<int> iterations_;  ///< open overlapping iterations, by number
  int iteration_count_ = 0;
};

/// The result when both operands are known.
int64_t apply(loops::IntOp op, int64_t a, int64_t b);

}  // namespace onepass::emit
