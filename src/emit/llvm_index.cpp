// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm_index.h"

#include <llvm/IR/InlineAsm.h>
#include <llvm/Support/MathExtras.h>

#include <algorithm>

#include "base/diagnostic.h"

namespace onepass::emit {

namespace {}  // namespace

int64_t apply(loops::IntOp op, int64_t a, int64_t b) {
  switch (op) {
    case loops::IntOp::floor_div:
      return a / b - (a % b < 0 ? 1 : 0);
    case loops::IntOp::mod:
      return a % b < 0 ? a % b + b : a % b;
    case loops::IntOp::min:
      return std::min(a, b);
    case loops::IntOp::max:
      return std::max(a, b);
  }
  return 0;
}

LinearForm operator-(const LinearForm& a, const LinearForm& b) {
  LinearForm difference{a.constant - b.constant, a.terms};
  for (const auto& [atom, coefficient] : b.terms) {
    const auto same = std::find_if(difference.terms.begin(), difference.terms.end(),
                                   [atom = atom](const auto& term) { return term.first == atom; });
    if (same == difference.terms.end())
      difference.terms.emplace_back(atom, -coefficient);
    else if ((same->second -= coefficient) == 0)
      difference.terms.erase(same);
  }
  return difference;
}

Indexes::Indexes(llvm::IRBuilder<>& builder, const loops::LoopNest& nest)
    : builder_(builder), bindings_(nest.vars.size()), buffers_(nest.buffers.size()), laundered_(1) {
  for (const loops::Buffer& buffer : nest.buffers)
    element_bytes_.push_back(loops::element_bytes(buffer.scalar));
}

void Indexes::open_level(llvm::Instruction* preamble_end) {
  levels_.push_back({.preamble_end = preamble_end});
  open_scope();
}

void Indexes::close_level() {
  close_scope();
  levels_.pop_back();
}

void Indexes::open_iteration() {
  iterations_.push_back(++iteration_count_);
  open_scope();
}

void Indexes::close_iteration() {
  close_scope();
  iterations_.pop_back();
}

// ---- forms ------------------------------------------------------------------------------------------------

int Indexes::level(const Terms& terms) const {
  return terms.empty() ? 0 : atoms_[terms.back().first].level;
}

int Indexes::add_atom(llvm::Value* value, int level) {
  atoms_.push_back({value, level});
  return static_cast<int>(atoms_.size()) - 1;
}

LinearForm Indexes::atom_form(int atom) const {
  return {0, {{atom, 1}}};
}

LinearForm Indexes::new_atom(llvm::Value* value) {
  return atom_form(add_atom(value, static_cast<int>(levels_.size()) - 1));
}

void Indexes::add_term(LinearForm& form, int atom, int64_t coefficient) const {
  const auto place = [&](int a) { return std::pair(atoms_[a].level, a); };
  const auto at = std::find_if(form.terms.begin(), form.terms.end(),
                               [&](const auto& term) { return place(term.first) >= place(atom); });
  if (at == form.terms.end() || at->first != atom)
    form.terms.insert(at, {atom, coefficient});
  else if ((at->second += coefficient) == 0)
    form.terms.erase(at);
}

LinearForm Indexes::form(const loops::Affine& affine) const {
  LinearForm form{affine.constant, {}};
  for (const auto& [var, factor] : affine.terms) {
    const LinearForm& bound = bindings_[var.id];
    form.constant += bound.constant * factor;
    for (const auto& [atom, coefficient] : bound.terms) add_term(form, atom, coefficient * factor);
  }
  return form;
}

LinearForm Indexes::let(loops::IntOp op, const LinearForm& a, const LinearForm& b) {
  if (a.terms.empty() && b.terms.empty()) return {apply(op, a.constant, b.constant), {}};
  const int inner = std::max(level(a.terms), level(b.terms));
  const LetKey key{op, a.constant, a.terms, b.constant, b.terms};
  if (const auto known = levels_[inner].lets.find(key); known != levels_[inner].lets.end())
    return atom_form(known->second);
  llvm::Value* left = value(a);
  llvm::Value* right = value(b);
  const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(levels_[inner].preamble_end);
  const int atom = add_atom(compute(op, left, right, b.constant), inner);
  levels_[inner].lets.emplace(key, atom);
  return atom_form(atom);
}

llvm::Value* Indexes::compute(loops::IntOp op, llvm::Value* a, llvm::Value* b, int64_t divisor) {
  if (op == loops::IntOp::min) return builder_.CreateSelect(builder_.CreateICmpSLT(a, b), a, b);
  if (op == loops::IntOp::max) return builder_.CreateSelect(builder_.CreateICmpSGT(a, b), a, b);
  const bool quotient = op == loops::IntOp::floor_div;
  if (llvm::isPowerOf2_64(divisor))
    return quotient ? builder_.CreateAShr(a, llvm::Log2_64(divisor)) : builder_.CreateAnd(a, divisor - 1);
  llvm::Value* rest = builder_.CreateSRem(a, b);
  llvm::Value* negative = builder_.CreateICmpSLT(rest, builder_.getInt64(0));
  if (!quotient) return builder_.CreateSelect(negative, builder_.CreateAdd(rest, b), rest);
  return builder_.CreateAdd(builder_.CreateSDiv(a, b), builder_.CreateSExt(negative, builder_.getInt64Ty()));
}

llvm::Value* Indexes::product(std::pair<int, int64_t> term) {
  const Atom& atom = atoms_[term.first];
  if (term.second == 1) return atom.value;
  llvm::Value*& known = levels_[atom.level].products[term];
  if (known != nullptr) return known;
  const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(levels_[atom.level].preamble_end);
  return known = builder_.CreateMul(atom.value, builder_.getInt64(term.second));
}

llvm::Value* Indexes::value(const LinearForm& form) {
  if (form.terms.empty()) return builder_.getInt64(form.constant);
  llvm::Value* sum = nullptr;
  const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  for (const auto& term : form.terms) {
    llvm::Value* scaled = product(term);
    builder_.SetInsertPoint(levels_[atoms_[term.first].level].preamble_end);
    sum = sum == nullptr ? scaled : builder_.CreateAdd(sum, scaled);
  }
  return form.constant == 0 ? sum : builder_.CreateAdd(sum, builder_.getInt64(form.constant));
}

// ---- addresses --------------------------------------------------------------------------------------------

llvm::Value* Indexes::base(int32_t buffer, const Terms& terms) {
  if (terms.empty()) return buffers_[buffer];
  llvm::Value*& known = levels_[level(terms)].bases[{buffer, terms}];
  if (known != nullptr) return known;
  llvm::Value* outer = base(buffer, Terms(terms.begin(), terms.end() - 1));
  llvm::Value* bytes = product({terms.back().first, terms.back().second * element_bytes_[buffer]});
  const llvm::IRBuilderBase::InsertPointGuard guard(builder_);
  builder_.SetInsertPoint(levels_[level(terms)].preamble_end);
  return known = builder_.CreateGEP(builder_.getInt8Ty(), outer, bytes);
}

llvm::Value* Indexes::laundered_base(int32_t buffer, const Terms& terms) {
  const std::pair<int, BaseKey> key{iterations_.back(), {buffer, terms}};
  for (const auto& scope : laundered_)
    if (const auto known = scope.find(key); known != scope.end()) return known->second;
  auto* type = llvm::FunctionType::get(builder_.getPtrTy(), {builder_.getPtrTy()}, false);
  auto* launder = llvm::InlineAsm::get(type, "", "=r,0", /*hasSideEffects=*/false);
  llvm::CallInst* call = builder_.CreateCall(launder, {base(buffer, terms)});
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  laundered_.back().emplace(key, call);
  return call;
}

llvm::Value* Indexes::offset(llvm::Value* pointer, int64_t bytes) {
  return bytes == 0 ? pointer : builder_.CreateGEP(builder_.getInt8Ty(), pointer, builder_.getInt64(bytes));
}

llvm::Value* Indexes::address(loops::BufferId buffer, const LinearForm& elems) {
  return offset(base(buffer.id, elems.terms), elems.constant * element_bytes_[buffer.id]);
}

llvm::Value* Indexes::load_address(loops::BufferId buffer, const LinearForm& elems) {
  if (iterations_.empty()) return address(buffer, elems);
  return offset(laundered_base(buffer.id, elems.terms), elems.constant * element_bytes_[buffer.id]);
}

}  // namespace onepass::emit
