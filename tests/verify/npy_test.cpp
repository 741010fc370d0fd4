// SPDX-License-Identifier: Apache-2.0
#include "verify/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/files.h"

namespace onepass::verify::test {
namespace {

ir::Tensor decode(const std::string& file) {
  return decode_npy(std::as_bytes(std::span(file)), "test");
}

/// A file of version 1 around a header and data.
std::string npy(std::string header, const std::string& data) {
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + data;
}

TEST(Npy, WritesWhatItReads) {
  const ir::Tensor tensors[] = {ir::Tensor::of<float>({2, 3}, std::vector<float>{1, -2, 3.5F, 0, 1e-9F, 7}),
                                ir::Tensor::of<int64_t>({1, 2}, std::vector<int64_t>{-5, int64_t{1} << 40}),
                                ir::Tensor::of<double>({1}, std::vector<double>{0.1}),
                                ir::Tensor::of<uint8_t>({3}, std::vector<uint8_t>{0, 128, 255}),
                                ir::Tensor::scalar<int32_t>(-7),
                                ir::Tensor(ir::DType::f32, {0, 4})};
  for (const ir::Tensor& tensor : tensors) {
    const std::string file = encode_npy(tensor);
    EXPECT_EQ((file.size() - static_cast<size_t>(tensor.size_bytes())) % 64, 0u);
    const ir::Tensor again = decode(file);
    EXPECT_EQ(again.type(), tensor.type());
    EXPECT_EQ(again.to_doubles(), tensor.to_doubles());
  }
}

TEST(Npy, ReadsFilesOfNumpy) {
  const std::string data("\x00\x00\x80\x3f\x00\x00\x00\x40", 8);
  const ir::Tensor tensor = decode(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", data));
  EXPECT_THAT(tensor.to_doubles(), ::testing::ElementsAre(1, 2));
  const ir::Tensor half = decode(
      npy("{'descr': '<f2', 'fortran_order': False, 'shape': (2,), }", std::string("\x00\x3c\x01\x80", 4)));
  EXPECT_EQ(half.dtype(), ir::DType::f32);
  EXPECT_THAT(half.to_doubles(), ::testing::ElementsAre(1, -0x1p-24));
}

TEST(Npy, RefusesDamage) {
  const std::string good = encode_npy(ir::Tensor(ir::DType::f32, {4}));
  for (size_t length : {size_t{0}, size_t{5}, size_t{11}, size_t{60}, good.size() - 1})
    EXPECT_THROW(decode(good.substr(0, length)), Error) << length;
  for (const char* header :
       {"{}", "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': True, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 99999999999), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1,1), }"})
    EXPECT_THROW(decode(npy(header, "0123456789")), Error) << header;
}

TEST(Npy, GoesThroughAFile) {
  const TemporaryFolder folder;
  write_npy(folder.file("a.npy"), ir::Tensor::scalar(2.5F));
  EXPECT_EQ(read_npy(folder.file("a.npy")).data<float>()[0], 2.5F);
}

}  // namespace
}  // namespace onepass::verify::test
