// SPDX-License-Identifier: Apache-2.0
#include "driver/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <span>

#include "base/files.h"
#include "budget/revision.h"
#include "driver/object_cache.h"
#include "verify/frames.h"

namespace onepass::driver {

namespace {

using Frames = std::vector<std::vector<ir::Tensor>>;

std::string sidecar_of(const Network& network, const CompileOptions& options) {
  return options.preprocessing.empty() ? verify::sidecar_path(network.path) : options.preprocessing;
}

/// Pictures as verify would feed them.
Frames budget_frames(const Network& network, const CompileOptions& options) {
  constexpr int k_most_frames = 64;
  if (options.budget_frames.empty()) return {};
  verify::FrameOptions frame_options{.paths = options.budget_frames, .count = k_most_frames};
  const std::string sidecar = sidecar_of(network, options);
  if (std::filesystem::exists(sidecar)) frame_options.preprocessing = verify::read_preprocessing(sidecar);
  const verify::Frames source(network.model.graph, frame_options);
  Frames frames;
  for (int frame = 0; frame < source.count(); ++frame) frames.push_back(source.at(frame));
  return frames;
}

using Range = std::pair<double, double>;

/// The least and the greatest element that a picture becomes.
Range range_of(const verify::Preprocess& preprocess) {
  std::vector<double> elements;
  for (const double mean : preprocess.mean)
    for (const double scale : preprocess.scale)
      for (const double pixel : {0.0, 255.0}) elements.push_back((pixel - mean) * scale);
  const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
  return {*low, *high};
}

/// The user's range alone, or the usual ones and those that the model's sidecar gives its pictures.
std::vector<Range> noise_ranges(const Network& network, const CompileOptions& options) {
  if (options.budget_range) return {*options.budget_range};
  std::vector<Range> ranges = budget::Options{}.ranges;
  const std::string sidecar = sidecar_of(network, options);
  if (!std::filesystem::exists(sidecar)) return ranges;
  for (const auto& [input, preprocess] : verify::read_preprocessing(sidecar))
    ranges.push_back(range_of(preprocess));
  return ranges;
}

uint64_t hash_of(const Frames& frames) {
  uint64_t hash = 0;
  for (const auto& frame : frames)
    for (const ir::Tensor& tensor : frame)
      hash = hash_bytes({tensor.bytes(), static_cast<size_t>(tensor.size_bytes())}, hash + 1);
  return hash;
}

/// Everything that sensitivities depend on: what was kept for something else is not used.
std::string key_of(const Network& network, const targets::Target& target, const CompileOptions& options,
                   const budget::Options& asked) {
  const Frames& frames = asked.frames;
  std::string text =
      fmt::format("sensitivities, revision {}: model {:016x}, target {}, fusion {}, bf16 {}, frames {:016x}",
                  budget::k_revision, network.hash, target.name, static_cast<int>(options.fusion),
                  options.tolerance >= budget::k_bf16_tolerance, hash_of(frames));
  for (const auto& [input, shape] : options.read.input_shapes)
    text += fmt::format(", {}={}", input, fmt::join(shape, "x"));
  for (const std::string& disabled : options.rewrite.disabled) text += ", without " + disabled;
  for (const auto& [low, high] : asked.ranges) text += fmt::format(", noise {} to {}", low, high);
  if (!options.machine.empty()) text += fmt::format(", machine {:016x}", hash_file(options.machine));
  return text +
         fmt::format(", rewrites {}, overridable {}", options.rewrite.stop_after, options.read.overridable);
}

/// Nothing when the text is damaged or has another key.
budget::Sensitivities parse_sensitivities(std::span<const std::byte> bytes, const std::string& key) {
  budget::Sensitivities known;
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const auto json = nlohmann::json::parse(text, text + bytes.size(), nullptr, false);
  if (!json.is_object() || json.value("key", nlohmann::json()) != key || !json.contains("sensitivities"))
    return known;
  for (const auto& [value, sensitivity] : json["sensitivities"].items())
    if (sensitivity.is_number() && sensitivity.get<double>() >= 0) known[value] = sensitivity.get<double>();
  return known;
}

budget::Sensitivities kept_sensitivities(const CompileOptions& options, const std::string& key) {
  if (!options.sensitivities.empty()) {
    if (!std::filesystem::exists(options.sensitivities)) return {};
    return parse_sensitivities(read_file(options.sensitivities), key);
  }
  if (options.object_cache.empty()) return {};
  const auto found = ObjectCache(options.object_cache).find(key);
  return found ? parse_sensitivities(*found, key) : budget::Sensitivities{};
}

void keep_sensitivities(const CompileOptions& options, const std::string& key,
                        const budget::Sensitivities& sensitivities) {
  const nlohmann::ordered_json json{{"key", key}, {"sensitivities", sensitivities}};
  const std::string text = json.dump(1) + "\n";
  if (!options.sensitivities.empty()) return write_file(options.sensitivities, text);
  if (options.object_cache.empty()) return;
  const auto bytes = std::as_bytes(std::span(text));
  ObjectCache(options.object_cache).keep(key, emit::Object(bytes.begin(), bytes.end()));
}

}  // namespace

budget::Assignment assign_budget(const Network& network, const ir::Graph& graph,
                                 const targets::Target& target, const CompileOptions& options) {
  budget::Options asked{.tolerance = options.tolerance,
                        .frames = budget_frames(network, options),
                        .ranges = noise_ranges(network, options)};
  const std::string key = key_of(network, target, options, asked);
  asked.known = kept_sensitivities(options, key);
  budget::Assignment assignment = budget::assign(graph, target, asked);
  if (assignment.report.measured && asked.known != assignment.sensitivities)
    keep_sensitivities(options, key, assignment.sensitivities);
  assignment.report.frames_hash = hash_of(asked.frames);
  return assignment;
}

}  // namespace onepass::driver
