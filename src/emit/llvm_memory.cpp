// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Intrinsics.h>

#include "emit/llvm_values.h"

namespace onepass::emit {

namespace {

/// Vector registers load unaligned data at full speed; promising more than the element would turn a wrong
/// promise into a fault.
llvm::Align alignment_of(const llvm::Type* type) {
  return llvm::Align(type->getScalarSizeInBits() / 8);
}

}  // namespace

bool Values::is_bf16(loops::BufferId buffer) const {
  return nest_.buffers[buffer.id].scalar == loops::Scalar::bf16;
}

/// The type of a value in the memory of a buffer: halves of words for bf16.
llvm::Type* Values::memory_type(loops::BufferId buffer, loops::Type type) const {
  llvm::Type* value_type = this->type(type);
  return is_bf16(buffer) ? value_type->getWithNewType(builder_.getInt16Ty()) : value_type;
}

/// The value of what a buffer's memory holds.
llvm::Value* Values::from_memory(loops::BufferId buffer, llvm::Value* held) {
  if (!is_bf16(buffer)) return held;
  llvm::Type* words = held->getType()->getWithNewType(builder_.getInt32Ty());
  llvm::Value* shifted =
      builder_.CreateShl(builder_.CreateZExt(held, words), llvm::ConstantInt::get(words, 16));
  return builder_.CreateBitCast(shifted, held->getType()->getWithNewType(builder_.getFloatTy()));
}

llvm::Value* Values::to_memory(loops::BufferId buffer, llvm::Value* value) {
  return is_bf16(buffer) ? narrow_bf16(value) : value;
}

llvm::Value* Values::mask(int active, int lanes) {
  std::vector<llvm::Constant*> bits;
  for (int i = 0; i < lanes; ++i) bits.push_back(builder_.getInt1(i < active));
  return llvm::ConstantVector::get(bits);
}

llvm::Value* Values::lane_address(loops::BufferId buffer, const loops::Affine& index, int64_t offset) {
  LinearForm form = indexes_.form(index);
  form.constant += offset;
  return indexes_.load_address(buffer, form);
}

llvm::Value* Values::lower(loops::Type type, const loops::Load& load) {
  const int active = load.active.value_or(type.lanes);
  if (active == 0) return llvm::Constant::getNullValue(this->type(type));
  return from_memory(load.buffer, load_held(memory_type(load.buffer, type), load, type.lanes, active));
}

llvm::Value* Values::load_held(llvm::Type* type, const loops::Load& load, int lanes, int active) {
  const bool contiguous = load.stride == 1 || lanes == 1;
  if (contiguous && active == lanes) return load_plain(type, load);
  if (contiguous) return load_masked(type, load, active);
  if (load.stride == 2 && active == lanes) return load_every_second(type, load, lanes);
  return load_lanes(type, load, active);
}

llvm::Value* Values::load_plain(llvm::Type* type, const loops::Load& load) {
  llvm::Value* address = lane_address(load.buffer, load.index, 0);
  if (nest_.buffers[load.buffer.id].streamed) prefetch_ahead(address);
  return builder_.CreateAlignedLoad(type, address, alignment_of(type));
}

/// Fetches what the stream reads next into L1. Reading past the end of the buffer this way touches nothing.
void Values::prefetch_ahead(llvm::Value* address) {
  constexpr uint64_t k_ahead_bytes = 2048;
  prefetch(builder_.CreateConstGEP1_64(builder_.getInt8Ty(), address, k_ahead_bytes), Cache::l1);
}

void Values::prefetch(const loops::Prefetch& prefetch) {
  this->prefetch(indexes_.address(prefetch.buffer, indexes_.form(prefetch.index)), Cache::l2);
}

void Values::prefetch(llvm::Value* address, Cache cache) {
  constexpr int k_read = 0, k_data = 1;
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {address->getType()},
                           {address, builder_.getInt32(k_read), builder_.getInt32(static_cast<int>(cache)),
                            builder_.getInt32(k_data)});
}

