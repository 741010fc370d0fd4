// SPDX-License-Identifier: Apache-2.0
#include "verify/preprocess.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "base/files.h"

namespace onepass::verify::test {
namespace {

using ::testing::ElementsAre;

Image one_pixel(uint8_t red, uint8_t green, uint8_t blue) {
  return {1, 1, {red, green, blue}};
}

std::vector<float> elements(const Image& image, const Preprocess& preprocess, const ir::Shape& shape) {
  std::vector<float> result(static_cast<size_t>(ir::element_count(shape) / shape[0]));
  image_to_elements(image, preprocess, shape, result);
  return result;
}

TEST(Preprocess, ParsesTheOption) {
  const Preprocess p = parse_preprocess("mean=1:2:3,scale=0.5,order=bgr,resize=letterbox,pad=7,layout=nhwc");
  EXPECT_THAT(p.mean, ElementsAre(1, 2, 3));
  EXPECT_THAT(p.scale, ElementsAre(0.5));
  EXPECT_EQ(p.order, ChannelOrder::bgr);
  EXPECT_EQ(p.resize, Resizing::letterbox);
  EXPECT_EQ(p.pad, 7);
  EXPECT_EQ(p.layout, PixelLayout::nhwc);
}

TEST(Preprocess, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"mean", "mean=a", "size=3", "order=hsv", "resize=crop", "layout=chw", "mean="})
    EXPECT_THROW(parse_preprocess(text), Error) << text;
}

TEST(Preprocess, ReadsASidecar) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m.json");
  write_file(path,
             std::string_view(R"({"inputs": {"x": {"mean": [127], "scale": [0.0078125], "order": "bgr"}}})"));
  const PreprocessByInput sidecar = read_preprocessing(path);
  ASSERT_EQ(sidecar.count("x"), 1u);
  EXPECT_THAT(sidecar.at("x").mean, ElementsAre(127));
  EXPECT_EQ(sidecar.at("x").order, ChannelOrder::bgr);
  for (const char* text :
       {"", "[]", R"({"inputs": 1})", R"({"inputs": {"x": 1}})", R"({"inputs": {"x": {"mean": {}}}})"}) {
    write_file(path, std::string_view(text));
    EXPECT_THROW(read_preprocessing(path), Error) << text;
  }
  EXPECT_EQ(sidecar_path("a/b.onnx"), "a/b.json");
}

TEST(Preprocess, SubtractsAndScalesInTheTensorsOrder) {
  const Image image = one_pixel(10, 20, 30);
  const Preprocess rgb{.mean = {1, 2, 3}, .scale = {2, 1, 1}};
  EXPECT_THAT(elements(image, rgb, {1, 3, 1, 1}), ElementsAre(18, 18, 27));
  const Preprocess bgr{.mean = {1, 2, 3}, .scale = {2, 1, 1}, .order = ChannelOrder::bgr};
  EXPECT_THAT(elements(image, bgr, {1, 3, 1, 1}), ElementsAre(58, 18, 7));
}

TEST(Preprocess, FillsBothLayouts) {
  Image image = blank_image(2, 1, 0);
  image.pixels = {1, 2, 3, 4, 5, 6};
  EXPECT_THAT(elements(image, {}, {1, 3, 1, 2}), ElementsAre(1, 4, 2, 5, 3, 6));
  EXPECT_THAT(elements(image, {.layout = PixelLayout::nhwc}, {1, 1, 2, 3}), ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Preprocess, ChannelsMustFit) {
  const Image image = one_pixel(10, 20, 30);
  EXPECT_THROW(elements(image, {}, {1, 1, 1, 1}), Error);  // rgb into one channel
  EXPECT_THROW(elements(image, {.mean = {1, 2}}, {1, 3, 1, 1}), Error);
  EXPECT_THROW(elements(image, {}, {1, 5, 1, 5}), Error);
  const Preprocess gray{.order = ChannelOrder::gray};
  EXPECT_NEAR(elements(one_pixel(100, 100, 100), gray, {1, 1, 1, 1})[0], 100, 1e-4);
}

}  // namespace
}  // namespace onepass::verify::test
