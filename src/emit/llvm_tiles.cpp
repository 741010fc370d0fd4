// SPDX-License-Identifier: Apache-2.0
#include "emit/llvm_tiles.h"

#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include <array>

namespace onepass::emit {

namespace {

/// The 64 bytes that LDTILECFG reads (Intel SDM, volume 1, 18.3): palette 1, bytes per row at 16, rows at 48.
llvm::Constant* configuration(llvm::LLVMContext& context, int tiles) {
  std::array<uint8_t, 64> bytes{};
  bytes[0] = 1;
  for (int tile = 0; tile < tiles; ++tile) {
    bytes[16 + 2 * tile] = loops::k_tile_words * 4;
    bytes[48 + tile] = loops::k_tile_rows;
  }
  return llvm::ConstantDataArray::get(context, bytes);
}

}  // namespace

void Tiles::configure() {
  if (nest_.tiles == 0) return;
  llvm::Module& module = *builder_.GetInsertBlock()->getModule();
  llvm::Constant* bytes = configuration(builder_.getContext(), nest_.tiles);
  auto* global = new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::PrivateLinkage,
                                          bytes, "tile_configuration");
  global->setAlignment(llvm::Align(64));
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_ldtilecfg, {}, {global});
}

void Tiles::release() {
  if (nest_.tiles > 0) builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilerelease, {}, {});
}

void Tiles::zero(const loops::TileZero& zero) {
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilezero, {}, {number(zero.tile)});
}

void Tiles::load(const loops::TileLoad& load) {
  llvm::Value* address = indexes_.address(load.buffer, indexes_.form(load.index));
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_tileloadd64, {},
                           {number(load.tile), address, row_bytes(load.row_stride)});
}

void Tiles::store(const loops::TileStore& store) {
  llvm::Value* address = indexes_.address(store.buffer, indexes_.form(store.index));
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_tilestored64, {},
                           {number(store.tile), address, row_bytes(store.row_stride)});
}

void Tiles::product(const loops::TileProduct& product) {
  builder_.CreateIntrinsic(llvm::Intrinsic::x86_tdpbf16ps, {},
                           {number(product.sum), number(product.a), number(product.b)});
}

}  // namespace onepass::emit
