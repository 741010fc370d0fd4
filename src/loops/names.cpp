// SPDX-License-Identifier: Apache-2.0
#include "loops/names.h"

namespace onepass::loops {

const char* name(Scalar scalar) {
  constexpr const char* names[] = {"f32", "i32", "bf16"};
  return names[static_cast<int>(scalar)];
}

const char* name(Unary op) {
  constexpr const char* names[] = {"neg",        "abs",    "sqrt",   "floor",       "ceil",
                                   "round_even", "to_i32", "to_f32", "bits_to_i32", "bits_to_f32"};
  return names[static_cast<int>(op)];
}

const char* name(Binary op) {
  constexpr const char* names[] = {"add",     "sub",    "mul",        "div",         "max",       "min",
                                   "bit_and", "bit_or", "shift_left", "shift_right", "pack_bf16", "scale"};
  return names[static_cast<int>(op)];
}

const char* name(Compare compare) {
  constexpr const char* names[] = {"lt", "le", "gt", "ge", "eq", "ne"};
  return names[static_cast<int>(compare)];
}

const char* sign(Compare compare) {
  constexpr const char* signs[] = {"<", "<=", ">", ">=", "==", "!="};
  return signs[static_cast<int>(compare)];
}

const char* name(IntOp op) {
  constexpr const char* names[] = {"floor_div", "mod", "min", "max"};
  return names[static_cast<int>(op)];
}

}  // namespace onepass::loops
