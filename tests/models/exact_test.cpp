// SPDX-License-Identifier: Apache-2.0
//
// images/exact/expected.json: detections and classes that ONNX Runtime finds in pictures of network size.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "models/compiled_model.h"
#include "support/data.h"

namespace onepass::test {
namespace {

using nlohmann::json;

/// The expected figures are rounded to five decimals (boxes in pixels to four).
constexpr double k_tolerance = 5e-5;

class Exact : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ONEPASS_NEEDS_DATA("images/exact/expected.json");
    std::ifstream file(data_path("images/exact/expected.json"));
    expected = json::parse(file)[GetParam()];
    std::string name = "derived/" + expected["model"].get<std::string>();
    name.resize(name.size() - 5);
    model = std::make_unique<CompiledModel>(name);
    const verify::Frames frames(model->graph(),
                                {.paths = {data_path(std::string("images/exact/") + GetParam())},
                                 .count = 1,
                                 .preprocessing = preprocessing_of(name)});
    outputs = model->run(frames.at(0));
  }

  const ir::Tensor& output(const std::string& name) const { return model->output(outputs, name); }
  void expect_boxes();
  void expect_detections();
  void expect_classes();

  json expected;
  std::unique_ptr<CompiledModel> model;
  std::vector<ir::Tensor> outputs;
};

void Exact::expect_boxes() {
  const auto count = expected["count"].get<int64_t>();
  ASSERT_EQ(output("det_boxes").shape(), (ir::Shape{count, 4}));
  ASSERT_EQ(output("det_scores").shape(), ir::Shape{count});
  for (int64_t i = 0; i < count; ++i) {
    EXPECT_NEAR(output("det_scores").data<float>()[i], expected["scores"][i].get<double>(), k_tolerance);
    for (int64_t c = 0; c < 4; ++c)
      EXPECT_NEAR(output("det_boxes").data<float>()[4 * i + c], expected["boxes_xyxy"][i][c].get<double>(),
                  k_tolerance);
  }
}

void Exact::expect_detections() {
  const std::vector<int64_t> rows = output("selected_indices").to_ints();
  const ir::Tensor& scores = output("scores");
  const int64_t anchors = scores.shape()[2];
  ASSERT_EQ(rows.size(), 3 * expected["detections"].size());
  for (size_t i = 0; i < expected["detections"].size(); ++i) {
    const json& detection = expected["detections"][i];
    const int64_t class_id = rows[3 * i + 1], anchor = rows[3 * i + 2];
    EXPECT_EQ(class_id, detection["class_id"].get<int64_t>());
    EXPECT_EQ(anchor, detection["anchor"].get<int64_t>());
    EXPECT_NEAR(scores.data<float>()[class_id * anchors + anchor], detection["score"].get<double>(),
                k_tolerance);
    for (int64_t c = 0; c < 4; ++c) {
      const auto side = detection["box_cxcywh"][c].get<double>();
      EXPECT_NEAR(output("boxes").data<float>()[4 * anchor + c], side, k_tolerance * std::max(2.0, side));
    }
  }
}

void Exact::expect_classes() {
  const auto probabilities = output("prob").data<float>();
  std::vector<int64_t> order(probabilities.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return probabilities[a] > probabilities[b]; });
  for (size_t i = 0; i < expected["top5"].size(); ++i) {
    EXPECT_EQ(order[i], expected["top5"][i]["index"].get<int64_t>());
    EXPECT_NEAR(probabilities[order[i]], expected["top5"][i]["prob"].get<double>(), k_tolerance);
  }
}

TEST_P(Exact, FindsWhatOnnxRuntimeFinds) {
  ASSERT_TRUE(expected.contains("boxes_xyxy") || expected.contains("detections") ||
              expected.contains("top5"));
  if (expected.contains("boxes_xyxy")) expect_boxes();
  if (expected.contains("detections")) expect_detections();
  if (expected.contains("top5")) expect_classes();
}

INSTANTIATE_TEST_SUITE_P(Every, Exact,
                         ::testing::Values("solvay_1927_640x480.ppm", "two_men_faces_320x240.ppm",
                                           "two_dogs_grass_320x320.ppm", "traffic_1_320x320.ppm",
                                           "beach_kites_416x416.ppm", "parrot_224x224.ppm",
                                           "coffee_224x224.ppm"),
                         [](const auto& test) {
                           const std::string name = test.param;
                           return name.substr(0, name.find_last_of('_'));
                         });

}  // namespace
}  // namespace onepass::test
