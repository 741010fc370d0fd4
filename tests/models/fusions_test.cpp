// SPDX-License-Identifier: Apache-2.0
//
// models/fusions.golden: what is applied and joined in every model, and the launches that remain. A line is a
// model's name and its counts; a model is added by a line with its name alone.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "driver/pipeline.h"
#include "support/data.h"
#include "zoo/topologies.h"

namespace onepass::test {
namespace {

constexpr const char* k_table_path = ONEPASS_SOURCE_DIR "/tests/models/fusions.golden";
constexpr const char* k_zoo = "zoo/";
constexpr const char* k_launches = "launches";

using Counts = std::map<std::string, int64_t>;  ///< of each pattern

struct Line {
  std::string model;
  std::vector<std::string> counts;  ///< "conv_batchnorm=20"
};

std::vector<Line> read_table() {
  std::ifstream file(k_table_path);
  std::vector<Line> lines;
  for (std::string text; std::getline(file, text);) {
    std::istringstream words(text);
    Line line;
    words >> line.model;
    if (line.model.empty() || line.model.front() == '#') continue;
    for (std::string word; words >> word;) line.counts.push_back(word);
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Compiled for no host in particular: the table is the same everywhere.
driver::CompileOptions options_for(const std::string& model, const char* target) {
  driver::CompileOptions options{.target = target};
  if (model == "yunet_n_dynamic") options.read.input_shapes = {{"input", {1, 3, 320, 320}}};
  return options;
}

driver::Network network_of(const std::string& model) {
  if (model.starts_with(k_zoo)) return driver::network_of(zoo::make_topology(model.substr(4)));
  return driver::read_network(data_path("models/" + model + ".onnx"), options_for(model, "x86-64-v3"));
}

struct Fused {
  Counts patterns;
  size_t launches = 0;
};

Fused fused(const driver::Network& network, const driver::CompileOptions& options) {
  const driver::Program program = driver::plan_network(network, options);
  Fused result{.launches = program.plan.launches.size()};
  for (const patterns::Applied& applied : program.journal.applied) ++result.patterns[applied.pattern];
  for (const plan::Decision& decision : program.plan.decisions)
    if (decision.fused) ++result.patterns[decision.pattern];
  return result;
}

std::vector<std::string> counts_of(const Fused& fused) {
  std::vector<std::string> counts;
  for (const auto& [pattern, count] : fused.patterns) counts.push_back(fmt::format("{}={}", pattern, count));
  counts.push_back(fmt::format("{}={}", k_launches, fused.launches));
  return counts;
}

class Fusions : public ::testing::TestWithParam<Line> {
 protected:
  /// Where lines differed, the table as it should read now.
  static void TearDownTestSuite() {
    if (found_.empty()) return;
    const std::filesystem::path path =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fusions.golden";
    std::ofstream file(path);
    file << "# tests/models/fusions_test.cpp reads and remakes this table.\n";
    for (const Line& line : read_table()) {
      const auto found = found_.find(line.model);
      file << line.model << ' '
           << fmt::format("{}", fmt::join(found == found_.end() ? line.counts : found->second, " ")) << '\n';
    }
    fmt::print("If the new counts are meant: cp {} {}\n", path.string(), k_table_path);
  }

  static std::map<std::string, std::vector<std::string>> found_;  ///< lines that differ, by model
};

std::map<std::string, std::vector<std::string>> Fusions::found_;

TEST_P(Fusions, AreThoseOfTheTable) {
  const Line& line = GetParam();
  if (!line.model.starts_with(k_zoo)) ONEPASS_NEEDS_DATA("models/" + line.model + ".onnx");
  const driver::Network network = network_of(line.model);
  const Fused narrow = fused(network, options_for(line.model, "x86-64-v3"));
  const Fused wide = fused(network, options_for(line.model, "x86-64-v4"));
  EXPECT_EQ(narrow.patterns, wide.patterns) << "the vector width decides what is fused";
  const std::vector<std::string> counts = counts_of(narrow);
  if (counts != line.counts) found_[line.model] = counts;
  EXPECT_EQ(fmt::format("{}", fmt::join(line.counts, "\n")), fmt::format("{}", fmt::join(counts, "\n")));
}

INSTANTIATE_TEST_SUITE_P(Every, Fusions, ::testing::ValuesIn(read_table()), [](const auto& test) {
  std::string name = test.param.model;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace onepass::test
