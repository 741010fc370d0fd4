// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "loops/nest.h"

namespace onepass::loops {

// The compact form that the interpreter runs: flat tables, values as offsets into one frame of 32-bit words.

struct AffineRange {
  int64_t constant = 0;
  int32_t first = 0, count = 0;  ///< of Program::terms
};

struct AffineTerm {
  int32_t var;
  int64_t coefficient;
};

enum class OpKind : uint8_t { lane_load, broadcast, read, unary, binary, fma, select, shuffle };

/// One operation on lanes: dst = kind(a, b, c, d), all offsets into the frame.
struct Op {
  OpKind kind;
  uint8_t detail = 0;           ///< Unary, Binary or Compare
  Scalar scalar = Scalar::f32;  ///< of the operands
  int lanes = 1;
  int32_t dst = 0, a = 0, b = 0, c = 0, d = 0;
  int32_t object = 0;  ///< buffer or register, or first lane of a shuffle in Program::shuffle_lanes
  AffineRange index;   ///< of the element, or of the slot
  int64_t stride = 1;
  int active = 0;
};

enum class StepKind : uint8_t {
  loop,
  let,
  store,
  assign,
  branch,
  nothing,  ///< a prefetch
  tile_zero,
  tile_load,
  tile_store,
  tile_product
};

struct Step {
  StepKind kind;
  Compare compare = Compare::lt;
  IntOp int_op = IntOp::min;
  int32_t var = 0;
  int32_t first_op = 0, op_count = 0;  ///< evaluated before the step
  int32_t value = 0, object = 0;       ///< of a store or an assignment
  int32_t tile = 0, tile_a = 0, tile_b = 0;
  int lanes = 1, active = 0;
  AffineRange a, b;  ///< bounds, operands, or index in a
  int64_t stride = 1;
  int32_t body_begin = 0, body_end = 0;    ///< steps of the body, or of the then branch
  int32_t other_begin = 0, other_end = 0;  ///< steps of the otherwise branch
};

struct RegisterPlace {
  int32_t frame_offset;
  int32_t flag_offset;
};

struct Program {
  std::vector<Step> steps;  ///< a body's steps stand together; nested bodies stand elsewhere
  std::vector<Op> ops;
  std::vector<AffineTerm> terms;
  std::vector<int32_t> shuffle_lanes;
  std::vector<RegisterPlace> registers;
  std::vector<uint32_t> frame;  ///< initial contents: constants are in place
  int32_t register_words = 0, register_slots = 0;
  int32_t body_begin = 0, body_end = 0;
};

/// The nest must have passed check().
Program build_program(const LoopNest& nest);

}  // namespace onepass::loops
