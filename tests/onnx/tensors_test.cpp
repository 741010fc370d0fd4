// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "onnx/element_types.h"
#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

using testing::HasSubstr;

ModelBuilder with_weight(const pb::TensorProto& weight) {
  ModelBuilder builder(13);
  builder.input("x", {1}).output("y").output("w").initializer("w", weight);
  builder.node("Relu", {"x"}, {"y"});
  return builder;
}

ir::Tensor weight_of(const Model& model) {
  return model.graph.value(model.graph.outputs().at(1).value).constant;
}

template <class T>
pb::TensorProto raw_tensor(int32_t type, const std::vector<T>& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(type);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
  return tensor;
}

pb::TensorProto typed_tensor(int32_t type, const std::vector<int32_t>& values) {
  pb::TensorProto tensor;
  tensor.set_data_type(type);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  tensor.mutable_int32_data()->Add(values.begin(), values.end());
  return tensor;
}

void expect_weight(const pb::TensorProto& proto, ir::DType dtype, const std::vector<double>& values) {
  const ir::Tensor tensor = weight_of(with_weight(proto).read());
  EXPECT_EQ(tensor.dtype(), dtype);
  EXPECT_EQ(tensor.to_doubles(), values);
}

TEST(Tensors, RawData) {
  expect_weight(raw_tensor<float>(1, {1.5f, -2}), ir::DType::f32, {1.5, -2});
  expect_weight(raw_tensor<uint8_t>(2, {0, 255}), ir::DType::u8, {0, 255});
  expect_weight(raw_tensor<int8_t>(3, {-128, 127}), ir::DType::i8, {-128, 127});
  expect_weight(raw_tensor<uint16_t>(4, {65535}), ir::DType::i32, {65535});
  expect_weight(raw_tensor<int16_t>(5, {-32768}), ir::DType::i32, {-32768});
  expect_weight(raw_tensor<int32_t>(6, {-7}), ir::DType::i32, {-7});
  expect_weight(raw_tensor<int64_t>(7, {-7, 8}), ir::DType::i64, {-7, 8});
  expect_weight(raw_tensor<uint8_t>(9, {0, 1, 2}), ir::DType::boolean, {0, 1, 1});
  expect_weight(raw_tensor<uint16_t>(10, {0x3c00, 0xc000, 0x0001}), ir::DType::f32,
                {1, -2, std::ldexp(1.0, -24)});
  expect_weight(raw_tensor<double>(11, {0.1}), ir::DType::f64, {0.1});
  expect_weight(raw_tensor<uint32_t>(12, {4294967295u}), ir::DType::i64, {4294967295.0});
  expect_weight(raw_tensor<uint64_t>(13, {1}), ir::DType::i64, {1});
  expect_weight(raw_tensor<uint16_t>(16, {0x3f80, 0xc000}), ir::DType::f32, {1, -2});
}

TEST(Tensors, TypedFields) {
  expect_weight(typed_tensor(2, {200}), ir::DType::u8, {200});
  expect_weight(typed_tensor(3, {-100}), ir::DType::i8, {-100});
  expect_weight(typed_tensor(5, {-300}), ir::DType::i32, {-300});
  expect_weight(typed_tensor(6, {1 << 30}), ir::DType::i32, {1 << 30});
  expect_weight(typed_tensor(9, {1, 0}), ir::DType::boolean, {1, 0});
  expect_weight(typed_tensor(10, {0x3c00}), ir::DType::f32, {1});
  expect_weight(typed_tensor(16, {0x4000}), ir::DType::f32, {2});
  expect_weight(float_tensor({2}, {1, 2}), ir::DType::f32, {1, 2});
  expect_weight(int_tensor({0}, {}), ir::DType::i64, {});
}

TEST(Tensors, HalfsAreExact) {
  EXPECT_EQ(float_from_half(0x7bff), 65504.f);
  EXPECT_EQ(float_from_half(0x03ff), std::ldexp(1023.f, -24));
  EXPECT_EQ(float_from_half(0x0400), std::ldexp(1.f, -14));
  EXPECT_EQ(float_from_half(0xfc00), -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(float_from_half(0x7e00)));
  EXPECT_TRUE(std::signbit(float_from_half(0x8000)));
}

TEST(Tensors, ValuesThatDoNotFitAreRefused) {
  EXPECT_EQ(with_weight(typed_tensor(3, {300})).refusal().code, "bad_tensor_value");
  EXPECT_EQ(with_weight(typed_tensor(10, {-1})).refusal().code, "bad_tensor_value");
  EXPECT_EQ(with_weight(raw_tensor<uint64_t>(13, {~uint64_t{0}})).refusal().code, "bad_tensor_value");
}

TEST(Tensors, SizesAreCheckedBeforeAnythingIsAllocated) {
  const std::vector<std::pair<Ints, const char*>> cases = {
      {{3}, "tensor_size"},
      {{1}, "tensor_size"},
      {{-2}, "bad_tensor_shape"},
      {{int64_t{1} << 40}, "bad_tensor_shape"},
      {{int64_t{1} << 32, int64_t{1} << 32}, "bad_tensor_shape"},
      {{0, std::numeric_limits<int64_t>::max(), 2}, "bad_tensor_shape"},
      {{int64_t{1} << 30, int64_t{1} << 8}, "tensor_size"},
  };
  for (const auto& [dims, code] : cases) {
    const Diagnostic refusal = with_weight(float_tensor(dims, {1, 2})).refusal();
    EXPECT_EQ(refusal.code, code);
    EXPECT_THAT(refusal.message, HasSubstr("initializer 'w'"));
  }
}

TEST(Tensors, StringsComplexNumbersAndUnknownTypesAreRefused) {
  for (int type : {0, 8, 14, 15, 17, 22, 999, -1})
    EXPECT_EQ(with_weight(raw_tensor<float>(type, {1})).refusal().code, "unsupported_type") << type;
}

TEST(Tensors, InitializersNeedNamesOfTheirOwn) {
  ModelBuilder builder = with_weight(float_tensor({1}, {1}));
  builder.initializer("w", float_tensor({1}, {1}));
  EXPECT_EQ(builder.refusal().code, "duplicate_value");
}

}  // namespace
}  // namespace onepass::onnx::test
