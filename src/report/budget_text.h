// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "budget/budget.h"

namespace onepass::report {

/// The error budget: one line of summary, one for each layer with a choice, one for each demotion.
std::string budget_text(const budget::Report& report);
nlohmann::ordered_json budget_json(const budget::Report& report);

}  // namespace onepass::report
