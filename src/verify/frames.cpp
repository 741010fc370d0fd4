// SPDX-License-Identifier: Apache-2.0
#include "verify/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"
#include "base/files.h"
#include "ir/random_tensor.h"

namespace onepass::verify {

namespace {

namespace fs = std::filesystem;

constexpr uint32_t k_idx_pictures = 0x00000803, k_idx_labels = 0x00000801;

[[noreturn]] void refuse(std::string code, std::string message, std::string accepted) {
  throw Error(
      Diagnostic{.code = std::move(code), .message = std::move(message), .accepted = std::move(accepted)});
}

bool is_picture(const fs::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const char* known : {".png", ".jpg", ".jpeg", ".ppm", ".pgm", ".pnm"})
    if (extension == known) return true;
  return false;
}

/// The first `count` big-endian words of a file; zeros where it ends.
std::vector<uint32_t> words(const std::string& path, size_t count) {
  std::vector<unsigned char> bytes(4 * count, 0);
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  std::vector<uint32_t> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(static_cast<uint32_t>(bytes[4 * i]) << 24 |
                     static_cast<uint32_t>(bytes[4 * i + 1]) << 16 |
                     static_cast<uint32_t>(bytes[4 * i + 2]) << 8 | bytes[4 * i + 3]);
  return result;
}

/// Uniform in [0, 1), a pure function of its arguments.
double chance(uint64_t seed, uint64_t number, uint64_t which) {
  uint64_t x = seed * 0x9e3779b97f4a7c15ULL + number * 4 + which + 1;
  for (const uint64_t factor : {0xbf58476d1ce4e5b9ULL, 0x94d049bb133111ebULL}) x = (x ^ (x >> 30)) * factor;
  return static_cast<double>((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

/// A crop of 55 to 95 % of each side, 60 to 140 % as bright.
Image variation(const Image& image, uint64_t seed, uint64_t number) {
  const double share = 0.55 + 0.4 * chance(seed, number, 0);
  const int width = std::max(1, static_cast<int>(image.width * share));
  const int height = std::max(1, static_cast<int>(image.height * share));
  const int x = static_cast<int>((image.width - width + 1) * chance(seed, number, 1));
  const int y = static_cast<int>((image.height - height + 1) * chance(seed, number, 2));
  return brighten(crop(image, x, y, width, height), 0.6 + 0.8 * chance(seed, number, 3));
}

}  // namespace

Frames::Frames(const ir::Graph& graph, FrameOptions options) : graph_(graph), options_(std::move(options)) {
  for (const std::string& path : options_.paths) add(path);
  if (!options_.paths.empty() && sources_.empty())
    refuse("no_frames", "'" + options_.paths.front() + "' holds no pictures", "PNG, JPEG, PNM or IDX files");
  for (const ir::ValueId id : graph.inputs()) {
    const ir::Value& input = graph.value(id);
    if (input.type.dtype != ir::DType::f32)
      refuse("bad_input", fmt::format("input '{}' is {}", input.name, ir::to_string(input.type)),
             "inputs of f32");
    const bool pictures = !sources_.empty() && holds_images(input.type.dims);
    if (pictures) pictures_per_frame_ = std::max(pictures_per_frame_, input.type.dims[0]);
  }
}

void Frames::add(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) {
    if (!fs::exists(path, ignored))
      refuse("cannot_read", "'" + path + "' is not there", "a file or a folder");
    return words(path, 1)[0] == k_idx_pictures ? add_idx(path) : sources_.push_back({.path = path});
  }
  std::vector<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && is_picture(entry.path())) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  for (std::string& file : found) sources_.push_back({.path = std::move(file)});
}

void Frames::add_idx(const std::string& path) {
  const std::vector<uint32_t> header = words(path, 4);
  const int64_t height = header[2], width = header[3];
  const auto size_bytes = static_cast<int64_t>(fs::file_size(path));
  if (height < 1 || width < 1 || height > 4096 || width > 4096 ||
      size_bytes < 16 + static_cast<int64_t>(header[1]) * height * width)
    refuse("cannot_read", "'" + path + "' is a damaged IDX file", "bytes in three dimensions");
  for (int64_t i = 0; i < header[1]; ++i)
    sources_.push_back({path, 16 + i * height * width, static_cast<int>(width), static_cast<int>(height)});
}

Image Frames::load(const Source& source) const {
  if (source.offset_bytes < 0) return read_image(source.path);
  std::vector<char> gray(static_cast<size_t>(source.width) * source.height);
  std::ifstream file(source.path, std::ios::binary);
  file.seekg(source.offset_bytes);
  if (!file.read(gray.data(), static_cast<std::streamsize>(gray.size())))
    refuse("cannot_read", "'" + source.path + "' ends early", "a whole IDX file");
  Image image = blank_image(source.width, source.height, 0);
  for (size_t i = 0; i < image.pixels.size(); ++i) image.pixels[i] = static_cast<uint8_t>(gray[i / 3]);
  return image;
}

size_t Frames::source_of(int64_t picture) const {
  const auto available = static_cast<int64_t>(sources_.size());
  const int64_t wanted = options_.count * pictures_per_frame_;
  return static_cast<size_t>(wanted < available ? picture * available / wanted : picture % available);
}

Image Frames::picture(int64_t number) const {
  const Image whole = load(sources_[source_of(number)]);
  if (number < static_cast<int64_t>(sources_.size())) return whole;
  return variation(whole, options_.seed, static_cast<uint64_t>(number));
}

std::string Frames::name(int frame) const {
  if (sources_.empty()) return fmt::format("noise {}", options_.seed + static_cast<uint64_t>(frame));
  const int64_t number = frame * pictures_per_frame_;
  const Source& source = sources_[source_of(number)];
  const bool varied = number >= static_cast<int64_t>(sources_.size());
  const std::string place = source.offset_bytes < 0 ? "" : fmt::format(" at byte {}", source.offset_bytes);
  return fmt::format("{}{}{}", source.path, place, varied ? fmt::format(" (variation {})", number) : "");
}

ir::Tensor Frames::pictures(const ir::Value& input, int frame) const {
  const auto named = options_.preprocessing.find(input.name);
  const Preprocess preprocess = named == options_.preprocessing.end() ? Preprocess{} : named->second;
  ir::Tensor tensor(ir::DType::f32, input.type.dims);
  const int64_t batch = input.type.dims[0];
  const size_t item = tensor.data<float>().size() / static_cast<size_t>(batch);
  for (int64_t b = 0; b < batch; ++b)
    image_to_elements(picture(frame * pictures_per_frame_ + b), preprocess, input.type.dims,
                      tensor.data<float>().subspan(static_cast<size_t>(b) * item, item));
  return tensor;
}

std::vector<ir::Tensor> Frames::at(int frame) const {
  std::vector<ir::Tensor> tensors;
  for (size_t i = 0; i < graph_.inputs().size(); ++i) {
    const ir::Value& input = graph_.value(graph_.inputs()[i]);
    if (!sources_.empty() && holds_images(input.type.dims)) {
      tensors.push_back(pictures(input, frame));
    } else {
      const uint64_t seed = (options_.seed + static_cast<uint64_t>(frame)) * 1000 + i;
      tensors.push_back(
          ir::random_tensor(input.type.dtype, input.type.dims, seed, options_.low, options_.high));
    }
  }
  return tensors;
}

ir::Tensor lcg_tensor(const ir::Shape& shape, double low, double high) {
  ir::Tensor tensor(ir::DType::f32, shape);
  uint32_t state = 12345;
  for (float& element : tensor.data<float>()) {
    state = state * 1664525U + 1013904223U;
    element = static_cast<float>(low + (high - low) * (state / 4294967296.0));
  }
  return tensor;
}

std::vector<int> read_idx_labels(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  const std::vector<uint32_t> header = words(path, 2);
  if (header[0] != k_idx_labels || bytes.size() < 8 + size_t{header[1]})
    refuse("cannot_read", "'" + path + "' is no IDX file of labels", "bytes in one dimension");
  std::vector<int> labels;
  for (size_t i = 0; i < header[1]; ++i) labels.push_back(std::to_integer<int>(bytes[8 + i]));
  return labels;
}

}  // namespace onepass::verify
