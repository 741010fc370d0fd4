// SPDX-License-Identifier: Apache-2.0
//
// The catalogue keeps its promises: every pattern has a case file beside it, with a positive case and one
// negative case for every condition, and docs/patterns.md is current.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "patterns/case_file.h"
#include "patterns/catalogue.h"

namespace onepass::test {

namespace {

bool is_in(const Case& text_case, const std::string& pattern) {
  return text_case.file == "src/patterns/" + pattern + ".graph";
}

bool is_positive(const Case& text_case, const std::string& pattern) {
  const bool joined = std::any_of(text_case.joins.begin(), text_case.joins.end(), [&](const JoinLine& line) {
    return line.verdict == "legal" && line.rule == pattern;
  });
  return joined || expects(text_case, "applied", pattern);
}

bool refuses(const Case& text_case, const std::string& pattern, const std::string& condition) {
  const std::vector<std::string> line = {"refused", pattern, condition};
  const auto& all = text_case.expectations;
  const bool refused = std::find(all.begin(), all.end(), line) != all.end();
  const bool not_joined =
      std::any_of(text_case.joins.begin(), text_case.joins.end(), [&](const JoinLine& join) {
        return join.verdict == "refused" && join.rule == pattern && join.condition == condition;
      });
  return refused || not_joined;
}

/// The pattern has its file, a positive case, and a negative case named after every condition.
template <class Pattern>
void expect_covered(const Pattern& pattern, const std::vector<Case>& cases) {
  const std::string name = pattern.name;
  const auto any = [&](auto holds) {
    return std::any_of(cases.begin(), cases.end(), [&](const Case& c) { return is_in(c, name) && holds(c); });
  };
  EXPECT_TRUE(any([&](const Case& c) { return is_positive(c, name); })) << name << " has no positive case";
  EXPECT_FALSE(pattern.conditions.empty()) << name;
  for (const patterns::Condition& condition : pattern.conditions) {
    const std::string stem = name + "_" + condition.id + "_";
    EXPECT_TRUE(any([&](const Case& c) {
      return c.name.starts_with(stem) && refuses(c, name, condition.id);
    })) << "no case "
        << stem << "... refuses it";
  }
}

TEST(Catalogue, EveryConditionHasANegativeCase) {
  const std::vector<Case> cases = load_cases("src/patterns");
  for (const auto& pattern : patterns::rewrites()) expect_covered(pattern, cases);
  for (const auto& pattern : patterns::joins()) expect_covered(pattern, cases);
}

TEST(Catalogue, UniversalRulesHaveNegativeCases) {
  const std::vector<Case> cases = load_cases("src/patterns");
  for (const char* rule : {"U1", "U2"})
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
      return refuses(c, "conv_batchnorm", rule);
    })) << rule;
  for (const char* rule : {"U1", "U2", "U3", "U4"})
    EXPECT_TRUE(std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
      return std::any_of(c.joins.begin(), c.joins.end(),
                         [&](const JoinLine& j) { return j.condition == rule; });
    })) << rule;
}

TEST(Catalogue, NamesAreUnique) {
  std::set<std::string> names;
  for (const auto& pattern : patterns::rewrites())
    EXPECT_TRUE(names.insert(pattern.name).second) << pattern.name;
  for (const auto& pattern : patterns::joins())
    EXPECT_TRUE(names.insert(pattern.name).second) << pattern.name;
}

TEST(Catalogue, CaseNamesAreUnique) {
  std::set<std::string> names;
  for (const char* folder : {"src/patterns", "src/passes", "tests/cases/graphs"})
    for (const Case& c : load_cases(folder))
      EXPECT_TRUE(names.insert(c.name).second) << c.file << " " << c.name;
}

TEST(Catalogue, DocsAreCurrent) {
  std::ifstream stream(std::string(ONEPASS_SOURCE_DIR) + "/docs/patterns.md");
  std::ostringstream text;
  text << stream.rdbuf();
  EXPECT_EQ(text.str(), patterns::catalogue_markdown())
      << "write it again: onepass catalogue > docs/patterns.md";
}

}  // namespace

}  // namespace onepass::test
