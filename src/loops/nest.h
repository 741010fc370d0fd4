// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "loops/expr.h"

namespace onepass::loops {

// ---- statements -------------------------------------------------------------------------------------------

struct Stmt;
using Body = std::vector<Stmt>;

/// for (var = begin; var < end; var += step). Unrolled loops have constant bounds.
struct For {
  Var var;
  Affine begin, end;
  int64_t step = 1;
  bool unrolled = false;
  /// Iterations of an unrolled loop read overlapping addresses (taps of a window): a back end keeps their
  /// loads apart, since merging them costs more registers than it saves loads.
  bool overlapping = false;
  Body body;
};

enum class IntOp : uint8_t { floor_div, mod, min, max };  ///< floor_div and mod by a positive constant b

/// var = a op b, for the statements that follow in the same body.
struct Let {
  Var var;
  IntOp op;
  Affine a, b;
};

/// Lane i goes to element index + i * stride; only `active` lanes are written.
struct Store {
  BufferId buffer;
  Affine index;
  Value value;
  int64_t stride = 1;
  std::optional<int> active;
};

struct Assign {
  RegisterId reg;
  Affine slot;
  Value value;
};

struct If {
  Compare compare;
  Affine a, b;
  Body then, otherwise;
};

// Tiles are registers of k_tile_rows rows of k_tile_words words: sums hold f32, operands pairs of bf16 (i32,
// as pack_bf16 makes them). They are undefined until zeroed or loaded.

inline constexpr int k_tile_rows = 16;
inline constexpr int k_tile_words = 16;
inline constexpr int k_most_tiles = 8;

struct TileZero {
  int tile = 0;
};

/// Row r is the words [index + r * row_stride, + k_tile_words).
struct TileLoad {
  int tile = 0;
  BufferId buffer;
  Affine index;
  int64_t row_stride = k_tile_words;
};

struct TileStore {
  int tile = 0;
  BufferId buffer;
  Affine index;
  int64_t row_stride = k_tile_words;
};

/// sum[m][n] += (sum over k of a[m][k].low * b[k][n].low) + (the same of the high halves): two fma chains in
/// the order of k that start at zero, their sum, and its sum with the old value, each rounded to nearest
/// even; denormal operands and results are zero (TDPBF16PS of Intel's manual).
struct TileProduct {
  int sum = 0, a = 0, b = 0;
};

/// The elements around `index` are read soon: a back end may fetch them into L2. Without meaning; the index
/// may lie behind the buffer.
struct Prefetch {
  BufferId buffer;
  Affine index;
};

struct Stmt {
  std::variant<For, Let, Store, Assign, If, Prefetch, TileZero, TileLoad, TileStore, TileProduct> kind;
};

// ---- nests ------------------------------------------------------------------------------------------------

struct Buffer {
  std::string name;
  Scalar scalar = Scalar::f32;
  int64_t elems = 0;  ///< accesses stay below this
  bool written = false;
  bool scratch = false;     ///< private to a slice; contents undefined when a slice starts
  int64_t align_bytes = 4;  ///< of the address
  bool streamed = false;    ///< read in the order of its addresses: a back end may fetch ahead
};

/// `count` vector registers, addressed by slot. Undefined until assigned.
struct Register {
  std::string name;
  Type type;
  int count = 1;
};

/// A kernel: `body` runs once for every value of `slice` in [0, slices). Buffers that are not scratch are the
/// launch's operands, in order; scratch buffers lie one after another in the thread's scratch, 64-byte
/// aligned.
struct LoopNest {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Register> registers;
  int tiles = 0;                  ///< tile registers, up to k_most_tiles
  std::vector<std::string> vars;  ///< name of each variable, by id
  Var slice;
  int64_t slices = 1;
  Body body;
};

int64_t element_bytes(Scalar scalar);
/// The type of a value that is loaded from such memory, or stored to it.
Scalar value_scalar(Scalar memory);
int64_t scratch_bytes(const LoopNest& nest);
/// Offset of scratch buffer `id` in the thread's scratch.
int64_t scratch_offset_bytes(const LoopNest& nest, BufferId id);

}  // namespace onepass::loops
