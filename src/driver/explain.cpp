// SPDX-License-Identifier: Apache-2.0
#include "driver/explain.h"

namespace onepass::driver {

report::Explanation explain_network(const Network& network, CompileOptions options) {
  const Program program = plan_network(network, options);
  std::vector<report::Costs> costs;
  for (const auto& [fusion, name] : {std::pair{Fusion::off, "unfused"}, {Fusion::folded, "BN-folded"}}) {
    options.fusion = fusion;
    costs.push_back(report::costs_of(name, plan_network(network, options).plan));
  }
  costs.push_back(report::costs_of("fused", program.plan));
  return report::explain(network.path, {program.graph, program.journal, program.budget, program.plan},
                         std::move(costs));
}

}  // namespace onepass::driver
