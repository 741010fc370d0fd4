// SPDX-License-Identifier: Apache-2.0
#include "verify/preprocess.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/diagnostic.h"
#include "base/files.h"

namespace onepass::verify {

namespace {

[[noreturn]] void refuse(std::string message, std::string accepted) {
  throw Error(Diagnostic{
      .code = "bad_preprocessing", .message = std::move(message), .accepted = std::move(accepted)});
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

double to_number(const std::string& text) {
  double value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    refuse("'" + text + "' is no number", "1.5");
  return value;
}

std::vector<double> to_numbers(const std::string& text) {
  std::vector<double> values;
  for (const std::string& part : split(text, ':')) values.push_back(to_number(part));
  return values;
}

ChannelOrder to_order(const std::string& text) {
  if (text == "rgb") return ChannelOrder::rgb;
  if (text == "bgr") return ChannelOrder::bgr;
  if (text == "gray") return ChannelOrder::gray;
  refuse("order is '" + text + "'", "rgb, bgr or gray");
}

Resizing to_resizing(const std::string& text) {
  if (text == "stretch") return Resizing::stretch;
  if (text == "letterbox") return Resizing::letterbox;
  refuse("resize is '" + text + "'", "stretch or letterbox");
}

PixelLayout to_layout(const std::string& text) {
  if (text == "nchw") return PixelLayout::nchw;
  if (text == "nhwc") return PixelLayout::nhwc;
  refuse("layout is '" + text + "'", "nchw or nhwc");
}

/// Sets one field from text; lists of numbers have ':' between them.
void set_field(Preprocess& preprocess, const std::string& key, const std::string& value) {
  if (key == "mean") {
    preprocess.mean = to_numbers(value);
  } else if (key == "scale") {
    preprocess.scale = to_numbers(value);
  } else if (key == "order") {
    preprocess.order = to_order(value);
  } else if (key == "resize") {
    preprocess.resize = to_resizing(value);
  } else if (key == "pad") {
    preprocess.pad = static_cast<int>(std::clamp(to_number(value), 0.0, 255.0));
  } else if (key == "layout") {
    preprocess.layout = to_layout(value);
  } else {
    refuse("'" + key + "' is no field", "mean, scale, order, resize, pad and layout");
  }
}

/// A JSON value as set_field reads it.
std::string field_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return fmt::format("{}", value.get<double>());
  if (!value.is_array()) refuse("a field is " + value.dump(), "a number, a list of numbers or a word");
  std::string text;
  for (const nlohmann::json& item : value) text += (text.empty() ? "" : ":") + field_text(item);
  return text;
}

PreprocessByInput from_json(const nlohmann::json& json) {
  if (!json.is_object() || !json.contains("inputs") || !json["inputs"].is_object())
    refuse("\"inputs\" is missing", R"({"inputs": {"NAME": {"mean": [..], "scale": [..], "order": "rgb"}}})");
  PreprocessByInput result;
  for (const auto& [name, fields] : json["inputs"].items()) {
    if (!fields.is_object()) refuse("input '" + name + "' is " + fields.dump(), "an object of fields");
    for (const auto& [key, value] : fields.items()) set_field(result[name], key, field_text(value));
  }
  return result;
}

int64_t channel_axis(const ir::Shape& shape, std::optional<PixelLayout> layout) {
  const auto fits = [](int64_t channels) { return channels == 1 || channels == 3; };
  if (shape.size() != 4) return -1;
  if (layout)
    return fits(shape[*layout == PixelLayout::nchw ? 1 : 3]) ? (*layout == PixelLayout::nchw ? 1 : 3) : -1;
  if (fits(shape[1])) return 1;
  return fits(shape[3]) ? 3 : -1;
}

/// One for all channels, or one each.
double of_channel(const std::vector<double>& values, int64_t channel, int64_t channels) {
  if (values.size() == 1) return values[0];
  if (values.size() != static_cast<size_t>(channels))
    refuse(fmt::format("{} values for {} channels", values.size(), channels),
           "one value, or one per channel");
  return values[static_cast<size_t>(channel)];
}

float pixel_channel(const uint8_t* pixel, ChannelOrder order, int64_t channel) {
  // ITU-R BT.601
  if (order == ChannelOrder::gray) return 0.299F * pixel[0] + 0.587F * pixel[1] + 0.114F * pixel[2];
  return pixel[order == ChannelOrder::rgb ? channel : 2 - channel];
}

Image fitted(const Image& image, const Preprocess& preprocess, int64_t width, int64_t height) {
  const int w = static_cast<int>(width), h = static_cast<int>(height);
  if (preprocess.resize == Resizing::stretch) return resize(image, w, h);
  return letterbox(image, w, h, static_cast<uint8_t>(preprocess.pad));
}

}  // namespace

Preprocess parse_preprocess(const std::string& text) {
  Preprocess result;
  for (const std::string& part : split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos)
      refuse("'" + part + "' has no '='", "mean=127,scale=0.0078125,order=rgb");
    set_field(result, part.substr(0, equals), part.substr(equals + 1));
  }
  return result;
}

PreprocessByInput read_preprocessing(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  const char* text = reinterpret_cast<const char*>(bytes.data());
  const auto json = nlohmann::json::parse(text, text + bytes.size(), nullptr, false);
  if (json.is_discarded()) refuse("'" + path + "' is no JSON", "a JSON object");
  return from_json(json);
}

std::string sidecar_path(const std::string& model_path) {
  return std::filesystem::path(model_path).replace_extension(".json").string();
}

bool holds_images(const ir::Shape& shape, std::optional<PixelLayout> layout) {
  return channel_axis(shape, layout) >= 0 && ir::element_count(shape) > 0;
}

void image_to_elements(const Image& image, const Preprocess& preprocess, const ir::Shape& shape,
                       std::span<float> elements) {
  const int64_t axis = channel_axis(shape, preprocess.layout);
  if (axis < 0) refuse("the input is " + ir::to_string(shape), "rank 4 with 1 or 3 channels");
  const int64_t channels = shape[axis];
  const bool planes = axis == 1;
  const int64_t height = shape[planes ? 2 : 1], width = shape[planes ? 3 : 2];
  if ((preprocess.order == ChannelOrder::gray) != (channels == 1))
    refuse(fmt::format("the input has {} channels", channels),
           "order=gray for one channel, rgb or bgr for three");
  require(static_cast<int64_t>(elements.size()) == channels * height * width, "elements are one batch item");
  const Image pixels = fitted(image, preprocess, width, height);
  for (int64_t c = 0; c < channels; ++c) {
    const auto mean = static_cast<float>(of_channel(preprocess.mean, c, channels));
    const auto scale = static_cast<float>(of_channel(preprocess.scale, c, channels));
    for (int64_t y = 0; y < height; ++y)
      for (int64_t x = 0; x < width; ++x) {
        const float pixel =
            pixel_channel(pixels.at(static_cast<int>(x), static_cast<int>(y)), preprocess.order, c);
        const int64_t to = planes ? (c * height + y) * width + x : (y * width + x) * channels + c;
        elements[static_cast<size_t>(to)] = (pixel - mean) * scale;
      }
  }
}

}  // namespace onepass::verify
