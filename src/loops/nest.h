// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace onepass::loops {

// The loop language: what a kernel is, before any back end. Integers are affine in the loop variables; values
// are vectors of f32 or i32; every operation is one IEEE operation (no contraction, no reassociation), so
// that the interpreter, the C printer and LLVM give the same bits.

/// bf16 is a type of memory alone: a load widens it to f32, exactly; a store rounds f32 to it as pack_bf16
/// does.
enum class Scalar : uint8_t { f32, i32, bf16 };

struct Type {
  Scalar scalar = Scalar::f32;
  int lanes = 1;
  bool operator==(const Type&) const = default;
};

// ---- integers ---------------------------------------------------------------------------------------------

struct Var {
  int32_t id = -1;
  auto operator<=>(const Var&) const = default;
};

/// constant + sum of coefficient * variable; terms in variable order, no zero coefficients.
struct Affine {
  int64_t constant = 0;
  std::vector<std::pair<Var, int64_t>> terms;

  Affine() = default;
  Affine(int64_t value) : constant(value) {}  // NOLINT: an integer is an index
  Affine(int value) : constant(value) {}      // NOLINT
  Affine(Var var) : terms{{var, 1}} {}        // NOLINT: a variable is an index
  bool is_constant() const { return terms.empty(); }
  bool operator==(const Affine&) const = default;
};

Affine operator+(const Affine& a, const Affine& b);
Affine operator-(const Affine& a, const Affine& b);
Affine operator*(const Affine& a, int64_t factor);

enum class Compare : uint8_t { lt, le, gt, ge, eq, ne };

// ---- values -----------------------------------------------------------------------------------------------

struct BufferId {
  int32_t id = -1;
  auto operator<=>(const BufferId&) const = default;
};

struct RegisterId {
  int32_t id = -1;
  auto operator<=>(const RegisterId&) const = default;
};

/// f32 to f32, but for the last four. to_i32 rounds toward zero, and out of range gives INT32_MIN; bits_to_*
/// keep the bits.
enum class Unary : uint8_t {
  neg,
  abs,
  sqrt,
  floor,
  ceil,
  round_even,
  to_i32,
  to_f32,
  bits_to_i32,
  bits_to_f32
};

/// add, sub and mul take f32 or i32 (which wraps), div f32. max is a > b ? a : b and min a < b ? a : b, so
/// that b is the result when either is NaN. pack_bf16 takes f32 and gives i32: bf16(a) in the low half of the
/// word and bf16(b) in the high half, each rounded to nearest even, with denormals as zero of their sign. The
/// others take i32; shift_right is arithmetic.
enum class Binary : uint8_t {
  add,
  sub,
  mul,
  div,
  max,
  min,
  bit_and,
  bit_or,
  shift_left,
  shift_right,
  pack_bf16
};

struct Expr;
using Value = std::shared_ptr<const Expr>;  ///< shared sub-expressions are computed once per statement

/// The same number in every lane; integral for i32.
struct Constant {
  double value = 0;
};

/// i32: 0, 1, 2, ...
struct LaneIndex {};

/// Lane i reads element index + i * stride. `active` lanes are read, the others are zero and touch no memory.
struct Load {
  BufferId buffer;
  Affine index;
  int64_t stride = 1;
  std::optional<int> active;
};

/// One element in every lane.
struct Broadcast {
  BufferId buffer;
  Affine index;
};

/// A register; the slot is constant once loops are unrolled.
struct Read {
  RegisterId reg;
  Affine slot;
};

struct UnaryOp {
  Unary op;
  Value a;
};

struct BinaryOp {
  Binary op;
  Value a, b;
};

/// a * b + c, rounded once.
struct Fma {
  Value a, b, c;
};

/// Lanewise a compare b ? then : otherwise; a and b of one type; ne is true for NaN, the others are false.
struct Select {
  Compare compare;
  Value a, b, then, otherwise;
};

/// Lane i of the result is lane lanes[i] of a ++ b.
struct Shuffle {
  Value a, b;
  std::vector<int> lanes;
};

struct Expr {
  Type type;
  std::variant<Constant, LaneIndex, Load, Broadcast, Read, UnaryOp, BinaryOp, Fma, Select, Shuffle> kind;
};

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
