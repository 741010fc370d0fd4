// SPDX-License-Identifier: Apache-2.0
#include "loops/lanes.h"

#include <bit>
#include <cmath>
#include <limits>

namespace onepass::loops {

namespace {

float as_f32(uint32_t word) {
  return std::bit_cast<float>(word);
}
uint32_t as_word(float value) {
  return std::bit_cast<uint32_t>(value);
}
int32_t as_i32(uint32_t word) {
  return static_cast<int32_t>(word);
}

float scaled(float value, float exponent) {
  return std::isnan(value) ? value + value : std::ldexp(value, static_cast<int>(exponent));
}

int32_t truncated(float value) {
  const bool fits = value >= -2147483648.0f && value < 2147483648.0f;
  return fits ? static_cast<int32_t>(value) : std::numeric_limits<int32_t>::min();
}

template <class Function>
void map1(int lanes, const uint32_t* a, uint32_t* dst, Function function) {
  for (int i = 0; i < lanes; ++i) dst[i] = function(a[i]);
}

template <class Function>
void map2(int lanes, const uint32_t* a, const uint32_t* b, uint32_t* dst, Function function) {
  for (int i = 0; i < lanes; ++i) dst[i] = function(a[i], b[i]);
}

template <class Function>
void map2_f32(int lanes, const uint32_t* a, const uint32_t* b, uint32_t* dst, Function function) {
  map2(lanes, a, b, dst, [&](uint32_t x, uint32_t y) { return as_word(function(as_f32(x), as_f32(y))); });
}

template <class Function>
void map2_i32(int lanes, const uint32_t* a, const uint32_t* b, uint32_t* dst, Function function) {
  map2(lanes, a, b, dst,
       [&](uint32_t x, uint32_t y) { return static_cast<uint32_t>(function(as_i32(x), as_i32(y))); });
}

bool shifts_fit(int lanes, const uint32_t* amounts) {
  for (int i = 0; i < lanes; ++i)
    if (amounts[i] > 31) return false;
  return true;
}

template <class T>
bool holds(Compare compare, T a, T b) {
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

/// A float that may lie in memory declared as words.
using WordFloat [[gnu::may_alias]] = float;

void plain_fma(int lanes, const WordFloat* a, const WordFloat* b, const WordFloat* c, WordFloat* dst) {
  for (int i = 0; i < lanes; ++i) dst[i] = std::fma(a[i], b[i], c[i]);
}

#if defined(__x86_64__)
// The same operation on hosts that have it as an instruction; a call to libm per lane is slow.
template <int count>
[[gnu::target("avx2,fma")]] inline void fast_fma_block(const WordFloat* a, const WordFloat* b,
                                                       const WordFloat* c, WordFloat* dst) {
  float block[count];
  for (int i = 0; i < count; ++i) block[i] = __builtin_fmaf(a[i], b[i], c[i]);
  for (int i = 0; i < count; ++i) dst[i] = block[i];
}

[[gnu::target("avx2,fma")]] void fast_fma(int lanes, const WordFloat* a, const WordFloat* b,
                                          const WordFloat* c, WordFloat* dst) {
  int i = 0;
  for (; i + 8 <= lanes; i += 8) fast_fma_block<8>(a + i, b + i, c + i, dst + i);
  for (; i < lanes; ++i) fast_fma_block<1>(a + i, b + i, c + i, dst + i);
}

bool has_fma() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}
#else
void fast_fma(int lanes, const WordFloat* a, const WordFloat* b, const WordFloat* c, WordFloat* dst) {
  plain_fma(lanes, a, b, c, dst);
}
bool has_fma() {
  return false;
}
#endif

}  // namespace

void unary_lanes(Unary op, int lanes, const uint32_t* a, uint32_t* dst) {
  constexpr uint32_t sign = 0x80000000u;
  switch (op) {
    case Unary::neg:
      return map1(lanes, a, dst, [](uint32_t x) { return x ^ sign; });
    case Unary::abs:
      return map1(lanes, a, dst, [](uint32_t x) { return x & ~sign; });
    case Unary::sqrt:
      return map1(lanes, a, dst, [](uint32_t x) { return as_word(std::sqrt(as_f32(x))); });
    case Unary::floor:
      return map1(lanes, a, dst, [](uint32_t x) { return as_word(std::floor(as_f32(x))); });
    case Unary::ceil:
      return map1(lanes, a, dst, [](uint32_t x) { return as_word(std::ceil(as_f32(x))); });
    case Unary::round_even:
      return map1(lanes, a, dst, [](uint32_t x) { return as_word(std::nearbyint(as_f32(x))); });
    case Unary::to_i32:
      return map1(lanes, a, dst, [](uint32_t x) { return static_cast<uint32_t>(truncated(as_f32(x))); });
    case Unary::to_f32:
      return map1(lanes, a, dst, [](uint32_t x) { return as_word(static_cast<float>(as_i32(x))); });
    case Unary::bits_to_i32:
    case Unary::bits_to_f32:
      return copy_words(lanes, a, dst);
  }
}

void binary_f32_lanes(Binary op, int lanes, const uint32_t* a, const uint32_t* b, uint32_t* dst) {
  switch (op) {
    case Binary::add:
      return map2_f32(lanes, a, b, dst, [](float x, float y) { return x + y; });
    case Binary::sub:
      return map2_f32(lanes, a, b, dst, [](float x, float y) { return x - y; });
    case Binary::mul:
      return map2_f32(lanes, a, b, dst, [](float x, float y) { return x * y; });
    case Binary::div:
      return map2_f32(lanes, a, b, dst, [](float x, float y) { return x / y; });
    case Binary::max:
      return map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return as_f32(x) > as_f32(y) ? x : y; });
    case Binary::min:
      return map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return as_f32(x) < as_f32(y) ? x : y; });
    case Binary::scale:
      return map2(lanes, a, b, dst,
                  [](uint32_t x, uint32_t y) { return as_word(scaled(as_f32(x), as_f32(y))); });
    default:
      return;
  }
}

