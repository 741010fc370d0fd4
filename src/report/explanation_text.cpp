// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/budget_text.h"
#include "report/explanation.h"

namespace onepass::report {

namespace {

std::string joined(const std::vector<std::string>& names, const char* separator) {
  return fmt::format("{}", fmt::join(names, separator));
}

void append_chains(std::string& text, const std::vector<Chain>& chains, bool residual) {
  for (const Chain& chain : chains) {
    if (chain.residual != residual) continue;
    text +=
        fmt::format("  {}\n      {} -> {}, {}, predicted {:.1f} us\n", joined(chain.nodes, " + "),
                    chain.family, chain.shape,
                    chain.patterns.empty() ? "one kernel" : joined(chain.patterns, ", "), chain.predicted_us);
    if (residual) text += fmt::format("      check: {}\n", chain.proof);
  }
}

void append_splits(std::string& text, const std::vector<Split>& splits) {
  for (const Split& split : splits)
    text += fmt::format("  {}\n      {} {}: {}\n", joined(split.nodes, " | "), split.pattern, split.condition,
                        split.reason);
}

std::string megabytes(int64_t bytes) {
  return fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6);
}

template <class Cell>
void append_row(std::string& text, const char* title, const std::vector<Costs>& costs, const Cell& cell) {
  text += fmt::format("  {:<28}", title);
  for (const Costs& column : costs) text += fmt::format("{:>14}", cell(column));
  text += "\n";
}

void append_costs(std::string& text, const std::vector<Costs>& costs) {
  append_row(text, "", costs, [](const Costs& c) { return c.name; });
  append_row(text, "launches", costs, [](const Costs& c) { return fmt::format("{}", c.launches); });
  append_row(text, "passes over memory", costs, [](const Costs& c) { return fmt::format("{}", c.passes); });
  append_row(text, "bytes read", costs, [](const Costs& c) { return megabytes(c.bytes_read); });
  append_row(text, "bytes written", costs, [](const Costs& c) { return megabytes(c.bytes_written); });
  append_row(text, "peak memory (arena)", costs, [](const Costs& c) { return megabytes(c.peak_bytes); });
  append_row(text, "weights", costs, [](const Costs& c) { return megabytes(c.weight_bytes); });
  append_row(text, "predicted time, one thread", costs,
             [](const Costs& c) { return fmt::format("{:.3f} ms", c.predicted_ms); });
}

nlohmann::ordered_json json_of(const Chain& chain) {
  nlohmann::ordered_json json{{"nodes", chain.nodes},
                              {"verdict", "fused"},
                              {"patterns", chain.patterns},
                              {"family", chain.family},
                              {"shape", chain.shape},
                              {"residual", chain.residual},
                              {"predicted_us", chain.predicted_us}};
  if (chain.residual) json["proof"] = chain.proof;
  return json;
}

nlohmann::ordered_json json_of(const Split& split) {
  return {{"nodes", split.nodes},         {"verdict", "split"},     {"pattern", split.pattern},
          {"condition", split.condition}, {"reason", split.reason}, {"branched", split.branched}};
}

nlohmann::ordered_json json_of(const Placed& placed) {
  return {{"nodes", placed.nodes}, {"verdict", "placed"}, {"slices", placed.slices}};
}

nlohmann::ordered_json json_of(const Striped& striped) {
  return {{"launches", striped.launches}, {"stripes", striped.stripes}};
}

nlohmann::ordered_json json_of(const Costs& costs) {
  return {{"name", costs.name},
          {"launches", costs.launches},
          {"passes", costs.passes},
          {"bytes_read", costs.bytes_read},
          {"bytes_written", costs.bytes_written},
          {"peak_bytes", costs.peak_bytes},
          {"weight_bytes", costs.weight_bytes},
          {"predicted_ms", costs.predicted_ms}};
}

nlohmann::ordered_json json_of(const Diagnostic& d) {
  return {{"code", d.code}, {"node", d.node}, {"op", d.op}, {"message", d.message}, {"hint", d.hint}};
}

template <class Item>
nlohmann::ordered_json array_of(const std::vector<Item>& items) {
  auto json = nlohmann::ordered_json::array();
  for (const Item& item : items) json.push_back(json_of(item));
  return json;
}

}  // namespace

std::string to_text(const Explanation& e) {
  const auto residual =
      std::count_if(e.chains.begin(), e.chains.end(), [](const Chain& c) { return c.residual; });
  std::string text = fmt::format("{} for {}\n\n", e.model, e.target);
  text += fmt::format("Fused, straight chains: {}\n", static_cast<int64_t>(e.chains.size()) - residual);
  append_chains(text, e.chains, false);
  text += fmt::format("\nFused with a residual operand: {}\n", residual);
  append_chains(text, e.chains, true);
  text += fmt::format("\nIn place, without a copy (concat_slices): {}\n", e.placed.size());
  for (const Placed& placed : e.placed)
    text += fmt::format("  {}: {}\n", joined(placed.nodes, " + "), placed.slices);
  text += fmt::format("\nRun in stripes of rows, to stay in L2: {}\n", e.striped.size());
  for (const Striped& striped : e.striped)
    text += fmt::format("  {} stripes: {}\n", striped.stripes, joined(striped.launches, ", "));
  text += fmt::format("\nStayed split: {}\n", e.splits.size());
  append_splits(text, e.splits);
  text += fmt::format("\nOne node alone: {}\n", e.single.size());
  for (const Chain& chain : e.single)
    text += fmt::format("  {} ({} -> {})\n", joined(chain.nodes, " + "), chain.family, chain.shape);
  if (!e.warnings.empty()) text += fmt::format("\nWarnings: {}\n", e.warnings.size());
  for (const Diagnostic& warning : e.warnings) text += "  " + to_string(warning) + "\n";
  text += "\n" + budget_text(e.budget) + "\n";
  append_costs(text, e.costs);
  return text;
}

std::string to_json(const Explanation& e) {
  nlohmann::ordered_json json{{"model", e.model},
                              {"target", e.target},
                              {"chains", array_of(e.chains)},
                              {"single", array_of(e.single)},
                              {"placed", array_of(e.placed)},
                              {"striped", array_of(e.striped)},
                              {"splits", array_of(e.splits)},
                              {"warnings", array_of(e.warnings)},
                              {"budget", budget_json(e.budget)},
                              {"costs", array_of(e.costs)}};
  return json.dump(2);
}

}  // namespace onepass::report
