// SPDX-License-Identifier: Apache-2.0
//
// onepass_zoo_write --out FOLDER [NAME...]: the standard topologies as ONNX files.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "onnx/writer.h"
#include "passes/infer_shapes.h"
#include "zoo/topologies.h"

namespace {

constexpr const char* k_only_by_name = "vgg16_bn";  // 550 MB

struct Request {
  std::string folder;
  std::vector<std::string> names;
  uint64_t seed = 1;
};

void write(const Request& request) {
  using namespace onepass;
  std::filesystem::create_directories(request.folder);
  for (const std::string& name : request.names) {
    ir::Graph graph = zoo::make_topology(name, request.seed);
    passes::infer_shapes(graph);
    const std::string path = (std::filesystem::path(request.folder) / (name + ".onnx")).string();
    onnx::write_model(graph, path);
    fmt::print("{}  {} bytes\n", path, std::filesystem::file_size(path));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Request request;
  CLI::App app("Writes standard vision topologies with seeded random weights as ONNX files.",
               "onepass_zoo_write");
  app.add_option("--out", request.folder, "folder to write to")->required()->type_name("FOLDER");
  app.add_option("--seed", request.seed, "of the weights")->capture_default_str();
  app.add_option("names", request.names, fmt::format("which; all but {} when none is named", k_only_by_name))
      ->check(CLI::IsMember(onepass::zoo::topology_names()))
      ->type_name("NAME");
  CLI11_PARSE(app, argc, argv);
  if (request.names.empty()) {
    request.names = onepass::zoo::topology_names();
    std::erase(request.names, k_only_by_name);
  }
  try {
    write(request);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
