// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/tensor.h"

namespace onepass::ir {

using Attribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>, Tensor>;

/// A node's attributes by ONNX name, in name order. The getters return the default when the name is absent
/// and throw Error("attribute_type") when it holds another type.
class Attributes {
 public:
  bool has(const std::string& name) const { return items_.contains(name); }
  void set(const std::string& name, Attribute value) { items_[name] = std::move(value); }
  void erase(const std::string& name) { items_.erase(name); }
  const std::map<std::string, Attribute>& items() const { return items_; }

  int64_t get_int(const std::string& name, int64_t default_value) const;
  double get_float(const std::string& name, double default_value) const;
  std::string get_string(const std::string& name, const std::string& default_value) const;
  std::vector<int64_t> get_ints(const std::string& name, std::vector<int64_t> default_value = {}) const;

 private:
  std::map<std::string, Attribute> items_;
};

}  // namespace onepass::ir
