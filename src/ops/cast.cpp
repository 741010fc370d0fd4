// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ops/meanings.h"
#include "ops/operands.h"
#include "ops/reference_support.h"
#include "ops/shape_support.h"

namespace onepass::ops {

namespace {

struct OnnxType {
  int64_t number;
  ir::DType dtype;
};

// float16 (10) and bfloat16 (16) are held as f32, as everywhere in the IR.
constexpr OnnxType k_onnx_types[] = {{1, ir::DType::f32},  {2, ir::DType::u8},   {3, ir::DType::i8},
                                     {6, ir::DType::i32},  {7, ir::DType::i64},  {9, ir::DType::boolean},
                                     {10, ir::DType::f32}, {11, ir::DType::f64}, {16, ir::DType::f32}};

ir::DType target_of(const ir::Node& node) {
  const int64_t number = required_int(node, "to");
  for (const OnnxType& row : k_onnx_types)
    if (row.number == number) return row.dtype;
  refuse(node, "unsupported_type", fmt::format("the cast goes to ONNX element type {}", number),
         "1 (float), 2 (uint8), 3 (int8), 6 (int32), 7 (int64), 9 (bool), 10 (float16), 11 (double), 16 "
         "(bfloat16)");
}

std::vector<ir::TensorType> cast_shape(const ShapeContext& context) {
  ir::TensorType type = context.type(0);
  type.dtype = target_of(context.node);
  return one_output(context, type);
}

template <class Visitor>
void visit_any(ir::DType dtype, Visitor&& visitor) {
  if (dtype == ir::DType::f64) return visitor(double{});
  visit_dtype<float>(dtype, visitor);
}

template <class To, class From>
To convert(From value) {
  if constexpr (std::is_same_v<To, bool>)
    return value != From{};
  else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return to_integer<To>(static_cast<double>(value));
  else
    return static_cast<To>(value);
}

void cast_reference(const ir::Node&, Inputs inputs, Outputs outputs) {
  visit_any(inputs[0]->dtype(), [&]<class From>(From) {
    visit_any(outputs[0].dtype(), [&]<class To>(To) {
      const auto src = inputs[0]->data<From>();
      const auto dst = outputs[0].data<To>();
      for (size_t i = 0; i < src.size(); ++i) dst[i] = convert<To>(src[i]);
    });
  });
}

}  // namespace

const Meaning k_meaning_Cast{cast_shape, cast_reference, cast_reference};

}  // namespace onepass::ops
