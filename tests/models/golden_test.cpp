// SPDX-License-Identifier: Apache-2.0
//
// models/golden_lcg.json: what ONNX Runtime computes without optimisations, sampled.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "models/compiled_model.h"
#include "support/data.h"

namespace onepass::test {
namespace {

using nlohmann::json;

/// Two right floating-point programs differ by this much, relative to the largest value.
constexpr double k_tolerance = 2e-5;

json read_json(const std::string& path) {
  std::ifstream file(path);
  return json::parse(file);
}

void expect_samples(const json& golden, const ir::Tensor& tensor) {
  EXPECT_EQ(golden["dims"].get<ir::Shape>(), tensor.shape());
  const std::vector<double> values = tensor.to_doubles();
  double sum = 0, abs_sum = 0, abs_max = 0;
  for (const double value : values) {
    sum += value;
    abs_sum += std::fabs(value);
    abs_max = std::max(abs_max, std::fabs(value));
  }
  const double scale = std::max(1.0, golden["abs_max"].get<double>());
  EXPECT_NEAR(abs_max, golden["abs_max"].get<double>(), k_tolerance * scale);
  EXPECT_NEAR(abs_sum, golden["abs_sum"].get<double>(),
              k_tolerance * std::max(1.0, golden["abs_sum"].get<double>()));
  EXPECT_NEAR(sum, golden["sum"].get<double>(), k_tolerance * std::max(1.0, golden["abs_sum"].get<double>()));
  for (size_t i = 0; i < golden["index"].size(); ++i) {
    const auto at = golden["index"][i].get<size_t>();
    ASSERT_LT(at, values.size());
    EXPECT_NEAR(values[at], golden["value"][i].get<double>(), k_tolerance * scale) << "element " << at;
  }
}

void expect_golden(const json& golden, const CompiledModel& model, const std::vector<ir::Tensor>& outputs) {
  for (const auto& [name, output] : golden["outputs"].items()) {
    SCOPED_TRACE(name);
    expect_samples(output, model.output(outputs, name));
  }
}

/// Not run by the interpreter too: large topologies of constant weights.
bool is_light(const std::string& name) {
  return name.starts_with("light/");
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  if (!has_data("models/golden_lcg.json")) return {"none"};
  const json goldens = read_json(data_path("models/golden_lcg.json"));
  for (const auto& [name, golden] : goldens.items()) names.push_back(name);
  return names;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, CompiledAndReferenceAgree) {
  ONEPASS_NEEDS_DATA("models/golden_lcg.json");
  const json golden = read_json(data_path("models/golden_lcg.json"))[GetParam()];
  const std::string input = golden["input"]["name"];
  const auto dims = golden["input"]["dims"].get<ir::Shape>();
  const CompiledModel model(GetParam().substr(0, GetParam().size() - 5), {{input, dims}});
  const std::vector<ir::Tensor> inputs = {
      verify::lcg_tensor(dims, golden["input"]["lo"].get<double>(), golden["input"]["hi"].get<double>())};
  expect_golden(golden, model, model.run(inputs));
  if (!is_light(GetParam())) expect_golden(golden, model, model.reference(inputs));
}

INSTANTIATE_TEST_SUITE_P(Every, Golden, ::testing::ValuesIn(golden_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

}  // namespace
}  // namespace onepass::test
