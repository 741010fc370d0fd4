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
/// word and bf16(b) in the high half, each rounded to nearest even, with denormals as zero of their sign.
/// scale is a * 2^b for f32 a and integral f32 b, where a * 2^(b / 2) is normal and |b| <= 252; a NaN a gives
/// NaN, whatever b. The others take i32; shift_right is arithmetic.
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
  pack_bf16,
  scale
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

}  // namespace onepass::loops
