// SPDX-License-Identifier: Apache-2.0
#include "verify/frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/diagnostic.h"
#include "base/files.h"

namespace onepass::verify::test {
namespace {

ir::Graph graph_of(const ir::Shape& shape) {
  ir::Graph graph;
  graph.add_input("x", {ir::DType::f32, shape});
  return graph;
}

void write_pixel(const std::string& path, char value) {
  write_file(path, std::string("P6\n1 1\n255\n") + std::string(3, value));
}

/// Three pictures of one pixel: 10, 20 and 30, one of them a folder deeper.
void fill(const TemporaryFolder& folder) {
  std::filesystem::create_directory(folder.file("b"));
  write_pixel(folder.file("a.ppm"), 10);
  write_pixel(folder.file("b/a.ppm"), 20);
  write_pixel(folder.file("c.PPM"), 30);
  write_file(folder.file("notes.txt"), std::string_view("no picture"));
}

float first(const Frames& frames, int frame) {
  return frames.at(frame)[0].data<float>()[0];
}

TEST(Frames, TakesEveryPictureWholeThenVariations) {
  const TemporaryFolder folder;
  fill(folder);
  const ir::Graph graph = graph_of({1, 3, 1, 1});
  const Frames frames(graph, {.paths = {folder.path()}, .count = 6});
  EXPECT_EQ(first(frames, 0), 10);
  EXPECT_EQ(first(frames, 1), 20);
  EXPECT_EQ(first(frames, 2), 30);
  EXPECT_EQ(first(frames, 3), first(frames, 3));
  EXPECT_NE(first(frames, 5), 30);
  EXPECT_NE(frames.name(5).find("c.PPM (variation 5)"), std::string::npos);
}

TEST(Frames, ChoosesEvenlyAmongMany) {
  const TemporaryFolder folder;
  fill(folder);
  const ir::Graph graph = graph_of({1, 3, 1, 1});
  const Frames frames(graph, {.paths = {folder.path()}, .count = 2});
  EXPECT_EQ(first(frames, 0), 10);
  EXPECT_EQ(first(frames, 1), 20);
}

TEST(Frames, ABatchTakesSeveralPictures) {
  const TemporaryFolder folder;
  fill(folder);
  const ir::Graph graph = graph_of({3, 3, 1, 1});
  const Frames frames(graph, {.paths = {folder.path()}, .count = 1});
  EXPECT_THAT(frames.at(0)[0].data<float>(), ::testing::ElementsAre(10, 10, 10, 20, 20, 20, 30, 30, 30));
}

TEST(Frames, ReadsIdx) {
  const TemporaryFolder folder;
  const std::string pictures("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03\x04", 20);
  write_file(folder.file("pictures"), pictures);
  write_file(folder.file("labels"), std::string("\0\0\x08\x01\0\0\0\x02\x07\x09", 10));
  const ir::Graph graph = graph_of({1, 1, 1, 2});
  const Frames frames(graph, {.paths = {folder.file("pictures")},
                              .count = 2,
                              .preprocessing = {{"x", {.order = ChannelOrder::gray}}}});
  EXPECT_NEAR(frames.at(1)[0].data<float>()[0], 3, 1e-6);
  EXPECT_NEAR(frames.at(1)[0].data<float>()[1], 4, 1e-6);
  EXPECT_THAT(read_idx_labels(folder.file("labels")), ::testing::ElementsAre(7, 9));
  write_file(folder.file("short"), pictures.substr(0, 19));
  EXPECT_THROW(Frames(graph, {.paths = {folder.file("short")}}), Error);
  EXPECT_THROW(read_idx_labels(folder.file("pictures")), Error);
}

TEST(Frames, NoiseIsSeededAndInRange) {
  const ir::Graph graph = graph_of({1, 4});
  const Frames frames(graph, {.count = 2, .low = 2, .high = 3});
  const Frames again(graph, {.count = 2, .low = 2, .high = 3});
  EXPECT_THAT(frames.at(0)[0].data<float>(),
              ::testing::Each(::testing::AllOf(::testing::Ge(2), ::testing::Lt(3))));
  EXPECT_EQ(first(frames, 1), first(again, 1));
  EXPECT_NE(first(frames, 0), first(frames, 1));
}

TEST(Frames, RefusesMissingPicturesAndIntegerInputs) {
  const TemporaryFolder folder;
  const ir::Graph graph = graph_of({1, 3, 1, 1});
  EXPECT_THROW(Frames(graph, {.paths = {folder.path()}}), Error);
  EXPECT_THROW(Frames(graph, {.paths = {folder.file("missing")}}), Error);
  ir::Graph integers;
  integers.add_input("x", {ir::DType::i64, {1}});
  EXPECT_THROW(Frames(integers, {.count = 1}), Error);
}

TEST(Frames, LcgIsAsTheGoldensHaveIt) {
  const ir::Tensor tensor = lcg_tensor({2}, 0, 4294967296.0);
  const uint32_t s0 = 1664525U * 12345U + 1013904223U;
  EXPECT_EQ(tensor.data<float>()[0], static_cast<float>(s0));
  EXPECT_EQ(tensor.data<float>()[1], static_cast<float>(1664525U * s0 + 1013904223U));
}

}  // namespace
}  // namespace onepass::verify::test
