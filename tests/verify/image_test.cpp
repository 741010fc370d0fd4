// SPDX-License-Identifier: Apache-2.0
#include "verify/image.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/diagnostic.h"
#include "support/data.h"

namespace onepass::verify::test {
namespace {

using ::testing::ElementsAre;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Image gradient(int width, int height) {
  Image image = blank_image(width, height, 0);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) image.at(x, y)[0] = static_cast<uint8_t>(10 * x + y);
  return image;
}

TEST(Image, ReadsBinaryPnm) {
  const Image image =
      decode_image(bytes_of(std::string("P6\n2 1\n255\n\x01\x02\x03\x04\x05\x06", 17)), "two");
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.height, 1);
  EXPECT_THAT(image.pixels, ElementsAre(1, 2, 3, 4, 5, 6));
}

TEST(Image, GrayBecomesRgb) {
  EXPECT_THAT(decode_image(bytes_of("P5\n1 1\n255\n\x07"), "gray").pixels, ElementsAre(7, 7, 7));
}

TEST(Image, RefusesWhatIsNoImage) {
  for (const std::string text : {"", "hello", "P6\n99999 99999\n255\n", "\x89PNG\r\n\x1a\n"})
    EXPECT_THROW(decode_image(bytes_of(text), "bad"), Error) << text;
}

TEST(Image, ReadsJpeg) {
  ONEPASS_NEEDS_DATA("images/photos/cat.jpg");
  const Image image = read_image(onepass::test::data_path("images/photos/cat.jpg"));
  EXPECT_GT(image.width, 100);
  EXPECT_EQ(image.pixels.size(), static_cast<size_t>(image.width) * image.height * 3);
}

TEST(Image, ResizeKeepsTheSameSizeAndConstants) {
  const Image image = gradient(5, 4);
  EXPECT_EQ(resize(image, 5, 4).pixels, image.pixels);
  EXPECT_THAT(resize(blank_image(7, 3, 42), 4, 9).pixels, ::testing::Each(42));
}

TEST(Image, ResizeMixesNeighbours) {
  Image image = blank_image(2, 1, 0);
  image.at(1, 0)[0] = 100;
  const Image wide = resize(image, 4, 1);
  EXPECT_EQ(wide.at(0, 0)[0], 0);
  EXPECT_EQ(wide.at(1, 0)[0], 25);
  EXPECT_EQ(wide.at(2, 0)[0], 75);
  EXPECT_EQ(wide.at(3, 0)[0], 100);
}

TEST(Image, LetterboxPadsBelowAndRight) {
  const Image boxed = letterbox(blank_image(8, 4, 9), 4, 4, 114);
  EXPECT_EQ(boxed.at(3, 1)[0], 9);
  EXPECT_EQ(boxed.at(0, 2)[0], 114);
}

TEST(Image, CropAndBrighten) {
  const Image image = gradient(4, 4);
  EXPECT_EQ(crop(image, 1, 2, 2, 2).at(0, 0)[0], 12);
  EXPECT_EQ(brighten(image, 2).at(1, 0)[0], 20);
  EXPECT_EQ(brighten(image, 100).at(3, 3)[0], 255);
}

}  // namespace
}  // namespace onepass::verify::test
