// SPDX-License-Identifier: Apache-2.0
#include <llvm/IR/Intrinsics.h>

#include "emit/llvm_values.h"

namespace onepass::emit {

namespace {

/// Vector registers load unaligned data at full speed; promising more would turn a wrong promise into a
/// fault.
constexpr llvm::Align k_alignment = llvm::Align::Constant<4>();

}  // namespace

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
  llvm::Type* llvm_type = this->type(type);
  const int active = load.active.value_or(type.lanes);
  if (active == 0) return llvm::Constant::getNullValue(llvm_type);
  const bool contiguous = load.stride == 1 || type.lanes == 1;
  if (contiguous && active == type.lanes) return load_plain(llvm_type, load);
  if (contiguous) return load_masked(llvm_type, load, active);
  if (load.stride == 2 && active == type.lanes) return load_every_second(llvm_type, load, type.lanes);
  return load_lanes(llvm_type, load, active);
}

llvm::Value* Values::load_plain(llvm::Type* type, const loops::Load& load) {
  llvm::Value* address = lane_address(load.buffer, load.index, 0);
  if (nest_.buffers[load.buffer.id].streamed) prefetch_ahead(address);
  return builder_.CreateAlignedLoad(type, address, k_alignment);
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
  return builder_.CreateMaskedLoad(type, lane_address(load.buffer, load.index, 0), k_alignment,
                                   mask(active, lanes), llvm::Constant::getNullValue(type));
}

/// Two vectors that overlap by one element: together they end at the last element, so nothing outside the
/// lanes' own span is read.
llvm::Value* Values::load_every_second(llvm::Type* type, const loops::Load& load, int lanes) {
  llvm::Value* front =
      builder_.CreateAlignedLoad(type, lane_address(load.buffer, load.index, 0), k_alignment);
  llvm::Value* back =
      builder_.CreateAlignedLoad(type, lane_address(load.buffer, load.index, lanes - 1), k_alignment);
  std::vector<int> picked;
  for (int i = 0; i < lanes; ++i) picked.push_back(2 * i < lanes ? 2 * i : lanes + 2 * i - (lanes - 1));
  return builder_.CreateShuffleVector(front, back, picked);
}

llvm::Value* Values::load_lanes(llvm::Type* type, const loops::Load& load, int active) {
  llvm::Value* result = llvm::Constant::getNullValue(type);
  for (int i = 0; i < active; ++i) {
    llvm::Value* address = lane_address(load.buffer, load.index, i * load.stride);
    llvm::Value* lane = builder_.CreateAlignedLoad(type->getScalarType(), address, k_alignment);
    result = builder_.CreateInsertElement(result, lane, static_cast<uint64_t>(i));
  }
  return result;
}

llvm::Value* Values::lower(loops::Type type, const loops::Broadcast& broadcast) {
  llvm::Value* address = lane_address(broadcast.buffer, broadcast.index, 0);
  llvm::Value* lane = builder_.CreateAlignedLoad(this->type({type.scalar, 1}), address, k_alignment);
  return type.lanes == 1 ? lane : builder_.CreateVectorSplat(type.lanes, lane);
}

void Values::store(const loops::Store& store) {
  llvm::Value* stored = value(store.value);
  const int lanes = store.value->type.lanes;
  const int active = store.active.value_or(lanes);
  LinearForm form = indexes_.form(store.index);
  if (active == 0) return;
  if (active == lanes && (store.stride == 1 || lanes == 1)) {
    builder_.CreateAlignedStore(stored, indexes_.address(store.buffer, form), k_alignment);
    return;
  }
  if (store.stride == 1) {
    builder_.CreateMaskedStore(stored, indexes_.address(store.buffer, form), k_alignment,
                               mask(active, lanes));
    return;
  }
  for (int i = 0; i < active; ++i, form.constant += store.stride) {
    llvm::Value* lane = builder_.CreateExtractElement(stored, static_cast<uint64_t>(i));
    builder_.CreateAlignedStore(lane, indexes_.address(store.buffer, form), k_alignment);
  }
}

}  // namespace onepass::emit
