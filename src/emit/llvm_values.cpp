// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm_values.h"

#include <fmt/format.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/TargetParser/Triple.h>

#include <string_view>

#include "base/diagnostic.h"

namespace onepass::emit {

namespace {

using loops::Binary;
using loops::Compare;
using loops::Scalar;
using loops::Unary;

int lanes_of(const llvm::Value* value) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector == nullptr ? 1 : static_cast<int>(vector->getNumElements());
}

llvm::CmpInst::Predicate float_predicate(Compare compare) {
  switch (compare) {
    case Compare::lt:
      return llvm::CmpInst::FCMP_OLT;
    case Compare::le:
      return llvm::CmpInst::FCMP_OLE;
    case Compare::gt:
      return llvm::CmpInst::FCMP_OGT;
    case Compare::ge:
      return llvm::CmpInst::FCMP_OGE;
    case Compare::eq:
      return llvm::CmpInst::FCMP_OEQ;
    case Compare::ne:
      return llvm::CmpInst::FCMP_UNE;
  }
  return llvm::CmpInst::BAD_FCMP_PREDICATE;
}

llvm::CmpInst::Predicate int_predicate(Compare compare) {
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

llvm::Value* as_vector(llvm::IRBuilder<>& builder, llvm::Value* value) {
  if (value->getType()->isVectorTy()) return value;
  auto* type = llvm::FixedVectorType::get(value->getType(), 1);
  return builder.CreateInsertElement(llvm::PoisonValue::get(type), value, uint64_t{0});
}

}  // namespace

Values::Values(llvm::IRBuilder<>& builder, Indexes& indexes, const loops::LoopNest& nest,
               const targets::Target& target)
    : builder_(builder), indexes_(indexes), nest_(nest), target_(target) {}

llvm::Type* Values::type(loops::Type type) const {
  llvm::Type* scalar =
      type.scalar == Scalar::f32 ? builder_.getFloatTy() : static_cast<llvm::Type*>(builder_.getInt32Ty());
  return type.lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, type.lanes);
}

void Values::make_registers() {
  for (const loops::Register& reg : nest_.registers) {
    std::vector<llvm::AllocaInst*>& slots = registers_.emplace_back();
    for (int i = 0; i < reg.count; ++i)
      slots.push_back(builder_.CreateAlloca(type(reg.type), nullptr, reg.name));
  }
}

llvm::AllocaInst* Values::slot(loops::RegisterId reg, const loops::Affine& index) {
  const LinearForm form = indexes_.form(index);
  const loops::Register& described = nest_.registers[reg.id];
  if (!form.terms.empty() || form.constant < 0 || form.constant >= described.count)
    throw InternalError(fmt::format("loop nest '{}': slot {} of register {}, which has {}", nest_.name,
                                    form.constant, described.name, described.count));
  return registers_[reg.id][form.constant];
}

llvm::Value* Values::value(const loops::Value& value) {
  if (const auto known = known_.find(value.get()); known != known_.end()) return known->second;
  llvm::Value* lowered = std::visit([&](const auto& kind) { return lower(value->type, kind); }, value->kind);
  known_.emplace(value.get(), lowered);
  return lowered;
}

// ---- constants and registers ------------------------------------------------------------------------------

llvm::Value* Values::lower(loops::Type type, const loops::Constant& constant) {
  llvm::Constant* scalar =
      type.scalar == Scalar::f32
          ? llvm::ConstantFP::get(builder_.getContext(), llvm::APFloat(static_cast<float>(constant.value)))
          : static_cast<llvm::Constant*>(
                builder_.getInt32(static_cast<uint32_t>(static_cast<int32_t>(constant.value))));
  if (type.lanes == 1) return scalar;
  return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(type.lanes), scalar);
}

llvm::Value* Values::lower(loops::Type type, const loops::LaneIndex&) {
  if (type.lanes == 1) return builder_.getInt32(0);
  std::vector<uint32_t> lanes(type.lanes);
  for (int i = 0; i < type.lanes; ++i) lanes[i] = i;
  return llvm::ConstantDataVector::get(builder_.getContext(), lanes);
}

llvm::Value* Values::lower(loops::Type type, const loops::Read& read) {
  return builder_.CreateLoad(this->type(type), slot(read.reg, read.slot));
}

void Values::assign(const loops::Assign& assign) {
  builder_.CreateStore(value(assign.value), slot(assign.reg, assign.slot));
}

// ---- arithmetic -------------------------------------------------------------------------------------------

llvm::Value* Values::lower(loops::Type type, const loops::UnaryOp& unary) {
  llvm::Value* a = value(unary.a);
  switch (unary.op) {
    case Unary::neg:
      return builder_.CreateFNeg(a);
    case Unary::abs:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, a);
    case Unary::sqrt:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, a);
    case Unary::floor:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::floor, a);
    case Unary::ceil:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ceil, a);
    case Unary::round_even:
      return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven, a);
    case Unary::to_i32:
      return truncate(a);
    case Unary::to_f32:
      return builder_.CreateSIToFP(a, this->type(type));
    case Unary::bits_to_i32:
    case Unary::bits_to_f32:
      return builder_.CreateBitCast(a, this->type(type));
  }
  return nullptr;
}

