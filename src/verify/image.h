// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace onepass::verify {

/// Rows of RGB pixels, three bytes each.
struct Image {
  int width = 0, height = 0;
  std::vector<uint8_t> pixels;

  uint8_t* at(int x, int y) { return pixels.data() + 3 * (static_cast<size_t>(y) * width + x); }
  const uint8_t* at(int x, int y) const { return pixels.data() + 3 * (static_cast<size_t>(y) * width + x); }
};

Image blank_image(int width, int height, uint8_t value);

/// PNG, JPEG or binary PNM. Throws Error("cannot_read" | "bad_image"); at most 64 million pixels.
Image read_image(const std::string& path);
Image decode_image(std::span<const std::byte> bytes, const std::string& name);

/// Bilinear, pixel centres at half, without a filter for shrinking. The same size: the same pixels.
Image resize(const Image& image, int width, int height);
/// Keeps the proportions: resized into the top left corner, the rest filled with `pad`.
Image letterbox(const Image& image, int width, int height, uint8_t pad);

Image crop(const Image& image, int x, int y, int width, int height);
Image brighten(const Image& image, double factor);

}  // namespace onepass::verify
