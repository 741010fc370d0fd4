// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "driver/tune.h"

namespace onepass::driver {

namespace {

using Json = nlohmann::ordered_json;

constexpr int k_version = 1;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error({.code = "bad_choices",
               .message = fmt::format("'{}' holds no choices of kernels: {}", path, why),
               .accepted = "a file that --tune SECONDS --choices FILE has written"});
}

}  // namespace

std::string choices_text(const plan::TileTable& choices) {
  Json json{{"onepass_choices", k_version}, {"choices", Json::object()}};
  for (const auto& [key, choice] : choices)
    json["choices"][key] = Json{{"family", choice.family}, {"tile", choice.tile}};
  return json.dump(2) + "\n";
}

plan::TileTable parse_choices(const std::string& text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("onepass_choices")) refuse(path, "it lacks the mark of them");
  if (json["onepass_choices"] != k_version)
    refuse(path, fmt::format("it has version {}, this program reads {}", json["onepass_choices"].dump(),
                             k_version));
  try {
    plan::TileTable choices;
    for (const auto& [key, entry] : json.at("choices").items()) {
      plan::TileChoice choice{.family = entry.at("family").get<std::string>(), .tile = {}};
      for (const auto& [field, value] : entry.at("tile").items()) {
        if (!value.is_number_integer())
          refuse(path, fmt::format("{} of '{}' is no whole number", field, key));
        choice.tile[field] = value.get<int64_t>();
      }
      choices[key] = std::move(choice);
    }
    return choices;
  } catch (const Json::exception& problem) {
    refuse(path, problem.what());
  }
}

plan::TileTable read_choices(const std::string& path) {
  const std::vector<std::byte> bytes = read_file(path);
  return parse_choices(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), path);
}

}  // namespace onepass::driver
