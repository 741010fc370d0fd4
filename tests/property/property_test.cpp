// SPDX-License-Identifier: Apache-2.0
//
// Seeded random networks against the properties of properties.h. A network that breaks one is reduced, and
// printed as a text case that can be added to tests/execute.
#include <gtest/gtest.h>

#include "property/network_text.h"
#include "property/properties.h"
#include "property/random_graph.h"
#include "property/reduce.h"

namespace onepass::test {
namespace {

constexpr uint32_t k_seeds = 48;
constexpr uint32_t k_few_seeds = 6;

std::string kind_of(const std::string& fault) {
  return fault.substr(0, fault.find(' '));
}

void expect_property(Property property, uint32_t seed) {
  const std::string text = random_graph(seed);
  const std::string fault = property(text);
  if (fault.empty()) return;
  const std::string reduced =
      reduce(text, [&](const std::string& smaller) { return kind_of(property(smaller)) == kind_of(fault); });
  ADD_FAILURE() << "seed " << seed << ": " << fault << "\nreduced: " << property(reduced) << "\n"
                << reduced << "\nas generated:\n"
                << text;
}

class EverySeed : public testing::TestWithParam<uint32_t> {};

TEST_P(EverySeed, Parity) {
  expect_property(parity, GetParam());
}
TEST_P(EverySeed, TextRoundTrip) {
  expect_property(text_round_trip, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, EverySeed, testing::Range(0U, k_seeds));

class FewSeeds : public testing::TestWithParam<uint32_t> {};

TEST_P(FewSeeds, OtherTargetsAreEqual) {
  expect_property(parity_of_other_targets, GetParam());
}
TEST_P(FewSeeds, ThreadsAgree) {
  expect_property(threads_agree, GetParam());
}
TEST_P(FewSeeds, SameArtefactBytes) {
  expect_property(same_artefact_bytes, GetParam());
}
TEST_P(FewSeeds, OnnxRoundTrip) {
  expect_property(onnx_round_trip, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Seeds, FewSeeds, testing::Range(1000U, 1000U + k_few_seeds));

TEST(RandomGraph, IsTheSameForTheSameSeed) {
  EXPECT_EQ(random_graph(3), random_graph(3));
  EXPECT_NE(random_graph(3), random_graph(4));
}

TEST(Reduce, KeepsWhatTheFaultNeedsAndNoMore) {
  const std::string text =
      graph_text({"x = input f32[1,4,4,4]", "s = constant f32[] {2.0}", "a = Relu(x)", "b = Mul(a, s)",
                  "c = Tanh(b)", "d = Add(c, a)", "e = Neg(a)", "output d", "output e"});
  const std::string reduced =
      reduce(text, [](const std::string& t) { return t.find("Tanh") != std::string::npos; });
  EXPECT_EQ(reduced, graph_text({"x = input f32[1,4,4,4]", "c = Tanh(x)", "output c"}));
}

}  // namespace
}  // namespace onepass::test
