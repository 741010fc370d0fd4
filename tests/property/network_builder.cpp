// SPDX-License-Identifier: Apache-2.0
#include "property/network_builder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/diagnostic.h"

namespace onepass::test {

namespace {

constexpr int64_t k_max_elems = 20000;

}  // namespace

int64_t Random::below(int64_t bound) {
  state_ ^= state_ >> 12;
  state_ ^= state_ << 25;
  state_ ^= state_ >> 27;
  return static_cast<int64_t>((state_ * 0x2545F4914F6CDD1DULL) >> 33) % bound;
}

double Random::real(double low, double high) {
  return low + (high - low) * static_cast<double>(below(4096)) / 4096.0;
}

std::string attribute(const std::string& name, const std::vector<int64_t>& values) {
  return fmt::format("{}=[{}]", name, fmt::join(values, ","));
}

Item NetworkBuilder::input(const ir::Shape& dims) {
  Item item{fmt::format("x{}", next_++), dims, true};
  statements_.push_back(fmt::format("{} = input f32{}", item.name, ir::to_string(dims)));
  items_.push_back(item);
  return item;
}

std::string NetworkBuilder::constant(const std::string& body) {
  statements_.push_back(fmt::format("c{} = constant {}", next_, body));
  return fmt::format("c{}", next_++);
}

std::string NetworkBuilder::random_constant(const ir::Shape& dims, double low, double high) {
  return constant(
      fmt::format("f32{} random(seed={}, lo={:.4f}, hi={:.4f})", ir::to_string(dims), next_ + 1, low, high));
}

std::string NetworkBuilder::ints(const std::vector<int64_t>& values) {
  return constant(fmt::format("i64[{}] {{{}}}", values.size(), fmt::join(values, ",")));
}

std::string NetworkBuilder::floats(const std::vector<double>& values) {
  return constant(fmt::format("f32[{}] {{{}}}", values.size(), fmt::join(values, ",")));
}

std::optional<Item> NetworkBuilder::node(const std::string& op, const std::vector<std::string>& operands,
                                         const std::string& attributes, bool exact) {
  const std::vector<Item> made = nodes(1, op, operands, attributes, exact);
  return made.empty() ? std::nullopt : std::optional(made[0]);
}

std::vector<Item> NetworkBuilder::nodes(int outputs, const std::string& op,
                                        const std::vector<std::string>& operands,
                                        const std::string& attributes, bool exact) {
  std::vector<Item> made;
  std::vector<std::string> names;
  for (int o = 0; o < outputs; ++o) {
    names.push_back(fmt::format("v{}", next_++));
    made.push_back({names.back(), {}, exact});
  }
  const std::string braces = attributes.empty() ? "" : " {" + attributes + "}";
  statements_.push_back(
      fmt::format("{} = {}({}){}", fmt::join(names, ", "), op, fmt::join(operands, ", "), braces));
  try {
    const auto types = types_of(statements_);
    for (Item& item : made) {
      item.dims = types.at(item.name).dims;
      const int64_t elems = ir::element_count(item.dims);
      if (elems < 1 || elems > k_max_elems)
        throw Error(Diagnostic{.code = "size", .message = "not a size for a test"});
    }
  } catch (const Error&) {
    statements_.pop_back();
    return {};
  }
  items_.insert(items_.end(), made.begin(), made.end());
  return made;
}

void NetworkBuilder::output(const std::string& text) {
  statements_.push_back("output " + text);
}

std::optional<Item> NetworkBuilder::pick(const std::function<bool(const Item&)>& fits) {
  std::vector<Item> found;
  std::copy_if(items_.begin(), items_.end(), std::back_inserter(found), fits);
  if (found.empty()) return std::nullopt;
  return random.chance(0.6) ? found.back() : random.pick(found);
}

bool NetworkBuilder::is_read(const std::string& name) const {
  return std::any_of(statements_.begin(), statements_.end(), [&](const std::string& statement) {
    const auto names = read_names(statement);
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

}  // namespace onepass::test
