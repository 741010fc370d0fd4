// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "onnx/model_builder.h"

namespace onepass::onnx::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ExternalDataTest : public testing::Test {
 protected:
  ExternalDataTest() : root_(fs::temp_directory_path() / ("onepass_external_" + std::to_string(getpid()))) {
    fs::create_directories(root_ / "model" / "weights");
    write(root_ / "secret.bin");
    write(root_ / "model" / "w.bin");
    write(root_ / "model" / "weights" / "w.bin");
  }
  ~ExternalDataTest() override { fs::remove_all(root_); }

  static void write(const fs::path& path) {
    const Floats values = {0, 1, 2, 3};
    std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(values.data()), 16);
  }

  static ModelBuilder model(const std::string& location, const std::string& offset = "",
                            const std::string& length = "") {
    pb::TensorProto tensor;
    tensor.set_data_type(pb::TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(pb::TensorProto::EXTERNAL);
    const std::pair<const char*, std::string> entries[] = {
        {"location", location}, {"offset", offset}, {"length", length}};
    for (const auto& [key, value] : entries) {
      if (value.empty()) continue;
      tensor.add_external_data()->set_key(key);
      tensor.mutable_external_data(tensor.external_data_size() - 1)->set_value(value);
    }
    ModelBuilder builder(13);
    builder.input("x", {1}).output("y").initializer("w", tensor);
    builder.node("Mul", {"x", "w"}, {"y"});
    return builder;
  }

  std::string folder() const { return (root_ / "model").string(); }
  Diagnostic refusal(const ModelBuilder& builder) const { return builder.refusal({}, folder()); }
  std::vector<double> weight(const ModelBuilder& builder) const {
    const Model read = builder.read({}, folder());
    return constant_of(read.graph, only_node(read.graph), 1).to_doubles();
  }

  fs::path root_;
};

TEST_F(ExternalDataTest, IsReadFromInsideTheFolder) {
  EXPECT_EQ(weight(model("w.bin")), (std::vector<double>{0, 1}));
  EXPECT_EQ(weight(model("w.bin", "8", "8")), (std::vector<double>{2, 3}));
  EXPECT_EQ(weight(model("weights/../weights/w.bin", "4")), (std::vector<double>{1, 2}));
}

TEST_F(ExternalDataTest, EscapesAreRefused) {
  fs::create_symlink(root_ / "secret.bin", root_ / "model" / "link.bin");
  fs::create_directory_symlink(root_, root_ / "model" / "linked");
  const std::string absolute = (root_ / "secret.bin").string();
  for (const std::string& location :
       {std::string("../secret.bin"), std::string("weights/../../secret.bin"), absolute,
        std::string("link.bin"), std::string("linked/secret.bin"), std::string("../../../etc/passwd")}) {
    const Diagnostic refusal = this->refusal(model(location));
    EXPECT_EQ(refusal.code, "external_data") << location;
    EXPECT_THAT(refusal.message, HasSubstr("initializer 'w'"));
    EXPECT_THAT(refusal.message, HasSubstr(location));
  }
  EXPECT_THAT(refusal(model("../secret.bin")).message, HasSubstr("escapes the model's folder"));
  EXPECT_THAT(refusal(model("../model2/w.bin")).message, HasSubstr("escapes the model's folder"));
}

TEST_F(ExternalDataTest, WhatIsNoFileIsRefused) {
  for (const char* location : {"missing.bin", "weights", ".", "", "w.bin/x"})
    EXPECT_EQ(refusal(model(location)).code, "external_data") << location;
  EXPECT_EQ(model("w.bin").refusal().code, "external_data");
}

TEST_F(ExternalDataTest, OffsetsAndLengthsAreChecked) {
  for (const char* offset : {"12", "17", "-4", "9223372036854775807", "99999999999999999999", "4x", " 4"})
    EXPECT_EQ(refusal(model("w.bin", offset)).code, "external_data") << offset;
  for (const char* length : {"4", "16", "-8"})
    EXPECT_EQ(refusal(model("w.bin", "0", length)).code, "external_data") << length;
}

TEST_F(ExternalDataTest, OneFileCannotStandForEndlessTensors) {
  ModelBuilder builder = model("w.bin");
  const pb::TensorProto first = builder.graph().initializer(0);
  for (int i = 0; i < 20; ++i) builder.initializer("w" + std::to_string(i), first);
  EXPECT_THAT(refusal(builder).message, HasSubstr("too many tensors"));
}

TEST_F(ExternalDataTest, TheModelsOwnFolderIsFoundFromItsPath) {
  const std::string path = (root_ / "model" / "m.onnx").string();
  std::ofstream(path, std::ios::binary) << model("weights/w.bin").bytes();
  EXPECT_NO_THROW(read_model(path));
}

}  // namespace
}  // namespace onepass::onnx::test
