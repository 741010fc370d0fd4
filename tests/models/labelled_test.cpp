// SPDX-License-Identifier: Apache-2.0
//
// Accuracy before and after: the compiled classifier names what the reference names, picture by picture.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "models/compiled_model.h"
#include "support/data.h"

namespace onepass::test {
namespace {

struct Accuracy {
  int pictures = 0, reference = 0, compiled = 0, different = 0;
};

/// Compares top-1 of the first output on every frame; `right(frame, class)` judges.
template <class Right>
Accuracy classify(const CompiledModel& model, const verify::Frames& frames, const Right& right) {
  Accuracy result;
  for (int frame = 0; frame < frames.count(); ++frame) {
    const std::vector<ir::Tensor> inputs = frames.at(frame);
    const int64_t reference = top_1(model.reference(inputs)[0]), compiled = top_1(model.run(inputs)[0]);
    ++result.pictures;
    result.reference += right(frame, reference) ? 1 : 0;
    result.compiled += right(frame, compiled) ? 1 : 0;
    result.different += reference != compiled ? 1 : 0;
  }
  return result;
}

void expect_equal(const Accuracy& accuracy) {
  std::printf("%d pictures: %d right before, %d right after, %d named otherwise\n", accuracy.pictures,
              accuracy.reference, accuracy.compiled, accuracy.different);
  EXPECT_EQ(accuracy.different, 0);
  EXPECT_EQ(accuracy.reference, accuracy.compiled);
}

struct Labelled {
  std::vector<std::string> paths;
  std::vector<std::vector<int64_t>> accepted;  ///< ImageNet classes, 0 to 999
};

/// labels.csv: file, class of Caltech-101, accepted ImageNet classes with spaces between them, ...
Labelled read_labels() {
  Labelled result;
  std::ifstream file(data_path("images/caltech101_imagenet/labels.csv"));
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string name, category, classes;
    std::getline(fields, name, ',');
    std::getline(fields, category, ',');
    std::getline(fields, classes, ',');
    result.paths.push_back(data_path("images/caltech101_imagenet/" + name));
    std::istringstream numbers(classes);
    result.accepted.emplace_back();
    for (int64_t number; numbers >> number;) result.accepted.back().push_back(number);
  }
  return result;
}

TEST(Labelled, MobileNetNamesEveryPictureAsBefore) {
  const std::string name = "derived/mobilenetv2_1.0_224";
  ONEPASS_NEEDS_DATA("models/" + name + ".onnx");
  ONEPASS_NEEDS_DATA("images/caltech101_imagenet/labels.csv");
  const Labelled labelled = read_labels();
  const CompiledModel model(name);
  const verify::Frames frames(model.graph(), {.paths = labelled.paths,
                                              .count = static_cast<int>(labelled.paths.size()),
                                              .preprocessing = preprocessing_of(name)});
  const Accuracy accuracy = classify(model, frames, [&](int frame, int64_t found) {
    for (const int64_t accepted : labelled.accepted[frame])
      if (found == accepted + 1) return true;  // class 0 is the background
    return false;
  });
  expect_equal(accuracy);
  EXPECT_GT(2 * accuracy.compiled, accuracy.pictures);
}

TEST(Labelled, FashionMnistAsBefore) {
  const std::string name = "derived/fmnist_mixnet", folder = "images/fashion_mnist/t10k-first2000-";
  ONEPASS_NEEDS_DATA("models/" + name + ".onnx");
  ONEPASS_NEEDS_DATA(folder + "images-idx3-ubyte");
  const std::vector<int> labels = verify::read_idx_labels(data_path(folder + "labels-idx1-ubyte"));
  const CompiledModel model(name);
  const int count = static_cast<int>(labels.size());
  const int step = static_cast<int>(labels.size()) / count;
  const verify::Frames frames(model.graph(), {.paths = {data_path(folder + "images-idx3-ubyte")},
                                              .count = count,
                                              .preprocessing = preprocessing_of(name)});
  const Accuracy accuracy =
      classify(model, frames, [&](int frame, int64_t found) { return labels[frame * step] == found; });
  expect_equal(accuracy);
  EXPECT_GT(10 * accuracy.compiled, 8 * accuracy.pictures);
}

TEST(Labelled, CifarNetsNamePhotosAsBefore) {
  ONEPASS_NEEDS_DATA("images/photos");
  for (const std::string name : {"derived/cifar_resnet20", "derived/cifar_resnet56"}) {
    SCOPED_TRACE(name);
    ONEPASS_NEEDS_DATA("models/" + name + ".onnx");
    const CompiledModel model(name);
    const verify::Frames frames(model.graph(),
                                {.paths = {data_path("images/photos"), data_path("images/video")},
                                 .count = 200,
                                 .preprocessing = preprocessing_of(name)});
    expect_equal(classify(model, frames, [](int, int64_t) { return false; }));
  }
}

}  // namespace
}  // namespace onepass::test