llvm::Value* Values::load_masked(llvm::Type* type, const loops::Load& load, int active) {
  const int lanes = static_cast<int>(llvm::cast<llvm::FixedVectorType>(type)->getNumElements());
  return builder_.CreateMaskedLoad(type, lane_address(load.buffer, load.index, 0), alignment_of(type),
                                   mask(active, lanes), llvm::Constant::getNullValue(type));
}

/// Two vectors that overlap by one element: together they end at the last element, so nothing outside the
/// lanes' own span is read.
llvm::Value* Values::load_every_second(llvm::Type* type, const loops::Load& load, int lanes) {
  llvm::Value* front =
      builder_.CreateAlignedLoad(type, lane_address(load.buffer, load.index, 0), alignment_of(type));
  llvm::Value* back =
      builder_.CreateAlignedLoad(type, lane_address(load.buffer, load.index, lanes - 1), alignment_of(type));
  std::vector<int> picked;
  for (int i = 0; i < lanes; ++i) picked.push_back(2 * i < lanes ? 2 * i : lanes + 2 * i - (lanes - 1));
  return builder_.CreateShuffleVector(front, back, picked);
}

llvm::Value* Values::load_lanes(llvm::Type* type, const loops::Load& load, int active) {
  llvm::Value* result = llvm::Constant::getNullValue(type);
  for (int i = 0; i < active; ++i) {
    llvm::Value* address = lane_address(load.buffer, load.index, i * load.stride);
    llvm::Value* lane = builder_.CreateAlignedLoad(type->getScalarType(), address, alignment_of(type));
    result = builder_.CreateInsertElement(result, lane, static_cast<uint64_t>(i));
  }
  return result;
}

llvm::Value* Values::lower(loops::Type type, const loops::Broadcast& broadcast) {
  llvm::Value* address = lane_address(broadcast.buffer, broadcast.index, 0);
  llvm::Type* lane_type = memory_type(broadcast.buffer, {type.scalar, 1});
  llvm::Value* lane = builder_.CreateAlignedLoad(lane_type, address, alignment_of(lane_type));
  if (type.lanes == 1) return from_memory(broadcast.buffer, lane);
  if (!is_bf16(broadcast.buffer)) return builder_.CreateVectorSplat(type.lanes, lane);
  // Both halves of every word, then the low ones cleared: one instruction more than a broadcast of f32.
  llvm::Type* words = llvm::FixedVectorType::get(builder_.getInt32Ty(), type.lanes);
  llvm::Value* halves = builder_.CreateBitCast(builder_.CreateVectorSplat(2 * type.lanes, lane), words);
  llvm::Value* high = builder_.CreateAnd(halves, llvm::ConstantInt::get(words, 0xffff0000u));
  return builder_.CreateBitCast(high, this->type(type));
}

void Values::store(const loops::Store& store) {
  llvm::Value* stored = to_memory(store.buffer, value(store.value));
  const llvm::Align alignment = alignment_of(stored->getType());
  const int lanes = store.value->type.lanes;
  const int active = store.active.value_or(lanes);
  LinearForm form = indexes_.form(store.index);
  if (active == 0) return;
  if (active == lanes && (store.stride == 1 || lanes == 1)) {
    builder_.CreateAlignedStore(stored, indexes_.address(store.buffer, form), alignment);
    return;
  }
  if (store.stride == 1) {
    builder_.CreateMaskedStore(stored, indexes_.address(store.buffer, form), alignment, mask(active, lanes));
    return;
  }
  for (int i = 0; i < active; ++i, form.constant += store.stride) {
    llvm::Value* lane = builder_.CreateExtractElement(stored, static_cast<uint64_t>(i));
    builder_.CreateAlignedStore(lane, indexes_.address(store.buffer, form), alignment);
  }
}

}  // namespace onepass::emit
