// SPDX-License-Identifier: Apache-2.0
#include "budget/allocation.h"

#include <gtest/gtest.h>

#include <cmath>

namespace onepass::test {
namespace {

using budget::Allocation;
using budget::Layer;

enum : size_t { k_accurate, k_middle, k_fast };

/// Three ways: slow and accurate, in between, fast and inaccurate.
Layer layer(double sensitivity, double time_ns = 100) {
  return {.name = "l",
          .sensitivity = sensitivity,
          .candidates = {{0, time_ns, 1e-7}, {1, 0.6 * time_ns, 1e-6}, {2, 0.5 * time_ns, 1e-4}}};
}

TEST(Allocation, AGenerousBudgetGivesTheFastestEverywhere) {
  const Allocation allocation = budget::allocate(std::vector{layer(1), layer(10)}, 1);
  EXPECT_TRUE(allocation.holds);
  EXPECT_EQ(allocation.chosen, (std::vector<size_t>{k_fast, k_fast}));
  EXPECT_EQ(allocation.fastest, allocation.chosen);
  EXPECT_DOUBLE_EQ(allocation.predicted, std::hypot(1e-4, 10 * 1e-4));
}

TEST(Allocation, ABudgetThatNothingHoldsGivesTheMostAccurateEverywhere) {
  const Allocation allocation = budget::allocate(std::vector{layer(1), layer(10)}, 1e-9);
  EXPECT_FALSE(allocation.holds);
  EXPECT_EQ(allocation.chosen, (std::vector<size_t>{k_accurate, k_accurate}));
}

TEST(Allocation, TheLayerThatAmplifiesIsDemoted) {
  const Allocation allocation = budget::allocate(std::vector{layer(0.1), layer(50), layer(0.1)}, 1e-4);
  EXPECT_TRUE(allocation.holds);
  EXPECT_EQ(allocation.chosen, (std::vector<size_t>{k_fast, k_middle, k_fast}));
  EXPECT_EQ(allocation.fastest[1], k_fast);
}

TEST(Allocation, OfTwoEquallySensitiveLayersTheCheaperOneIsDemoted) {
  const Allocation allocation = budget::allocate(std::vector{layer(1, 1000), layer(1, 10)}, 1.1e-4);
  EXPECT_TRUE(allocation.holds);
  EXPECT_EQ(allocation.chosen, (std::vector<size_t>{k_fast, k_middle}));
}

TEST(Allocation, WhatALaterStepMadeSuperfluousIsTakenBack) {
  // The small layer is worth more error for its time and goes first; only the large one brings the total
  // under the budget, and then the small one need not stay.
  const Layer small{.name = "small", .sensitivity = 1, .candidates = {{0, 2, 0}, {1, 1, 3e-5}}};
  const Layer large{.name = "large", .sensitivity = 1, .candidates = {{0, 101, 0}, {1, 1, 1e-4}}};
  const Allocation allocation = budget::allocate(std::vector{small, large}, 5e-5);
  EXPECT_TRUE(allocation.holds);
  EXPECT_EQ(allocation.chosen, (std::vector<size_t>{1, 0}));
}

TEST(Allocation, ACandidateThatIsSlowerAndNoMoreAccurateIsNeverChosen) {
  Layer dominated = layer(1);
  dominated.candidates[k_accurate].error = 1e-5;  // worse than the middle one, and slower
  EXPECT_EQ(budget::allocate(std::vector{dominated}, 1e-12).chosen.at(0), k_middle);
}

TEST(Allocation, AnInfiniteSensitivityGivesTheMostAccurate) {
  const Allocation allocation = budget::allocate(std::vector{layer(HUGE_VAL), layer(0)}, 1e-3);
  EXPECT_EQ(allocation.chosen, (std::vector<size_t>{k_accurate, k_fast}));
}

TEST(Allocation, NeverSpendsMoreThanTheBudgetAndIsTheSameTwice) {
  std::vector<Layer> layers;
  for (int i = 0; i < 60; ++i) layers.push_back(layer(std::pow(1.3, i % 17), 10 + i * 7 % 31));
  for (double budget : {1e-3, 3e-4, 1e-4, 3e-5}) {
    const Allocation allocation = budget::allocate(layers, budget);
    double variance = 0;
    for (size_t i = 0; i < layers.size(); ++i)
      variance += std::pow(budget::contribution(layers[i], layers[i].candidates[allocation.chosen[i]]), 2);
    EXPECT_DOUBLE_EQ(allocation.predicted, std::sqrt(variance));
    EXPECT_EQ(allocation.holds, allocation.predicted <= budget);
    EXPECT_TRUE(allocation.holds) << budget;
    EXPECT_EQ(allocation.chosen, budget::allocate(layers, budget).chosen);
  }
}

}  // namespace
}  // namespace onepass::test
