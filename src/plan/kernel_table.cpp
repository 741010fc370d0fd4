// SPDX-License-Identifier: Apache-2.0
#include "plan/kernel_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "loops/printer.h"
#include "plan/plan.h"

namespace onepass::plan {

namespace {

/// A name that says nothing of the network, so that equal kernels of different networks are one object.
std::string symbol_of(const std::string& nest_text, const char* family,
                      const std::vector<loops::LoopNest>& named) {
  const uint64_t hash = hash_bytes(std::as_bytes(std::span(nest_text)));
  std::string name = fmt::format("onepass_{}_{:016x}", family, hash);
  const auto taken = [&](const loops::LoopNest& nest) { return nest.name == name; };
  while (std::any_of(named.begin(), named.end(), taken)) name += "_";
  return name;
}

}  // namespace

const KernelTable::Entry& KernelTable::entry(const kernels::KernelChoice& choice,
                                             const targets::Target& target) {
  loops::LoopNest nest = kernels::build("kernel", choice, target);
  auto [found, fresh] = entries_.try_emplace(loops::print(nest));
  if (fresh) {
    nest.name = symbol_of(found->first, kernels::family_name(choice), nests_);
    found->second = {nest.name, nest.slices, loops::scratch_bytes(nest)};
    nests_.push_back(std::move(nest));
  }
  return found->second;
}

void KernelTable::move_used_to(Plan& plan) {
  std::set<std::string> used;
  for (const Launch& launch : plan.launches) {
    used.insert(launch.symbol);
    for (const Launch& member : launch.members) used.insert(member.symbol);
  }
  for (loops::LoopNest& nest : nests_) {
    if (!used.contains(nest.name)) continue;
    plan.scratch_bytes = std::max(plan.scratch_bytes, loops::scratch_bytes(nest));
    plan.kernels.push_back(std::move(nest));
  }
}

}  // namespace onepass::plan