/// The x86 instruction gives INT32_MIN out of range, as the language wants; fptosi would be poison.
llvm::Value* Values::truncate(llvm::Value* value) {
  const int lanes = lanes_of(value);
  if (!llvm::Triple(target_.triple).isX86() || lanes < 4) return truncate_checked(value);
  if (lanes > target_.vector_lanes) {
    std::vector<int> low, high, both;
    for (int i = 0; i < lanes / 2; ++i) low.push_back(i), high.push_back(i + lanes / 2);
    for (int i = 0; i < lanes; ++i) both.push_back(i);
    llvm::Value* first = truncate(builder_.CreateShuffleVector(value, low));
    return builder_.CreateShuffleVector(first, truncate(builder_.CreateShuffleVector(value, high)), both);
  }
  if (lanes == 4) return builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse2_cvttps2dq, {}, {value});
  if (lanes == 8) return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx_cvtt_ps2dq_256, {}, {value});
  constexpr int current_direction = 4;
  auto* unused = llvm::Constant::getNullValue(llvm::FixedVectorType::get(builder_.getInt32Ty(), lanes));
  return builder_.CreateIntrinsic(
      llvm::Intrinsic::x86_avx512_mask_cvttps2dq_512, {},
      {value, unused, builder_.getInt16(0xffff), builder_.getInt32(current_direction)});
}

llvm::Value* Values::truncate_checked(llvm::Value* value) {
  llvm::Type* type = value->getType();
  llvm::Value* above = builder_.CreateFCmpOGE(value, llvm::ConstantFP::get(type, -2147483648.0));
  llvm::Value* below = builder_.CreateFCmpOLT(value, llvm::ConstantFP::get(type, 2147483648.0));
  llvm::Value* fits = builder_.CreateAnd(above, below);
  llvm::Value* safe = builder_.CreateSelect(fits, value, llvm::ConstantFP::get(type, 0.0));
  llvm::Type* result = type->getWithNewType(builder_.getInt32Ty());
  return builder_.CreateSelect(fits, builder_.CreateFPToSI(safe, result),
                               llvm::ConstantInt::get(result, 0x80000000u));
}

llvm::Value* Values::lower(loops::Type type, const loops::BinaryOp& binary) {
  llvm::Value* a = value(binary.a);
  llvm::Value* b = value(binary.b);
  const bool f32 = type.scalar == Scalar::f32;
  switch (binary.op) {
    case Binary::pack_bf16:
      return pack_bf16(a, b);
    case Binary::scale:
      return scale(a, b);
    case Binary::add:
      return f32 ? builder_.CreateFAdd(a, b) : builder_.CreateAdd(a, b);
    case Binary::sub:
      return f32 ? builder_.CreateFSub(a, b) : builder_.CreateSub(a, b);
    case Binary::mul:
      return f32 ? builder_.CreateFMul(a, b) : builder_.CreateMul(a, b);
    case Binary::div:
      return builder_.CreateFDiv(a, b);
    case Binary::max:
      return builder_.CreateSelect(compare(Compare::gt, type.scalar, a, b), a, b);
    case Binary::min:
      return builder_.CreateSelect(compare(Compare::lt, type.scalar, a, b), a, b);
    case Binary::bit_and:
      return builder_.CreateAnd(a, b);
    case Binary::bit_or:
      return builder_.CreateOr(a, b);
    case Binary::shift_left:
      return builder_.CreateShl(a, b);
    case Binary::shift_right:
      return builder_.CreateAShr(a, b);
  }
  return nullptr;
}

namespace {

constexpr int k_zmm_lanes = 16;

/// bf16 of an f32 in the low half of its word.
llvm::Value* rounded_bf16(llvm::IRBuilder<>& builder, llvm::Value* value) {
  llvm::Type* words = value->getType()->getWithNewType(builder.getInt32Ty());
  const auto word = [&](uint32_t bits) { return llvm::ConstantInt::get(words, bits); };
  llvm::Value* bits = builder.CreateBitCast(value, words);
  llvm::Value* normal = builder.CreateICmpNE(builder.CreateAnd(bits, word(0x7f800000u)), word(0));
  llvm::Value* flushed = builder.CreateSelect(normal, bits, builder.CreateAnd(bits, word(0x80000000u)));
  llvm::Value* even = builder.CreateAnd(builder.CreateLShr(flushed, word(16)), word(1));
  llvm::Value* rounded =
      builder.CreateLShr(builder.CreateAdd(builder.CreateAdd(flushed, word(0x7fffu)), even), word(16));
  llvm::Value* quiet = builder.CreateOr(builder.CreateLShr(bits, word(16)), word(0x40u));
  return builder.CreateSelect(builder.CreateFCmpUNO(value, value), quiet, rounded);
}

}  // namespace

