// SPDX-License-Identifier: Apache-2.0
#include "ir/attributes.h"

#include <fmt/format.h>

namespace onepass::ir {

namespace {

template <class T>
T get(const std::map<std::string, Attribute>& items, const std::string& name, T default_value,
      const char* type) {
  const auto found = items.find(name);
  if (found == items.end()) return default_value;
  if (const T* value = std::get_if<T>(&found->second)) return *value;
  throw Error({.code = "attribute_type",
               .message = fmt::format("attribute '{}' has another type than the standard gives it", name),
               .accepted = type});
}

}  // namespace

int64_t Attributes::get_int(const std::string& name, int64_t default_value) const {
  return get<int64_t>(items_, name, default_value, "an integer");
}

double Attributes::get_float(const std::string& name, double default_value) const {
  return get<double>(items_, name, default_value, "a float");
}

std::string Attributes::get_string(const std::string& name, const std::string& default_value) const {
  return get<std::string>(items_, name, default_value, "a string");
}

std::vector<int64_t> Attributes::get_ints(const std::string& name, std::vector<int64_t> default_value) const {
  return get<std::vector<int64_t>>(items_, name, std::move(default_value), "a list of integers");
}

}  // namespace onepass::ir
