// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "loops/nest.h"

namespace onepass::loops {

// ---- expressions ------------------------------------------------------------------------------------------

Value constant(double value, int lanes);
Value constant_i32(int64_t value, int lanes);
Value lane_index(int lanes);
Value unary(Unary op, Value a);
Value binary(Binary op, Value a, Value b);
Value fma(Value a, Value b, Value c);
Value select(Compare compare, Value a, Value b, Value then, Value otherwise);
Value shuffle(Value a, Value b, std::vector<int> lanes);

// ---- statements -------------------------------------------------------------------------------------------

/// Builds a LoopNest statement by statement. Bodies are lambdas that append to the innermost open body.
class Builder {
 public:
  explicit Builder(std::string name);

  BufferId input(std::string name, int64_t elems, int64_t align_bytes = 4, Scalar scalar = Scalar::f32);
  /// An input whose vectors are read in the order of their addresses.
  BufferId stream(std::string name, int64_t elems, int64_t align_bytes = 4, Scalar scalar = Scalar::f32);
  BufferId output(std::string name, int64_t elems, int64_t align_bytes = 4, Scalar scalar = Scalar::f32);
  BufferId scratch(std::string name, int64_t elems, Scalar scalar = Scalar::f32);
  RegisterId registers(std::string name, Type type, int count);
  /// Tile registers 0 to count - 1.
  void tiles(int count) { nest_.tiles = count; }

  /// The parallel axis: once per nest, before any statement.
  Affine slices(int64_t count);

  using Block = std::function<void()>;
  using LoopBlock = std::function<void(Affine)>;
  void loop(std::string var, Affine begin, Affine end, int64_t step, const LoopBlock& block);
  void unrolled(std::string var, int64_t count, const LoopBlock& block, bool overlapping = false);
  void when(Compare compare, Affine a, Affine b, const Block& then, const Block& otherwise = {});

  Affine floor_div(const Affine& a, int64_t divisor);
  Affine mod(const Affine& a, int64_t divisor);
  Affine min(const Affine& a, const Affine& b);
  Affine max(const Affine& a, const Affine& b);

  Value load(BufferId buffer, Affine index, int lanes, std::optional<int> active = {}) const;
  Value load_strided(BufferId buffer, Affine index, int lanes, int64_t stride,
                     std::optional<int> active = {}) const;
  Value broadcast(BufferId buffer, Affine index, int lanes) const;
  Value read(RegisterId reg, Affine slot = 0) const;
  void assign(RegisterId reg, Affine slot, Value value);
  void store(BufferId buffer, Affine index, Value value, std::optional<int> active = {});
  void store_strided(BufferId buffer, Affine index, Value value, int64_t stride,
                     std::optional<int> active = {});

  void prefetch(BufferId buffer, Affine index);
  void tile_zero(int tile);
  void tile_load(int tile, BufferId buffer, Affine index, int64_t row_stride = k_tile_words);
  void tile_store(int tile, BufferId buffer, Affine index, int64_t row_stride = k_tile_words);
  void tile_product(int sum, int a, int b);

  /// The finished nest. Throws InternalError when check() finds a fault.
  LoopNest finish();

 private:
  Var new_var(std::string name);
  Affine let(const char* name, IntOp op, const Affine& a, const Affine& b);
  Body& body() { return *bodies_.back(); }
  void fill(Body& body, const Block& block);

  LoopNest nest_;
  std::vector<Body*> bodies_;
};

}  // namespace onepass::loops
