// SPDX-License-Identifier: Apache-2.0
//
// Every entry of the bug log has a case (*.graph) or a test whose name holds its id. An entry that is not
// listed is not about what this compiler does.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

namespace onepass::test {
namespace {

namespace fs = std::filesystem;

struct Section {
  const char* title;
  std::vector<int> ids;
};

const std::vector<Section>& sections() {
  static const std::vector<Section> k_sections = {
      {"A: training mode and exporters", {1, 2, 4, 5, 7, 8}},
      {"B: reordering, fan-out, graph outputs", {10, 11, 13, 14, 16, 17, 19, 20, 22, 23}},
      {"C: residuals, aliasing, the memory plan", {25, 26, 28, 29, 31, 32, 34, 35, 37, 38}},
      {"D: arithmetic of folds", {40, 41, 43, 44, 46, 47, 49, 50, 52, 53, 55, 56, 58, 59, 61, 62, 64, 65}},
      {"E: opsets and shapes", {67, 68, 70, 71, 73, 74, 76, 77, 79, 80, 82, 83}},
      {"F: precision and kernels", {85, 86, 88, 89, 91, 92}},
      {"G: detectors", {94, 95, 97, 98, 101}},
      {"H: dynamic shapes, size, hostile models", {103, 104, 106, 107, 110, 112, 113, 115, 116, 118}}};
  return k_sections;
}

/// What names a case or a test on this line; empty when nothing does.
std::string name_on(const std::string& line) {
  for (const char* start : {"case ", "TEST(", "TEST_F(", "TEST_P("})
    if (line.starts_with(start)) return line;
  return "";
}

/// "B" and three digits that no letter or digit of another word surrounds.
void collect_ids(const std::string& text, std::set<int>& ids) {
  for (size_t at = text.find('B'); at != std::string::npos; at = text.find('B', at + 1)) {
    const auto digit = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '9'; };
    const bool starts = at == 0 || !std::isalnum(static_cast<unsigned char>(text[at - 1]));
    if (starts && digit(at + 1) && digit(at + 2) && digit(at + 3) && !digit(at + 4))
      ids.insert(std::stoi(text.substr(at + 1, 3)));
  }
}

std::set<int> ids_in_tree() {
  std::set<int> ids;
  const fs::path root = ONEPASS_SOURCE_DIR;
  for (const char* folder : {"src/patterns", "src/passes", "tests"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const fs::path extension = entry.path().extension();
      if (extension != ".graph" && extension != ".cpp") continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) collect_ids(name_on(line), ids);
    }
  return ids;
}

TEST(BugLogCoverage, EveryEntryHasACaseOrATest) {
  const std::set<int> found = ids_in_tree();
  for (const Section& section : sections())
    for (const int id : section.ids)
      EXPECT_TRUE(found.contains(id))
          << "B" << (id < 100 ? "0" : "") << (id < 10 ? "0" : "") << id << ", section " << section.title;
}

TEST(BugLogCoverage, IdsAreReadAsWholeWords) {
  std::set<int> ids;
  collect_ids("TEST(BugLog, B001Training) case B082_pad xB099 B12 B1234", ids);
  EXPECT_EQ(ids, (std::set<int>{1, 82}));
}

}  // namespace
}  // namespace onepass::test
