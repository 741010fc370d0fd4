// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "emit/llvm_index.h"
#include "loops/nest.h"

namespace onepass::emit {

/// Tile statements as the instructions of AMX, with the tile numbers of the nest. A kernel with tiles loads
/// its tile configuration first and releases it before it returns.
class Tiles {
 public:
  Tiles(llvm::IRBuilder<>& builder, Indexes& indexes, const loops::LoopNest& nest)
      : builder_(builder), indexes_(indexes), nest_(nest) {}

  /// Every tile has all its rows and columns.
  void configure();
  void release();
  void zero(const loops::TileZero& zero);
  void load(const loops::TileLoad& load);
  void store(const loops::TileStore& store);
  void product(const loops::TileProduct& product);

 private:
  llvm::Value* number(int tile) { return builder_.getInt8(static_cast<uint8_t>(tile)); }
  llvm::Value* row_bytes(int64_t row_stride) { return builder_.getInt64(row_stride * 4); }

  llvm::IRBuilder<>& builder_;
  Indexes& indexes_;
  const loops::LoopNest& nest_;
};

}  // namespace onepass::emit