/// The target rounds a vector of this many lanes to bf16 with one instruction.
bool Values::rounds_in_one(const llvm::Value* value) const {
  const bool instruction = std::string_view(target_.features).find("+avx512bf16") != std::string_view::npos;
  return instruction && lanes_of(value) == k_zmm_lanes;
}

/// f32 as halves of words.
llvm::Value* Values::narrow_bf16(llvm::Value* value) {
  llvm::Type* halves = value->getType()->getWithNewType(builder_.getInt16Ty());
  if (!rounds_in_one(value)) return builder_.CreateTrunc(rounded_bf16(builder_, value), halves);
  llvm::Value* rounded =
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512, {}, {value});
  return builder_.CreateBitCast(rounded, halves);
}

llvm::Value* Values::pack_bf16(llvm::Value* low, llvm::Value* high) {
  llvm::Type* words = low->getType()->getWithNewType(builder_.getInt32Ty());
  if (!rounds_in_one(low))
    return builder_.CreateOr(
        rounded_bf16(builder_, low),
        builder_.CreateShl(rounded_bf16(builder_, high), llvm::ConstantInt::get(words, 16)));
  // The instruction's first operand becomes the high half of its result.
  llvm::Value* halves =
      builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_cvtne2ps2bf16_512, {}, {high, low});
  std::vector<int> pairs;
  for (int i = 0; i < k_zmm_lanes; ++i) pairs.push_back(i), pairs.push_back(i + k_zmm_lanes);
  return builder_.CreateBitCast(builder_.CreateShuffleVector(halves, pairs), words);
}

namespace {

/// 2^n for i32 n in [-126, 127].
llvm::Value* power_of_two(llvm::IRBuilder<>& builder, llvm::Value* n) {
  llvm::Type* words = n->getType();
  llvm::Value* biased = builder.CreateAdd(n, llvm::ConstantInt::get(words, 127));
  return builder.CreateBitCast(builder.CreateShl(biased, llvm::ConstantInt::get(words, 23)),
                               words->getWithNewType(builder.getFloatTy()));
}

}  // namespace

/// Without an instruction, by two factors: 2^-150 and 2^128 are no floats. The first product is exact, the
/// second one rounds, to a denormal or to infinity where it has to.
llvm::Value* Values::scale(llvm::Value* value, llvm::Value* exponent) {
  if (target_.vector_lanes == k_zmm_lanes && lanes_of(value) == k_zmm_lanes) {
    constexpr int current_direction = 4;
    return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                    {value, exponent, llvm::Constant::getNullValue(value->getType()),
                                     builder_.getInt16(0xffff), builder_.getInt32(current_direction)});
  }
  llvm::Value* n = truncate(exponent);
  llvm::Value* half = builder_.CreateAShr(n, llvm::ConstantInt::get(n->getType(), 1));
  llvm::Value* halfway = builder_.CreateFMul(value, power_of_two(builder_, half));
  return builder_.CreateFMul(halfway, power_of_two(builder_, builder_.CreateSub(n, half)));
}

llvm::Value* Values::compare(Compare compare, Scalar scalar, llvm::Value* a, llvm::Value* b) {
  return scalar == Scalar::f32 ? builder_.CreateFCmp(float_predicate(compare), a, b)
                               : builder_.CreateICmp(int_predicate(compare), a, b);
}

llvm::Value* Values::lower(loops::Type type, const loops::Fma& fma) {
  llvm::Value* a = value(fma.a);
  llvm::Value* b = value(fma.b);
  return builder_.CreateIntrinsic(llvm::Intrinsic::fma, {this->type(type)}, {a, b, value(fma.c)});
}

llvm::Value* Values::lower(loops::Type, const loops::Select& select) {
  llvm::Value* a = value(select.a);
  llvm::Value* b = value(select.b);
  llvm::Value* then = value(select.then);
  llvm::Value* otherwise = value(select.otherwise);
  return builder_.CreateSelect(compare(select.compare, select.a->type.scalar, a, b), then, otherwise);
}

llvm::Value* Values::lower(loops::Type type, const loops::Shuffle& shuffle) {
  llvm::Value* a = as_vector(builder_, value(shuffle.a));
  llvm::Value* b = as_vector(builder_, value(shuffle.b));
  if (type.lanes > 1) return builder_.CreateShuffleVector(a, b, shuffle.lanes);
  const int lanes = shuffle.a->type.lanes;
  const int lane = shuffle.lanes.front();
  return builder_.CreateExtractElement(lane < lanes ? a : b, static_cast<uint64_t>(lane % lanes));
}

}  // namespace onepass::emit
