// SPDX-License-Identifier: Apache-2.0
//
// models/fusions.golden: what is applied and joined in every model, and the launches that remain. A line is a
// model's name and its counts; a model is added by a line with its name alone. The counts are those of
// x86-64-v3; one that the vector width changes stands there a second time, for x86-64-v4.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "driver/pipeline.h"
#include "plan/grouping.h"
#include "support/data.h"
#include "targets/target.h"
#include "zoo/topologies.h"

namespace onepass::test {
namespace {

constexpr const char* k_table_path = ONEPASS_SOURCE_DIR "/tests/models/fusions.golden";
constexpr std::string_view k_zoo = "zoo/";

using Counts = std::map<std::string, int64_t>;  ///< by pattern

struct Line {
  std::string model;
  std::vector<std::string> counts;  ///< "conv_batchnorm=20"
};

void PrintTo(const Line& line, std::ostream* stream) {
  *stream << line.model;
}

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

driver::Network network_of(const std::string& model) {
  if (model.starts_with(k_zoo)) return driver::network_of(zoo::make_topology(model.substr(k_zoo.size())));
  driver::CompileOptions options;
  if (model == "yunet_n_dynamic") options.read.input_shapes = {{"input", {1, 3, 320, 320}}};
  return driver::read_network(data_path("models/" + model + ".onnx"), options);
}

Counts joins_of(const std::vector<plan::Decision>& decisions) {
  Counts joins;
  for (const plan::Decision& decision : decisions)
    if (decision.fused) ++joins[decision.pattern];
  return joins;
}

/// Planned for targets by name, never for the host: the table is the same everywhere.
std::vector<std::string> counts_of(const driver::Network& network) {
  const driver::Folded folded = driver::fold_network(network, {});
  const plan::Plan plan = plan::make_plan(folded.graph, targets::find("x86-64-v3"));
  const Counts joins = joins_of(plan.decisions);
  Counts counts = joins;
  Counts wide = joins_of(plan::group_nodes(folded.graph, targets::find("x86-64-v4"), {}).decisions);
  for (const patterns::Applied& applied : folded.journal.applied) ++counts[applied.pattern];
  std::vector<std::string> words;
  for (const auto& [pattern, count] : counts) words.push_back(fmt::format("{}={}", pattern, count));
  for (const auto& [pattern, count] : joins) wide.try_emplace(pattern, 0);
  for (const auto& [pattern, count] : wide)
    if (!joins.contains(pattern) || joins.at(pattern) != count)
      words.push_back(fmt::format("x86-64-v4:{}={}", pattern, count));
  words.push_back(fmt::format("launches={}", plan.launches.size()));
  return words;
}

/// The table with `found` in the place of the lines of those models; remarks stay.
void write_table(const std::filesystem::path& path,
                 const std::map<std::string, std::vector<std::string>>& found) {
  std::ifstream before(k_table_path);
  std::ofstream after(path);
  for (std::string text; std::getline(before, text);) {
    const auto line = found.find(text.substr(0, text.find(' ')));
    if (line != found.end()) text = fmt::format("{} {}", line->first, fmt::join(line->second, " "));
    after << text << '\n';
  }
}

class Fusions : public ::testing::TestWithParam<Line> {
 protected:
  /// Where lines differed, the table as it should read now.
  static void TearDownTestSuite() {
    if (found_.empty()) return;
    const std::filesystem::path path =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fusions.golden";
    write_table(path, found_);
    fmt::print("If the new counts are meant: cp {} {}\n", path.string(), k_table_path);
  }

  static std::map<std::string, std::vector<std::string>> found_;  ///< lines that differ, by model
};

std::map<std::string, std::vector<std::string>> Fusions::found_;

TEST_P(Fusions, AreThoseOfTheTable) {
  const Line& line = GetParam();
  if (!line.model.starts_with(k_zoo)) ONEPASS_NEEDS_DATA("models/" + line.model + ".onnx");
  const std::vector<std::string> counts = counts_of(network_of(line.model));
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
