// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/files.h"
#include "bench.h"
#include "inputs.h"
#include "npz.h"
#include "verbs.h"

namespace onepass::tool {

namespace {

void print_ready(const BenchArguments& arguments, const runtime::LoadedModel& model) {
  nlohmann::ordered_json json{{"model", std::filesystem::path(arguments.model).filename().string()},
                              {"target", model.record().target},
                              {"threads", arguments.threads}};
  for (const artefact::TensorRecord& input : model.inputs())
    json["inputs"].push_back(
        {{"name", input.name}, {"dims", std::vector<int64_t>(input.dims, input.dims + input.rank)}});
  fmt::print("READY {}\n", json.dump());
  std::fflush(stdout);
}

/// One request; false when the line is none.
bool answer(const std::string& line, const runtime::LoadedModel& model, runtime::Session& session) {
  constexpr int k_most_runs = 1000000;
  if (line.starts_with("OUT ")) {
    session.run();
    write_file(line.substr(4), npz_bytes(outputs_of(model, session)));
    fmt::print("[]\n");
    return true;
  }
  char* end = nullptr;
  const long count = std::strtol(line.c_str(), &end, 10);
  if (end == line.c_str() || *end != '\0' || count < 1 || count > k_most_runs) return false;
  fmt::print("{}\n", nlohmann::json(time_runs(session, static_cast<int>(count))).dump());
  return true;
}

}  // namespace

int bench_serve(const BenchArguments& arguments) {
  const driver::CompileOptions options = to_options(arguments.compile);
  const driver::Network network = driver::read_network(arguments.model, options);
  tune_first(network, options, arguments.compile);
  const runtime::LoadedModel model =
      driver::load_program(network, driver::plan_network(network, options), options);
  runtime::Session session(model, arguments.threads);
  fill_inputs(model, session, arguments.inputs, {});
  print_ready(arguments, model);
  for (std::string line; std::getline(std::cin, line);) {
    if (!answer(line, model, session)) {
      fmt::print(stderr, "bench --serve: '{}' is neither a count of runs nor 'OUT file.npz'\n", line);
      return k_usage;
    }
    std::fflush(stdout);
  }
  return k_ok;
}

}  // namespace onepass::tool
