// SPDX-License-Identifier: Apache-2.0
#include "report/budget_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace onepass::report {

std::string budget_text(const budget::Report& report) {
  if (report.tolerance == 0) return "Error budget: none, direct sums alone\n";
  std::string text = budget::summary(report) + "\n";
  text[0] = 'E';
  if (!report.layers.empty())
    text +=
        fmt::format("  {:<40} {:<9} {:>9} {:>12} {:>9}\n", "", "algorithm", "error", "sensitivity", "share");
  for (const budget::LayerReport& layer : report.layers)
    text += fmt::format("  {:<40} {:<9} {:>8.1e}{} {:>12.2g} {:>7.2f} %\n", layer.node, name(layer.algorithm),
                        layer.error, layer.sampled ? "*" : " ", layer.sensitivity, 100 * layer.share);
  if (!report.layers.empty())
    text += "  error: of the layer alone, * sampled on a tile; share: of the squared budget\n";
  if (!report.demotions.empty()) text += fmt::format("\nDemoted: {}\n", report.demotions.size());
  for (const budget::Demotion& demotion : report.demotions)
    text += fmt::format("  {}\n      {} -> {}: {}\n", demotion.node, name(demotion.from), name(demotion.to),
                        demotion.reason);
  return text;
}

nlohmann::ordered_json budget_json(const budget::Report& report) {
  nlohmann::ordered_json json{{"tolerance", report.tolerance},
                              {"measured", report.measured},
                              {"predicted", report.predicted},
                              {"holds", report.holds},
                              {"floor", report.floor}};
  json["layers"] = nlohmann::ordered_json::array();
  for (const budget::LayerReport& layer : report.layers)
    json["layers"].push_back({{"node", layer.node},
                              {"algorithm", name(layer.algorithm)},
                              {"error", layer.error},
                              {"sampled", layer.sampled},
                              {"sensitivity", layer.sensitivity},
                              {"share", layer.share},
                              {"predicted_us", layer.predicted_us}});
  json["demotions"] = nlohmann::ordered_json::array();
  for (const budget::Demotion& demotion : report.demotions)
    json["demotions"].push_back({{"node", demotion.node},
                                 {"from", name(demotion.from)},
                                 {"to", name(demotion.to)},
                                 {"reason", demotion.reason}});
  return json;
}

}  // namespace onepass::report
