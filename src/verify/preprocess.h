// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/types.h"
#include "verify/image.h"

namespace onepass::verify {

enum class ChannelOrder { rgb, bgr, gray };
enum class Resizing { stretch, letterbox };
enum class PixelLayout { nchw, nhwc };

/// How a picture becomes a tensor: element = (pixel - mean) * scale, pixels 0 to 255.
struct Preprocess {
  std::vector<double> mean = {0};  ///< one for all, or one per channel in the tensor's order
  std::vector<double> scale = {1};
  ChannelOrder order = ChannelOrder::rgb;
  Resizing resize = Resizing::stretch;
  int pad = 114;                      ///< of letterbox
  std::optional<PixelLayout> layout;  ///< absent: read from the shape
};

using PreprocessByInput = std::map<std::string, Preprocess>;

/// "mean=127,scale=0.0078125,order=rgb,resize=stretch"; per channel: "mean=123.7:116.3:103.5".
/// Throws Error("bad_preprocessing").
Preprocess parse_preprocess(const std::string& text);

/// {"inputs": {"input": {"mean": [127], "scale": [0.0078125], "order": "rgb", "resize": "stretch"}}}.
/// Throws Error("cannot_read" | "bad_preprocessing").
PreprocessByInput read_preprocessing(const std::string& path);
/// MODEL.json for MODEL.onnx.
std::string sidecar_path(const std::string& model_path);

/// Whether pictures fit `shape`: rank 4 with one or three channels. `layout` as in Preprocess.
bool holds_images(const ir::Shape& shape, std::optional<PixelLayout> layout = {});
/// One picture into `elements`, which is one item of the batch `shape`. Throws Error("bad_preprocessing").
void image_to_elements(const Image& image, const Preprocess& preprocess, const ir::Shape& shape,
                       std::span<float> elements);

}  // namespace onepass::verify
