// SPDX-License-Identifier: Apache-2.0
#include "emit/c_support.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

namespace onepass::emit {

namespace {

constexpr std::string_view k_prologue = R"(#include <math.h>
#include <stdint.h>

struct onepass_call {
  void* const* operands;
  void* scratch;
  const int64_t* params;
};

static inline int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static inline int64_t floor_mod(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }
static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int32_t truncated(float a) {
  return a >= -2147483648.0f && a < 2147483648.0f ? (int32_t)a : INT32_MIN;
}
static inline int32_t f32_bits(float a) {
  int32_t r;
  __builtin_memcpy(&r, &a, 4);
  return r;
}
static inline float f32_of_bits(int32_t a) {
  float r;
  __builtin_memcpy(&r, &a, 4);
  return r;
}
static inline int32_t flushed_bits(int32_t a) { return (a & 0x7f800000) == 0 ? a & INT32_MIN : a; }
static inline uint32_t bf16_bits(float a) {
  const uint32_t bits = (uint32_t)flushed_bits(f32_bits(a));
  return a != a ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
}
static inline float f32_of_bf16(uint16_t a) { return f32_of_bits((int32_t)((uint32_t)a << 16)); }
)";

constexpr std::string_view k_tile_support = R"(
struct tile {
  int32_t words[16][16];
};
static inline float flushed(float a) { return f32_of_bits(flushed_bits(f32_bits(a))); }
static inline float bf16_low(int32_t a) { return flushed(f32_of_bits((int32_t)((uint32_t)a << 16))); }
static inline float bf16_high(int32_t a) { return flushed(f32_of_bits((int32_t)((uint32_t)a & 0xffff0000u))); }
static inline void tile_zero(struct tile* t) { __builtin_memset(t, 0, sizeof *t); }
static inline void tile_load(struct tile* t, const void* from, int64_t row_stride) {
  for (int64_t row = 0; row < 16; ++row)
    __builtin_memcpy(t->words[row], (const char*)from + row * row_stride * 4, sizeof t->words[row]);
}
static inline void tile_store(const struct tile* t, void* to, int64_t row_stride) {
  for (int64_t row = 0; row < 16; ++row)
    __builtin_memcpy((char*)to + row * row_stride * 4, t->words[row], sizeof t->words[row]);
}
static inline void tile_product(struct tile* sum, const struct tile* a, const struct tile* b) {
  for (int m = 0; m < 16; ++m)
    for (int n = 0; n < 16; ++n) {
      float even = 0, odd = 0;
      for (int k = 0; k < 16; ++k) {
        even = flushed(__builtin_fmaf(bf16_low(a->words[m][k]), bf16_low(b->words[k][n]), even));
        odd = flushed(__builtin_fmaf(bf16_high(a->words[m][k]), bf16_high(b->words[k][n]), odd));
      }
      const float old = flushed(f32_of_bits(sum->words[m][n]));
      sum->words[m][n] = f32_bits(flushed(old + flushed(even + odd)));
    }
}
)";

/// Function name, result and operand types (F or I), lane formula in terms of A, B, C, D.
struct Operation {
  std::string name;
  char result;
  std::string_view operands;
  std::string_view formula;
};

constexpr std::pair<std::string_view, std::string_view> k_compares[] = {
    {"lt", "<"}, {"le", "<="}, {"gt", ">"}, {"ge", ">="}, {"eq", "=="}, {"ne", "!="}};

const Operation k_operations[] = {
    {"neg", 'F', "F", "-A"},
    {"abs", 'F', "F", "fabsf(A)"},
    {"sqrt", 'F', "F", "sqrtf(A)"},
    {"floor", 'F', "F", "floorf(A)"},
    {"ceil", 'F', "F", "ceilf(A)"},
    {"round_even", 'F', "F", "nearbyintf(A)"},
    {"to_i32", 'I', "F", "truncated(A)"},
    {"to_f32", 'F', "I", "(float)A"},
    {"bits_to_i32", 'I', "F", "f32_bits(A)"},
    {"bits_to_f32", 'F', "I", "f32_of_bits(A)"},
    {"add", 'F', "FF", "A + B"},
    {"sub", 'F', "FF", "A - B"},
    {"mul", 'F', "FF", "A * B"},
    {"div", 'F', "FF", "A / B"},
    {"scale", 'F', "FF", "A != A ? A : ldexpf(A, (int)B)"},
    {"max", 'F', "FF", "A > B ? A : B"},
    {"min", 'F', "FF", "A < B ? A : B"},
    {"add", 'I', "II", "(int32_t)((uint32_t)A + (uint32_t)B)"},
    {"sub", 'I', "II", "(int32_t)((uint32_t)A - (uint32_t)B)"},
    {"mul", 'I', "II", "(int32_t)((uint32_t)A * (uint32_t)B)"},
    {"max", 'I', "II", "A > B ? A : B"},
    {"min", 'I', "II", "A < B ? A : B"},
    {"bit_and", 'I', "II", "A & B"},
    {"bit_or", 'I', "II", "A | B"},
    {"shift_left", 'I', "II", "(int32_t)((uint32_t)A << B)"},
    {"shift_right", 'I', "II", "A >> B"},
    {"pack_bf16", 'I', "FF", "(int32_t)(bf16_bits(A) | bf16_bits(B) << 16)"},
    {"fma", 'F', "FFF", "__builtin_fmaf(A, B, C)"},
};

struct Function {
  std::string name, text;
};

