// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "loops/nest.h"

namespace onepass::loops {

// The meaning of every operation, lane by lane, on 32-bit words that hold f32 or i32.

/// Copies words; the usual numbers of lanes without a call.
inline void copy_words(int lanes, const void* from, void* to) {
  switch (lanes) {
    case 1:
      std::memcpy(to, from, 4);
      return;
    case 8:
      std::memcpy(to, from, 32);
      return;
    case 16:
      std::memcpy(to, from, 64);
      return;
    default:
      std::memcpy(to, from, sizeof(uint32_t) * static_cast<size_t>(lanes));
  }
}

void unary_lanes(Unary op, int lanes, const uint32_t* a, uint32_t* dst);
void binary_f32_lanes(Binary op, int lanes, const uint32_t* a, const uint32_t* b, uint32_t* dst);
/// False when a shift is by less than 0 or more than 31.
bool binary_i32_lanes(Binary op, int lanes, const uint32_t* a, const uint32_t* b, uint32_t* dst);
void fma_lanes(int lanes, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* dst);

struct SelectOperands {
  const uint32_t* a;
  const uint32_t* b;
  const uint32_t* then;
  const uint32_t* otherwise;
};
void select_lanes(Compare compare, Scalar scalar, int lanes, const SelectOperands& operands, uint32_t* dst);

}  // namespace onepass::loops
