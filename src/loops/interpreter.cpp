// SPDX-License-Identifier: Apache-2.0
#include "loops/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/diagnostic.h"
#include "loops/check.h"
#include "loops/lanes.h"
#include "loops/program.h"
#include "loops/tiles.h"

namespace onepass::loops {

namespace {

constexpr uint32_t k_nan_word = 0x7fc00000u;
constexpr size_t k_word_bytes = sizeof(uint32_t);

class Interpreter {
 public:
  Interpreter(const LoopNest& nest, const Program& program, std::span<const std::span<std::byte>> operands)
      : nest_(nest), program_(program), frame_(program.frame), vars_(nest.vars.size()) {
    registers_.resize(program.register_words);
    tiles_.resize(nest.tiles);
    assigned_.resize(program.register_slots);
    size_t operand = 0;
    for (const Buffer& buffer : nest.buffers) {
      std::byte* memory = nullptr;
      if (!buffer.scratch) {
        expect(operand < operands.size(), "operands are missing");
        const std::span<std::byte> given = operands[operand++];
        expect(
            given.size() / static_cast<size_t>(element_bytes(buffer.scalar)) >=
                static_cast<size_t>(buffer.elems),
            fmt::format("operand {} has {} bytes for {} elements", buffer.name, given.size(), buffer.elems));
        memory = given.data();
      } else {
        scratch_.emplace_back(buffer.elems);
        memory = reinterpret_cast<std::byte*>(scratch_.back().data());
      }
      memory_.push_back(memory);
    }
    expect(operand == operands.size(), "there are more operands than buffers");
  }

  void run(int64_t slice) {
    for (auto& scratch : scratch_) std::fill(scratch.begin(), scratch.end(), k_nan_word);
    std::fill(assigned_.begin(), assigned_.end(), 0);
    for (Tile& tile : tiles_) tile.defined = false;
    if (nest_.slice.id >= 0) vars_[nest_.slice.id] = slice;
    run_body(program_.body_begin, program_.body_end);
  }

 private:
  void expect(bool holds, const std::string& what) const {
    if (!holds) throw InternalError(fmt::format("loop nest '{}': {}", nest_.name, what));
  }

  int64_t evaluate(const AffineRange& affine) const {
    int64_t value = affine.constant;
    const AffineTerm* term = program_.terms.data() + affine.first;
    for (int32_t i = 0; i < affine.count; ++i) value += vars_[term[i].var] * term[i].coefficient;
    return value;
  }

  // ---- memory ---------------------------------------------------------------------------------------------

  [[noreturn]] void out_of_bounds(int32_t buffer, int64_t index) const {
    throw InternalError(fmt::format("loop nest '{}': element {} of buffer {}, which has {} elements",
                                    nest_.name, index, nest_.buffers[buffer].name,
                                    nest_.buffers[buffer].elems));
  }

  std::byte* element(int32_t buffer, int64_t index) const {
    if (index < 0 || index >= nest_.buffers[buffer].elems) out_of_bounds(buffer, index);
    return memory_[buffer] + index * element_bytes(nest_.buffers[buffer].scalar);
  }

  /// The first of `count` > 0 elements, contiguous when stride is 1; all of them are in bounds.
  std::byte* elements(int32_t buffer, int64_t index, int64_t stride, int count) const {
    element(buffer, index + stride * (count - 1));
    return element(buffer, index);
  }

  bool is_bf16(int32_t buffer) const { return nest_.buffers[buffer].scalar == Scalar::bf16; }

  /// One element as a word of its value.
  uint32_t load_element(int32_t buffer, const std::byte* from) const {
    if (!is_bf16(buffer)) {
      uint32_t word;
      std::memcpy(&word, from, k_word_bytes);
      return word;
    }
    uint16_t half;
    std::memcpy(&half, from, sizeof half);
    return static_cast<uint32_t>(half) << 16;
  }

  void store_element(int32_t buffer, uint32_t word, std::byte* to) const {
    if (!is_bf16(buffer)) {
      std::memcpy(to, &word, k_word_bytes);
      return;
    }
    const auto half = static_cast<uint16_t>(pack_bf16(word, 0));
    std::memcpy(to, &half, sizeof half);
  }

