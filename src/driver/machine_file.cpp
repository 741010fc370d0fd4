// SPDX-License-Identifier: Apache-2.0
#include "driver/machine_file.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "base/diagnostic.h"
#include "base/files.h"
#include "driver/object_cache.h"

namespace onepass::driver {

namespace {

using Json = nlohmann::ordered_json;
using targets::Figures;
using targets::Machine;

constexpr int k_version = 1;

struct RealFigure {
  const char* name;
  double Figures::* member;
  double least, most;
};

constexpr double k_most_bytes_per_ns = 1e5;
constexpr std::array k_reals = {
    RealFigure{"fma_gflops", &Figures::fma_gflops, 0.01, 1e5},
    RealFigure{"clock_ghz", &Figures::clock_ghz, 0.01, 100},
    RealFigure{"tile_products_per_ns", &Figures::tile_products_per_ns, 0, 1e5},
    RealFigure{"l1_bytes_per_ns", &Figures::l1_bytes_per_ns, 0.01, k_most_bytes_per_ns},
    RealFigure{"l2_bytes_per_ns", &Figures::l2_bytes_per_ns, 0.01, k_most_bytes_per_ns},
    RealFigure{"l3_bytes_per_ns", &Figures::l3_bytes_per_ns, 0.01, k_most_bytes_per_ns},
    RealFigure{"memory_bytes_per_ns", &Figures::memory_bytes_per_ns, 0.01, k_most_bytes_per_ns},
    RealFigure{"all_cores_memory_bytes_per_ns", &Figures::all_cores_memory_bytes_per_ns, 0.01,
               k_most_bytes_per_ns},
    RealFigure{"launch_ns", &Figures::launch_ns, 0, 1e6},
    RealFigure{"barrier_ns", &Figures::barrier_ns, 0, 1e9},
};

struct SizeFigure {
  const char* name;
  int64_t Figures::* member;
};

constexpr std::array k_sizes = {
    SizeFigure{"l1_bytes", &Figures::l1_bytes},
    SizeFigure{"l2_bytes", &Figures::l2_bytes},
    SizeFigure{"l3_bytes", &Figures::l3_bytes},
};

/// A few digits: more are noise, and would make the file differ where the machine does not.
double rounded(double value) {
  return std::stod(fmt::format("{:.4g}", value));
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error({.code = "bad_machine",
               .message = fmt::format("'{}' is no machine description: {}", path, why),
               .accepted = "a file that `onepass calibrate -o FILE` has written",
               .hint = "run onepass calibrate on the machine that will run the model"});
}

Figures parse_figures(const Json& json, const std::string& path) {
  Figures figures{.target = json.at("target").get<std::string>()};
  for (const SizeFigure& size : k_sizes) {
    constexpr int64_t k_least_bytes = 1 << 10, k_most_bytes = 1LL << 40;
    const auto bytes = json.at(size.name).get<int64_t>();
    if (bytes < k_least_bytes || bytes > k_most_bytes)
      refuse(path, fmt::format("{} is {}", size.name, bytes));
    figures.*size.member = bytes;
  }
  for (const RealFigure& real : k_reals) {
    const auto value = json.at(real.name).get<double>();
    if (!(value >= real.least && value <= real.most)) refuse(path, fmt::format("{} is {}", real.name, value));
    figures.*real.member = value;
  }
  return figures;
}

}  // namespace

std::string machine_text(const Machine& machine) {
  Json json{{"onepass_machine", k_version}, {"cpu", machine.cpu}, {"cores", machine.cores}};
  json["classes"] = Json::array();
  for (const Figures& figures : machine.classes) {
    Json entry{{"target", figures.target}};
    for (const SizeFigure& size : k_sizes) entry[size.name] = figures.*size.member;
    for (const RealFigure& real : k_reals) entry[real.name] = rounded(figures.*real.member);
    json["classes"].push_back(std::move(entry));
  }
  return json.dump(2) + "\n";
}

Machine parse_machine(const std::string& text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("onepass_machine")) refuse(path, "it lacks the mark of one");
  if (json["onepass_machine"] != k_version)
    refuse(path, fmt::format("it has version {}, this program reads {}", json["onepass_machine"].dump(),
                             k_version));
  try {
    Machine machine{.cpu = json.at("cpu").get<std::string>(), .cores = json.at("cores").get<int>()};
    for (const Json& entry : json.at("classes")) machine.classes.push_back(parse_figures(entry, path));
    return machine;
  } catch (const Json::exception& problem) {
    refuse(path, problem.what());
  }
}

std::string host_cpu() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

std::string calibrated_machine_path() {
  const std::string folder = user_cache_folder();
  if (folder.empty())
    throw Error({.code = "bad_machine",
                 .message = "this user has no home folder that can be written",
                 .hint = "name the file: onepass calibrate -o FILE, --machine FILE"});
  std::string name = host_cpu();
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '-';
  return fmt::format("{}/machine-{}.json", folder, name);
}

std::shared_ptr<const targets::Target> target_of(const CompileOptions& options) {
  const targets::Target& target = targets::find(options.target);
  if (options.machine.empty()) return std::make_shared<targets::Target>(target);
  const std::vector<std::byte> bytes = read_file(options.machine);
  const Machine machine =
      parse_machine(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()), options.machine);
  const Figures* figures = figures_for(machine, target);
  if (figures == nullptr)
    refuse(options.machine, fmt::format("it has no figures of the class {}", target.name));
  return std::make_shared<targets::Target>(targets::with_figures(target, *figures));
}

}  // namespace onepass::driver
