// SPDX-License-Identifier: Apache-2.0
#include "verify/image.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/diagnostic.h"
#include "base/files.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_ONLY_PNM
#define STBI_NO_STDIO
#define STBI_NO_FAILURE_STRINGS
#include <stb/stb_image.h>

namespace onepass::verify {

namespace {

constexpr int64_t k_most_pixels = 64'000'000;

[[noreturn]] void refuse(const std::string& name, std::string why) {
  throw Error(Diagnostic{.code = "bad_image",
                         .message = fmt::format("'{}' {}", name, why),
                         .accepted = "PNG, JPEG or binary PNM of at most 64 million pixels"});
}

/// Where a destination coordinate falls among source pixels.
struct Tap {
  int low = 0, high = 0;
  float weight = 0;  ///< of high
};

std::vector<Tap> taps(int from, int to) {
  std::vector<Tap> result(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) {
    const double centre = std::clamp((i + 0.5) * from / to - 0.5, 0.0, static_cast<double>(from - 1));
    const int low = static_cast<int>(centre);
    result[static_cast<size_t>(i)] = {low, std::min(low + 1, from - 1), static_cast<float>(centre - low)};
  }
  return result;
}

float mix(float low, float high, float weight) {
  return low + (high - low) * weight;
}

uint8_t to_byte(double value) {
  return static_cast<uint8_t>(std::clamp(std::lround(value), 0L, 255L));
}

void check_size(int width, int height) {
  require(width > 0 && height > 0, "an image has pixels");
}

}  // namespace

Image blank_image(int width, int height, uint8_t value) {
  check_size(width, height);
  return {width, height, std::vector<uint8_t>(static_cast<size_t>(width) * height * 3, value)};
}

Image decode_image(std::span<const std::byte> bytes, const std::string& name) {
  const auto* data = reinterpret_cast<const stbi_uc*>(bytes.data());
  if (bytes.empty() || bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max()))
    refuse(name, "is no image");
  const int size_bytes = static_cast<int>(bytes.size());
  int width = 0, height = 0, channels = 0;
  if (stbi_info_from_memory(data, size_bytes, &width, &height, &channels) == 0)
    refuse(name, "is in no image format that is known");
  if (width <= 0 || height <= 0 || static_cast<int64_t>(width) * height > k_most_pixels)
    refuse(name, fmt::format("is {} x {} pixels", width, height));
  stbi_uc* pixels = stbi_load_from_memory(data, size_bytes, &width, &height, &channels, 3);
  if (pixels == nullptr) refuse(name, "is damaged");
  Image image{width, height, std::vector<uint8_t>(pixels, pixels + static_cast<size_t>(width) * height * 3)};
  stbi_image_free(pixels);
  return image;
}

Image read_image(const std::string& path) {
  return decode_image(read_file(path), path);
}

Image resize(const Image& image, int width, int height) {
  if (image.width == width && image.height == height) return image;
  Image result = blank_image(width, height, 0);
  const std::vector<Tap> columns = taps(image.width, width);
  const std::vector<Tap> rows = taps(image.height, height);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const Tap& column = columns[static_cast<size_t>(x)];
      const Tap& row = rows[static_cast<size_t>(y)];
      for (int c = 0; c < 3; ++c) {
        const float top =
            mix(image.at(column.low, row.low)[c], image.at(column.high, row.low)[c], column.weight);
        const float bottom =
            mix(image.at(column.low, row.high)[c], image.at(column.high, row.high)[c], column.weight);
        result.at(x, y)[c] = to_byte(mix(top, bottom, row.weight));
      }
    }
  return result;
}

Image letterbox(const Image& image, int width, int height, uint8_t pad) {
  const double ratio =
      std::min(static_cast<double>(width) / image.width, static_cast<double>(height) / image.height);
  const int inner_width = std::clamp(static_cast<int>(image.width * ratio), 1, width);
  const int inner_height = std::clamp(static_cast<int>(image.height * ratio), 1, height);
  const Image inner = resize(image, inner_width, inner_height);
  Image result = blank_image(width, height, pad);
  for (int y = 0; y < inner_height; ++y) std::copy_n(inner.at(0, y), 3 * inner_width, result.at(0, y));
  return result;
}

Image crop(const Image& image, int x, int y, int width, int height) {
  require(x >= 0 && y >= 0 && x + width <= image.width && y + height <= image.height, "a crop lies inside");
  Image result = blank_image(width, height, 0);
  for (int row = 0; row < height; ++row) std::copy_n(image.at(x, y + row), 3 * width, result.at(0, row));
  return result;
}

Image brighten(const Image& image, double factor) {
  Image result = image;
  for (uint8_t& value : result.pixels) value = to_byte(value * factor);
  return result;
}

}  // namespace onepass::verify
