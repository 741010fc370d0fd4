// SPDX-License-Identifier: Apache-2.0
//
// Five pictures through every model: compiled against the reference. scripts/verify-all takes two hundred.
#include <gtest/gtest.h>

#include "models/compiled_model.h"
#include "support/data.h"
#include "verify/verify.h"

namespace onepass::test {
namespace {

class ModelParity : public ::testing::TestWithParam<const char*> {};

std::string describe(const verify::VerifyReport& report) {
  std::string text = "first group that differs: " + report.first_diverging_group;
  for (const auto* rows : {&report.outputs, &report.selection_inputs})
    for (const verify::TensorReport& row : *rows)
      text += "\n" + row.name + " (" + row.place + "): " + std::to_string(row.worst.reference * 1e6) +
              "e-6 from the reference, " + std::to_string(row.worst.referee * 1e6) +
              "e-6 from the referee, which is " + std::to_string(row.worst.own * 1e6) +
              "e-6 from the reference";
  return text;
}

TEST_P(ModelParity, HoldsOnFivePictures) {
  const std::string name = GetParam();
  ONEPASS_NEEDS_DATA("models/" + name + ".onnx");
  ONEPASS_NEEDS_DATA("images/photos");
  const CompiledModel model(name);
  verify::FrameOptions options{.count = 5, .preprocessing = preprocessing_of(name)};
  for (const char* photo : {"two_men_faces", "solvay_1927", "two_dogs_grass", "traffic_1", "beach_kites"})
    options.paths.push_back(data_path(std::string("images/photos/") + photo + ".jpg"));
  const verify::Frames frames(model.graph(), options);
  const verify::VerifyReport report = verify::run_verify(model.subject, frames, {});
  EXPECT_EQ(report.failing_frames, 0) << describe(report);
  EXPECT_TRUE(report.exercised());
}

INSTANTIATE_TEST_SUITE_P(
    Every, ModelParity,
    ::testing::Values("derived/ultraface_rfb320_nms", "derived/ultraface_rfb640_nms",
                      "derived/mnv2_yolov3_nano_coco_nms", "derived/yolox_nano_nms", "derived/cifar_resnet20",
                      "derived/cifar_resnet56", "derived/mlperftiny_resnet8", "derived/mlperftiny_vww96",
                      "derived/mobilenetv2_1.0_224", "derived/fmnist_mixnet", "mnist-8",
                      "pytorch_super_resolution", "yunet_n_320_320", "FastestDet", "blazeface-front-128",
                      "SqueezeNet_fp16", "ultraface-version-RFB-320_simplified"),
    [](const auto& test) {
      std::string name = test.param;
      std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
      return name;
    });

}  // namespace
}  // namespace onepass::test
