// SPDX-License-Identifier: Apache-2.0
#include "patterns/case_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace onepass::test {

namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line.substr(0, line.find('#')));
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::vector<std::string> tail(const std::vector<std::string>& words) {
  return {words.begin() + 1, words.end()};
}

JoinLine join_line(const std::vector<std::string>& w, const std::string& place) {
  const bool refused = w.size() > 3 && w[3] == "refused";
  if (w.size() < 5 || (refused && w[4] != "-" && w.size() < 6))
    throw std::runtime_error(place + "incomplete join");
  return {w[1], w[2], w[3], w[4], w.size() > 5 ? w[5] : ""};
}

void read_directive(Case& into, const std::vector<std::string>& words, const std::string& place) {
  if (words[0] == "expect")
    into.expectations.push_back(tail(words));
  else if (words[0] == "option")
    into.options.push_back(tail(words));
  else if (words[0] == "join")
    into.joins.push_back(join_line(words, place));
  else if (words[0] == "untyped")
    into.untyped = true;
  else
    throw std::runtime_error(place + "unknown directive '" + words[0] + "'");
}

std::vector<Case> load_file(const std::filesystem::path& path, const std::string& name) {
  std::ifstream stream(path);
  std::vector<Case> cases;
  int number = 0;
  bool in_graph = false;
  for (std::string line; std::getline(stream, line);) {
    const std::string place = name + ":" + std::to_string(++number) + ": ";
    const std::vector<std::string> words = words_of(line);
    if (!in_graph && words.empty()) continue;
    if (!in_graph && words[0] == "case") {
      cases.push_back({.file = name, .name = words.at(1)});
      continue;
    }
    if (cases.empty()) throw std::runtime_error(place + "a file starts with a case");
    in_graph = in_graph || words[0] == "graph";
    if (!in_graph) read_directive(cases.back(), words, place);
    if (in_graph) cases.back().graph += line + "\n";
    if (in_graph && !words.empty() && words[0] == "}") in_graph = false;
  }
  if (in_graph) throw std::runtime_error(name + ": a graph without '}' on a line of its own");
  return cases;
}

}  // namespace

std::vector<Case> load_cases(const std::string& folder) {
  const std::filesystem::path root = ONEPASS_SOURCE_DIR;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(root / folder))
    if (entry.path().extension() == ".graph") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const auto& file : files)
    for (Case& text_case : load_file(file, folder + "/" + file.filename().string()))
      cases.push_back(std::move(text_case));
  return cases;
}

bool expects(const Case& text_case, const std::string& verb, const std::string& first) {
  return std::any_of(text_case.expectations.begin(), text_case.expectations.end(), [&](const auto& words) {
    return words.size() > 1 && words[0] == verb && words[1] == first;
  });
}

}  // namespace onepass::test