bool binary_i32_lanes(Binary op, int lanes, const uint32_t* a, const uint32_t* b, uint32_t* dst) {
  switch (op) {
    case Binary::add:
      map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return x + y; });
      break;
    case Binary::sub:
      map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return x - y; });
      break;
    case Binary::mul:
      map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return x * y; });
      break;
    case Binary::max:
      map2_i32(lanes, a, b, dst, [](int32_t x, int32_t y) { return x > y ? x : y; });
      break;
    case Binary::min:
      map2_i32(lanes, a, b, dst, [](int32_t x, int32_t y) { return x < y ? x : y; });
      break;
    case Binary::bit_and:
      map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return x & y; });
      break;
    case Binary::bit_or:
      map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return x | y; });
      break;
    case Binary::shift_left:
      if (!shifts_fit(lanes, b)) return false;
      map2(lanes, a, b, dst, [](uint32_t x, uint32_t y) { return x << y; });
      break;
    case Binary::shift_right:
      if (!shifts_fit(lanes, b)) return false;
      map2_i32(lanes, a, b, dst, [](int32_t x, int32_t y) { return x >> y; });
      break;
    case Binary::div:
    case Binary::pack_bf16:
    case Binary::scale:
      return false;
  }
  return true;
}

void fma_lanes(int lanes, const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* dst) {
  const auto floats = [](const uint32_t* words) { return reinterpret_cast<const WordFloat*>(words); };
  const auto fused = has_fma() ? fast_fma : plain_fma;
  fused(lanes, floats(a), floats(b), floats(c), reinterpret_cast<WordFloat*>(dst));
}

void select_lanes(Compare compare, Scalar scalar, int lanes, const SelectOperands& operands, uint32_t* dst) {
  for (int i = 0; i < lanes; ++i) {
    const bool yes = scalar == Scalar::f32 ? holds(compare, as_f32(operands.a[i]), as_f32(operands.b[i]))
                                           : holds(compare, as_i32(operands.a[i]), as_i32(operands.b[i]));
    dst[i] = yes ? operands.then[i] : operands.otherwise[i];
  }
}

}  // namespace onepass::loops