  void load(const Op& op) {
    uint32_t* dst = frame_.data() + op.dst;
    std::fill(dst + op.active, dst + op.lanes, 0u);
    if (op.active == 0) return;
    const std::byte* src = elements(op.object, evaluate(op.index), op.stride, op.active);
    if (op.stride == 1 && !is_bf16(op.object)) return copy_words(op.active, src, dst);
    const int64_t stride_bytes = op.stride * element_bytes(nest_.buffers[op.object].scalar);
    for (int i = 0; i < op.active; ++i) dst[i] = load_element(op.object, src + stride_bytes * i);
  }

  void broadcast(const Op& op) {
    const uint32_t word = load_element(op.object, element(op.object, evaluate(op.index)));
    std::fill_n(frame_.data() + op.dst, op.lanes, word);
  }

  void store(const Step& step) {
    if (step.active == 0) return;
    expect(nest_.buffers[step.object].written,
           fmt::format("buffer {} is read-only", nest_.buffers[step.object].name));
    std::byte* dst = elements(step.object, evaluate(step.a), step.stride, step.active);
    const uint32_t* src = frame_.data() + step.value;
    if (step.stride == 1 && !is_bf16(step.object)) return copy_words(step.active, src, dst);
    const int64_t stride_bytes = step.stride * element_bytes(nest_.buffers[step.object].scalar);
    for (int i = 0; i < step.active; ++i) store_element(step.object, src[i], dst + stride_bytes * i);
  }

  // ---- registers ------------------------------------------------------------------------------------------

  int64_t slot(int32_t reg, const AffineRange& index) const {
    const int64_t slot = evaluate(index);
    if (slot < 0 || slot >= nest_.registers[reg].count)
      expect(false, fmt::format("slot {} of register {}, which has {}", slot, nest_.registers[reg].name,
                                nest_.registers[reg].count));
    return slot;
  }

  void read(const Op& op) {
    const int64_t place = slot(op.object, op.index);
    const RegisterPlace& reg = program_.registers[op.object];
    if (!assigned_[reg.flag_offset + place])
      expect(false, fmt::format("slot {} of register {} is read before it is assigned", place,
                                nest_.registers[op.object].name));
    copy_words(op.lanes, registers_.data() + reg.frame_offset + place * op.lanes, frame_.data() + op.dst);
  }

  void assign(const Step& step) {
    const int64_t place = slot(step.object, step.a);
    const RegisterPlace& reg = program_.registers[step.object];
    assigned_[reg.flag_offset + place] = 1;
    copy_words(step.lanes, frame_.data() + step.value,
               registers_.data() + reg.frame_offset + place * step.lanes);
  }

  // ---- operations -----------------------------------------------------------------------------------------

  void binary(const Op& op) {
    uint32_t* frame = frame_.data();
    const auto kind = static_cast<Binary>(op.detail);
    if (kind == Binary::pack_bf16) {
      for (int i = 0; i < op.lanes; ++i) frame[op.dst + i] = pack_bf16(frame[op.a + i], frame[op.b + i]);
      return;
    }
    if (op.scalar == Scalar::f32)
      return binary_f32_lanes(kind, op.lanes, frame + op.a, frame + op.b, frame + op.dst);
    expect(binary_i32_lanes(kind, op.lanes, frame + op.a, frame + op.b, frame + op.dst),
           "a shift is not by 0 to 31");
  }

  void shuffle(const Op& op) {
    uint32_t* frame = frame_.data();
    for (int i = 0; i < op.lanes; ++i) frame[op.dst + i] = frame[program_.shuffle_lanes[op.object + i]];
  }

  void run_op(const Op& op) {
    uint32_t* frame = frame_.data();
    switch (op.kind) {
      case OpKind::lane_load:
        return load(op);
      case OpKind::broadcast:
        return broadcast(op);
      case OpKind::read:
        return read(op);
      case OpKind::unary:
        return unary_lanes(static_cast<Unary>(op.detail), op.lanes, frame + op.a, frame + op.dst);
      case OpKind::binary:
        return binary(op);
      case OpKind::fma:
        return fma_lanes(op.lanes, frame + op.a, frame + op.b, frame + op.c, frame + op.dst);
      case OpKind::select:
        return select_lanes(static_cast<Compare>(op.detail), op.scalar, op.lanes,
                            {frame + op.a, frame + op.b, frame + op.c, frame + op.d}, frame + op.dst);
      case OpKind::shuffle:
        return shuffle(op);
    }
  }

  // ---- steps ----------------------------------------------------------------------------------------------

