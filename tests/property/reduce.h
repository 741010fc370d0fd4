// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace onepass::test {

/// A smaller network in text form for which `fails` still holds: outputs dropped, nodes bypassed or cut off
/// behind a new graph input, for as long as any such step succeeds. `fails` is asked about valid networks
/// alone.
std::string reduce(const std::string& text, const std::function<bool(const std::string&)>& fails);

}  // namespace onepass::test