Function lane_function(const Operation& operation, std::string_view suffix, int lanes) {
  const auto type = [&](char scalar) {
    return c_type({scalar == 'F' ? loops::Scalar::f32 : loops::Scalar::i32, lanes});
  };
  const std::string_view lane = lanes == 1 ? "" : "[i]";
  std::string parameters, formula;
  for (size_t i = 0; i < operation.operands.size(); ++i)
    parameters +=
        fmt::format("{}{} {}", i == 0 ? "" : ", ", type(operation.operands[i]), static_cast<char>('a' + i));
  for (size_t i = 0; i < operation.formula.size(); ++i) {
    const char c = operation.formula[i];
    const bool operand = c >= 'A' && c <= 'D';
    formula += operand ? fmt::format("{}{}", static_cast<char>(c - 'A' + 'a'), lane) : std::string(1, c);
  }
  const std::string result = type(operation.result);
  const std::string name = fmt::format("op_{}_{}", operation.name, suffix);
  return {name, fmt::format("static inline {0} {1}({2}) {{\n  {0} r = {{0}};\n"
                            "  for (int i = 0; i < {3}; ++i) r{4} = {5};\n  return r;\n}}\n",
                            result, name, parameters, lanes, lane, formula)};
}

/// select: a and b of one type are compared, c and d of another are chosen from.
std::vector<Function> select_functions(int lanes) {
  std::vector<Function> functions;
  for (const auto& [name, sign] : k_compares)
    for (const char compared : {'F', 'I'})
      for (const char chosen : {'F', 'I'}) {
        const std::string formula = fmt::format("A {} B ? C : D", sign);
        const std::string operands{compared, compared, chosen, chosen};
        const std::string suffix =
            fmt::format("{}_{}", compared == 'F' ? "f32" : "i32",
                        c_type({chosen == 'F' ? loops::Scalar::f32 : loops::Scalar::i32, lanes}));
        functions.push_back(
            lane_function({fmt::format("select_{}", name), chosen, operands, formula}, suffix, lanes));
      }
  return functions;
}

std::vector<Function> memory_functions(int lanes, loops::Scalar scalar) {
  const std::string type = c_type({scalar, lanes});
  const std::string_view element = scalar == loops::Scalar::f32 ? "float" : "int32_t";
  const std::string_view lane = lanes == 1 ? "" : "[i]";
  return {{"op_load_" + type,
           fmt::format("static inline {0} op_load_{0}(const {1}* from, int64_t stride, int active) {{\n"
                       "  {0} r = {{0}};\n  for (int i = 0; i < active; ++i) r{2} = from[i * stride];\n"
                       "  return r;\n}}\n",
                       type, element, lane)},
          {"op_store_" + type,
           fmt::format("static inline void op_store_{0}({1}* to, {0} a, int64_t stride, int active) {{\n"
                       "  for (int i = 0; i < active; ++i) to[i * stride] = a{2};\n}}\n",
                       type, element, lane)},
          {"op_splat_" + type, fmt::format("static inline {0} op_splat_{0}({1} a) {{\n  {0} r = {{0}};\n"
                                           "  for (int i = 0; i < {3}; ++i) r{2} = a;\n  return r;\n}}\n",
                                           type, element, lane, lanes)}};
}

std::vector<Function> bf16_functions(int lanes) {
  const std::string type = c_type({loops::Scalar::f32, lanes});
  const std::string_view lane = lanes == 1 ? "" : "[i]";
  return {
      {"op_load_bf16_" + type,
       fmt::format("static inline {0} op_load_bf16_{0}(const uint16_t* from, int64_t stride, int active) {{\n"
                   "  {0} r = {{0}};\n"
                   "  for (int i = 0; i < active; ++i) r{1} = f32_of_bf16(from[i * stride]);\n"
                   "  return r;\n}}\n",
                   type, lane)},
      {"op_store_bf16_" + type,
       fmt::format(
           "static inline void op_store_bf16_{0}(uint16_t* to, {0} a, int64_t stride, int active) {{\n"
           "  for (int i = 0; i < active; ++i) to[i * stride] = (uint16_t)bf16_bits(a{1});\n}}\n",
           type, lane)}};
}

std::string type_names(int lanes) {
  if (lanes == 1) return "typedef float f32x1;\ntypedef int32_t i32x1;\n";
  return fmt::format(
      "typedef float f32x{0} __attribute__((vector_size({1})));\n"
      "typedef int32_t i32x{0} __attribute__((vector_size({1})));\n",
      lanes, lanes * 4);
}

}  // namespace

std::string c_type(loops::Type type) {
  return fmt::format("{}x{}", type.scalar == loops::Scalar::f32 ? "f32" : "i32", type.lanes);
}

std::string c_prologue() {
  return std::string(k_prologue);
}

std::string c_tile_support() {
  return std::string(k_tile_support);
}

std::string c_lane_support(int lanes, const std::set<std::string>& used) {
  std::string text = "\n" + type_names(lanes);
  const auto add = [&](const Function& function) {
    if (used.contains(function.name)) text += function.text;
  };
  for (const loops::Scalar scalar : {loops::Scalar::f32, loops::Scalar::i32})
    for (const Function& function : memory_functions(lanes, scalar)) add(function);
  for (const Function& function : bf16_functions(lanes)) add(function);
  for (const Operation& operation : k_operations) {
    const loops::Scalar scalar = operation.operands[0] == 'F' ? loops::Scalar::f32 : loops::Scalar::i32;
    add(lane_function(operation, c_type({scalar, lanes}), lanes));
  }
  for (const Function& function : select_functions(lanes)) add(function);
  return text;
}

}  // namespace onepass::emit