  static int64_t apply(IntOp op, int64_t a, int64_t b) {
    switch (op) {
      case IntOp::floor_div:
        return a / b - (a % b < 0 ? 1 : 0);
      case IntOp::mod:
        return a % b < 0 ? a % b + b : a % b;
      case IntOp::min:
        return std::min(a, b);
      case IntOp::max:
        return std::max(a, b);
    }
    return 0;
  }

  static bool holds(Compare compare, int64_t a, int64_t b) {
    switch (compare) {
      case Compare::lt:
        return a < b;
      case Compare::le:
        return a <= b;
      case Compare::gt:
        return a > b;
      case Compare::ge:
        return a >= b;
      case Compare::eq:
        return a == b;
      case Compare::ne:
        return a != b;
    }
    return false;
  }

  void loop(const Step& step) {
    const int64_t end = evaluate(step.b);
    for (int64_t value = evaluate(step.a); value < end; value += step.stride) {
      vars_[step.var] = value;
      run_body(step.body_begin, step.body_end);
    }
  }

  void branch(const Step& step) {
    if (holds(step.compare, evaluate(step.a), evaluate(step.b)))
      run_body(step.body_begin, step.body_end);
    else
      run_body(step.other_begin, step.other_end);
  }

  // ---- tiles ----------------------------------------------------------------------------------------------

  void tile_zero(const Step& step) {
    tiles_[step.tile].words.fill(0);
    tiles_[step.tile].defined = true;
  }

  void tile_load(const Step& step) {
    Tile& tile = tiles_[step.tile];
    for (int row = 0; row < k_tile_rows; ++row) {
      const int64_t index = evaluate(step.a) + row * step.stride;
      copy_words(k_tile_words, elements(step.object, index, 1, k_tile_words),
                 tile.words.data() + row * k_tile_words);
    }
    tile.defined = true;
  }

  void tile_store(const Step& step) {
    const Tile& tile = tiles_[step.tile];
    expect(tile.defined, fmt::format("tile {} is stored before it is set", step.tile));
    for (int row = 0; row < k_tile_rows; ++row) {
      const int64_t index = evaluate(step.a) + row * step.stride;
      copy_words(k_tile_words, tile.words.data() + row * k_tile_words,
                 elements(step.object, index, 1, k_tile_words));
    }
  }

  void multiply_tiles(const Step& step) {
    for (const int32_t tile : {step.tile, step.tile_a, step.tile_b})
      expect(tiles_[tile].defined, fmt::format("tile {} is read before it is set", tile));
    tile_product(tiles_[step.tile].words.data(), tiles_[step.tile_a].words.data(),
                 tiles_[step.tile_b].words.data());
  }

  void run_body(int32_t begin, int32_t end) {
    for (int32_t i = begin; i < end; ++i) {
      const Step& step = program_.steps[i];
      for (int32_t op = 0; op < step.op_count; ++op) run_op(program_.ops[step.first_op + op]);
      switch (step.kind) {
        case StepKind::loop:
          loop(step);
          break;
        case StepKind::let:
          vars_[step.var] = apply(step.int_op, evaluate(step.a), evaluate(step.b));
          break;
        case StepKind::store:
          store(step);
          break;
        case StepKind::assign:
          assign(step);
          break;
        case StepKind::branch:
          branch(step);
          break;
        case StepKind::nothing:
          break;
        case StepKind::tile_zero:
          tile_zero(step);
          break;
        case StepKind::tile_load:
          tile_load(step);
          break;
        case StepKind::tile_store:
          tile_store(step);
          break;
        case StepKind::tile_product:
          multiply_tiles(step);
          break;
      }
    }
  }

  struct Tile {
    std::array<uint32_t, size_t{k_tile_rows} * k_tile_words> words;
    bool defined = false;
  };

  const LoopNest& nest_;
  const Program& program_;
  std::vector<uint32_t> frame_, registers_;
  std::vector<uint8_t> assigned_;
  std::vector<int64_t> vars_;
  std::vector<Tile> tiles_;
  std::vector<std::byte*> memory_;
  std::vector<std::vector<uint32_t>> scratch_;
};

}  // namespace

void interpret(const LoopNest& nest, std::span<const std::span<std::byte>> operands, int64_t slice_begin,
               int64_t slice_end) {
  check(nest);
  require(slice_begin >= 0 && slice_end <= nest.slices, "the slices are those of the nest");
  const Program program = build_program(nest);
  Interpreter interpreter(nest, program, operands);
  for (int64_t slice = slice_begin; slice < slice_end; ++slice) interpreter.run(slice);
}

}  // namespace onepass::loops
