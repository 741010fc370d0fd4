// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "property/network_text.h"

namespace onepass::test {

/// Seeded numbers (xorshift64*), the same on every machine.
class Random {
 public:
  explicit Random(uint32_t seed) : state_(0x9E3779B97F4A7C15ULL * (seed + 1)) {}
  int64_t below(int64_t bound);
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  bool chance(double probability) { return below(1000) < static_cast<int64_t>(1000 * probability); }
  double real(double low, double high);
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<size_t>(below(static_cast<int64_t>(from.size())))];
  }

 private:
  uint64_t state_;
};

struct Item {
  std::string name;
  ir::Shape dims;
  bool exact = false;  ///< no rounding on the way from the inputs
};

/// A network that grows statement by statement. What would make it invalid is taken back.
class NetworkBuilder {
 public:
  explicit NetworkBuilder(uint32_t seed) : random(seed) {}

  Item input(const ir::Shape& dims);
  /// The name of a new constant: `body` is "f32[2] random(seed=1)".
  std::string constant(const std::string& body);
  std::string random_constant(const ir::Shape& dims, double low, double high);
  std::string ints(const std::vector<int64_t>& values);
  std::string floats(const std::vector<double>& values);

  /// A node of one output; nothing when the node would be invalid there or its result too large.
  std::optional<Item> node(const std::string& op, const std::vector<std::string>& operands,
                           const std::string& attributes = "", bool exact = false);
  std::vector<Item> nodes(int outputs, const std::string& op, const std::vector<std::string>& operands,
                          const std::string& attributes, bool exact);
  /// "v1", or "name = v1".
  void output(const std::string& text);

  /// A value so far, mostly a late one, that fulfils the predicate.
  std::optional<Item> pick(const std::function<bool(const Item&)>& fits);
  const std::vector<Item>& items() const { return items_; }
  const Statements& statements() const { return statements_; }
  bool is_read(const std::string& name) const;

  Random random;

 private:
  Statements statements_;
  std::vector<Item> items_;
  int next_ = 0;
};

std::string attribute(const std::string& name, const std::vector<int64_t>& values);

}  // namespace onepass::test
