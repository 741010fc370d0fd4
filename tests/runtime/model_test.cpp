// SPDX-License-Identifier: Apache-2.0
//
// The C ABI of a compiled model and its loader.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <thread>
#include <vector>

#include "artefact/arena_layout.h"
#include "base/diagnostic.h"
#include "emit/emit.h"
#include "runtime/exports.h"
#include "runtime/guarded_memory.h"
#include "runtime/inside_archive.h"
#include "runtime/loaded_model.h"
#include "runtime/model_builder.h"
#include "runtime/weights_memory.h"

namespace onepass::test {
namespace {

using runtime::LoadedModel;

/// A net of several launches with scratch, a counted output and an index that the caller can get wrong.
constexpr const char* k_net =
    "x = input f32[2,8,30,40]\ni = input i64[5]\nb = input f32[1,30,4]\ns = input f32[1,1,30]\n"
    "w = constant f32[8,8,3,3] random(seed=3)\nc = Conv(x, w) {pads=[1,1,1,1]}\nr = Relu(c)\n"
    "sc = constant f32[4] {1, 1, 2, 2}\nu = Resize(r, _, sc) {mode=\"linear\"}\n"
    "p = MaxPool(u) {kernel_shape=[2,2], strides=[2,2]}\ny = Add(p, x)\noutput y\n"
    "g = Gather(x, i) {axis=2}\noutput g\n"
    "m = constant i64[] {6}\nq = NonMaxSuppression(b, s, m)\noutput q\n";

class Model : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TemporaryFolder;
    RoutineModel routines;
    routines.add(typed_graph(k_net));
    description = new artefact::Description(routines.description);
    path = new std::string(link_model(routines.description, routines.weights, *folder));
  }
  static void TearDownTestSuite() {
    delete path;
    delete description;
    delete folder;
  }

  static inline TemporaryFolder* folder = nullptr;
  static inline artefact::Description* description = nullptr;
  static inline std::string* path = nullptr;
};

/// Buffers for one run, and the call record that uses them.
struct Buffers {
  explicit Buffers(const LoadedModel& model, int threads = 1) {
    for (const artefact::TensorRecord& t : model.inputs()) memories.emplace_back(t.size_bytes, 64, true);
    for (const artefact::TensorRecord& t : model.outputs()) memories.emplace_back(t.size_bytes, 64, true);
    memories.emplace_back(model.arena_bytes(threads), 64, true);
    for (size_t i = 0; i < memories.size(); ++i) addresses.push_back(memories[i].data());
    fill();
    memories.back().fill(0xff);
    run = {.inputs = addresses.data(),
           .outputs = addresses.data() + model.inputs().size(),
           .arena = addresses.back(),
           .arena_bytes = memories.back().size_bytes(),
           .threads = threads,
           .output_dims = dims};
  }

  /// Plain values; boxes in rows that do not overlap.
  void fill() {
    auto* x = static_cast<float*>(addresses[0]);
    for (size_t i = 0; i < memories[0].size_bytes() / 4; ++i) x[i] = std::sin(static_cast<float>(i));
    auto* index = static_cast<int64_t*>(addresses[1]);
    for (int i = 0; i < 5; ++i) index[i] = i * 7 - 14;
    for (int i = 0; i < 30; ++i) {
      const float row = static_cast<float>(i);
      const float corners[4] = {row, 0, row + 0.5f, 1};
      std::memcpy(static_cast<float*>(addresses[2]) + 4 * i, corners, sizeof corners);
      static_cast<float*>(addresses[3])[i] = row;
    }
  }

  std::vector<char> results() const {
    std::vector<char> all;
    for (size_t i = 4; i < 7; ++i) {
      const auto* bytes = static_cast<const char*>(memories[i].data());
      all.insert(all.end(), bytes, bytes + memories[i].size_bytes());
    }
    return all;
  }

  std::vector<runtime::GuardedMemory> memories;
  std::vector<void*> addresses;
  int64_t dims[3][ONEPASS_MAX_RANK] = {};
  onepass_run run{};
};

std::vector<char> results_alone(const LoadedModel& model) {
  Buffers buffers(model);
  EXPECT_EQ(model.run(buffers.run), ONEPASS_OK);
  return buffers.results();
}

TEST_F(Model, ReadsTheWeightsThatTheRunNames) {
  const LoadedModel model(*path);
  const auto bytes = static_cast<size_t>(model.record().weights_bytes);
  ASSERT_GT(bytes, 0U);
  runtime::GuardedMemory copy(bytes, 64, true);
  std::memcpy(copy.data(), model.record().weights, bytes);
  Buffers same(model);
  same.run.weights = copy.data();
  EXPECT_EQ(model.run(same.run), ONEPASS_OK);
  EXPECT_EQ(same.results(), results_alone(model));
  copy.fill(0);
  Buffers other(model);
  other.run.weights = copy.data();
  model.run(other.run);
  EXPECT_NE(other.results(), results_alone(model));
  other.run.weights = static_cast<char*>(copy.data()) + 1;
  EXPECT_EQ(model.run(other.run), ONEPASS_BAD_ALIGNMENT);
}

TEST(WeightsMemory, IsACopyOnLargePagesOrNothing) {
  std::vector<uint32_t> few(1000, 7), many((5 << 20) / 4);
  std::iota(many.begin(), many.end(), 0U);
  EXPECT_EQ(runtime::WeightsMemory(few.data(), few.size() * 4).data(), nullptr);
  runtime::WeightsMemory memory(many.data(), many.size() * 4);
  const void* copy = memory.data();
  if (copy != nullptr) {  // what the system gives is whole and aligned
    EXPECT_EQ(reinterpret_cast<uintptr_t>(copy) % (2 << 20), 0U);
    EXPECT_EQ(std::memcmp(copy, many.data(), many.size() * 4), 0);
  }
  runtime::WeightsMemory moved = std::move(memory);
  EXPECT_EQ(memory.data(), nullptr);  // NOLINT(bugprone-use-after-move): it is empty then
  EXPECT_EQ(moved.data(), copy);
}

TEST_F(Model, DescribesItself) {
  const LoadedModel model(*path);
  ASSERT_EQ(model.inputs().size(), 4U);
  EXPECT_STREQ(model.inputs()[0].name, "x");
  EXPECT_EQ(model.inputs()[1].dtype, artefact::DataType::i64);
  EXPECT_EQ(model.outputs()[2].counted_axis, 0);
  EXPECT_EQ(model.outputs()[2].dims[0], 6);
  EXPECT_EQ(model.launches().size(), 7U);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(model.record().weights) % 4096, 0U);
  EXPECT_EQ(model.arena_bytes(0), 0U);
  EXPECT_EQ(model.arena_bytes(-1), 0U);
  EXPECT_EQ(model.arena_bytes(3) - model.arena_bytes(2), model.arena_bytes(2) - model.arena_bytes(1));
}

TEST_F(Model, ReturnsActualExtents) {
  const LoadedModel model(*path);
  Buffers buffers(model);
  ASSERT_EQ(model.run(buffers.run), ONEPASS_OK);
  EXPECT_EQ(buffers.dims[2][0], 6);
  EXPECT_EQ(buffers.dims[0][1], 8);
  float* scores = static_cast<float*>(buffers.addresses[3]);
  for (int i = 0; i < 30; ++i) scores[i] = std::nanf("");
  scores[4] = 1;
  ASSERT_EQ(model.run(buffers.run), ONEPASS_OK);
  EXPECT_EQ(buffers.dims[2][0], 1);
  const auto* rows = static_cast<const int64_t*>(buffers.addresses[6]);
  EXPECT_THAT(std::vector<int64_t>(rows, rows + 6), ::testing::ElementsAre(0, 0, 4, 0, 0, 0));
}

TEST_F(Model, RefusesBadArguments) {
  const LoadedModel model(*path);
  Buffers buffers(model);
  const auto status = [&](auto change) {
    onepass_run run = buffers.run;
    change(run);
    return model.run(run);
  };
  using Run = onepass_run&;
  EXPECT_EQ(status([](Run r) { r.threads = 0; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.threads = 2; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.inputs = nullptr; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.outputs = nullptr; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.arena = nullptr; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.end_launch = 8; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.first_launch = -1; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.first_launch = 3, r.end_launch = 2; }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { --r.arena_bytes; }), ONEPASS_ARENA_TOO_SMALL);
  EXPECT_EQ(status([](Run r) { r.arena = static_cast<char*>(r.arena) + 32; }), ONEPASS_BAD_ALIGNMENT);
  std::vector<const void*> inputs(buffers.addresses.begin(), buffers.addresses.begin() + 4);
  inputs[0] = static_cast<const char*>(inputs[0]) + 2;
  EXPECT_EQ(status([&](Run r) { r.inputs = inputs.data(); }), ONEPASS_BAD_ALIGNMENT);
  inputs[0] = nullptr;
  EXPECT_EQ(status([&](Run r) { r.inputs = inputs.data(); }), ONEPASS_BAD_ARGUMENT);
  EXPECT_EQ(status([](Run r) { r.output_dims = nullptr; }), ONEPASS_OK);
}

TEST_F(Model, ReportsAnIndexOutOfRange) {
  const LoadedModel model(*path);
  runtime::Session session(model, 2, true);
  Buffers buffers(model);
  for (int i = 0; i < 4; ++i)
    std::memcpy(session.input(i), buffers.memories[i].data(), buffers.memories[i].size_bytes());
  EXPECT_NO_THROW(session.run());
  for (const int64_t index : {int64_t{30}, int64_t{-31}, INT64_MAX, INT64_MIN}) {
    std::memcpy(session.input(1), &index, sizeof index);
    try {
      session.run();
      ADD_FAILURE() << "index " << index;
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostics()[0].code, "bad_input");
    }
  }
}

/// A host that has one thread: everything in a row, the last task first.
void backwards(void*, int count, void (*task)(void*, int), void* context) {
  for (int i = count - 1; i >= 0; --i) task(context, i);
}

void with_threads(void*, int count, void (*task)(void*, int), void* context) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back(task, context, i);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Model, AnyPoolGivesTheSameBits) {
  const LoadedModel model(*path);
  const std::vector<char> alone = results_alone(model);
  for (const auto pool : {&backwards, &with_threads})
    for (const int threads : {2, 3, 7}) {
      Buffers buffers(model, threads);
      buffers.run.parallel_for = pool;
      for (int repeat = 0; repeat < 20; ++repeat) ASSERT_EQ(model.run(buffers.run), ONEPASS_OK);
      EXPECT_TRUE(buffers.results() == alone) << threads << " threads";
    }
}

TEST_F(Model, RunsAtTheSameTimeWithItsOwnBuffers) {
  const LoadedModel model(*path);
  const std::vector<char> alone = results_alone(model);
  std::vector<std::thread> threads;
  std::vector<std::vector<char>> results(3);
  for (std::vector<char>& result : results) threads.emplace_back([&] { result = results_alone(model); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<char>& result : results) EXPECT_TRUE(result == alone);
}

TEST_F(Model, LaunchesOneByOneAreTheWholeRun) {
  const LoadedModel model(*path);
  const std::vector<char> alone = results_alone(model);
  Buffers buffers(model);
  for (int i = 0; i < 7; ++i) {
    buffers.run.first_launch = i;
    buffers.run.end_launch = i + 1;
    ASSERT_EQ(model.run(buffers.run), ONEPASS_OK);
  }
  EXPECT_TRUE(buffers.results() == alone);
}

TEST_F(Model, SessionReusesItsThreads) {
  const LoadedModel model(*path);
  Buffers buffers(model);
  runtime::Session session(model, 3);
  for (int i = 0; i < 4; ++i)
    std::memcpy(session.input(i), buffers.memories[i].data(), buffers.memories[i].size_bytes());
  ASSERT_EQ(model.run(buffers.run), ONEPASS_OK);
  for (int repeat = 0; repeat < 50; ++repeat) {
    session.run();
    ASSERT_EQ(std::memcmp(session.output(0), buffers.memories[4].data(), buffers.memories[4].size_bytes()),
              0);
    if (repeat % 10 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(session.output_dims(2), (std::vector<int64_t>{6, 3}));
}

TEST_F(Model, NeedsLibcAndLibmAlone) {
  void* library = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr);
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  const char* strings = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
  ASSERT_NE(strings, nullptr);
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED)
      EXPECT_THAT(strings + entry->d_un.d_val,
                  ::testing::AnyOf(::testing::StrEq("libc.so.6"), ::testing::StrEq("libm.so.6")));
  for (const char* symbol : runtime::k_exported_symbols) EXPECT_NE(dlsym(library, symbol), nullptr) << symbol;
  EXPECT_EQ(dlsym(library, "onepass_model_record"), nullptr);
  EXPECT_EQ(dlsym(library, "onepass_conv_f32"), nullptr);
  dlclose(library);
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST_F(Model, TheSameDescriptionGivesTheSameBytes) {
  RoutineModel routines;
  routines.add(typed_graph(k_net));
  const TemporaryFolder other;
  const std::string again = link_model(routines.description, routines.weights, other);
  EXPECT_TRUE(bytes_of(*path) == bytes_of(again));
}

std::string code_of_loading(const std::string& path) {
  try {
    const LoadedModel model(path);
  } catch (const Error& error) {
    return error.diagnostics()[0].code;
  }
  return "loaded";
}

/// The model with one piece of its assembly text replaced.
std::string with_text(const artefact::Description& description, const std::string& from,
                      const std::string& to, const TemporaryFolder& folder) {
  const targets::Target& target = targets::find("x86-64-v3");
  artefact::Description plain = description;
  plain.weights_bytes = 0;
  std::string text = artefact::data_assembly(plain, "");
  const size_t at = text.find(from);
  require(at != std::string::npos, "the text to be replaced is there");
  const emit::Object object = emit::assemble(text.replace(at, from.size(), to), target);
  std::ofstream(folder / "data.o", std::ios::binary)
      .write(reinterpret_cast<const char*>(object.data()), static_cast<std::streamsize>(object.size()));
  const auto archive = runtime::inside_archive();
  std::ofstream(folder / "inside.a", std::ios::binary)
      .write(reinterpret_cast<const char*>(archive.data()), static_cast<std::streamsize>(archive.size()));
  emit::LinkInput input{
      .object_paths = {folder / "data.o", folder / "inside.a"}, .exported = {}, .soname = "m.so"};
  input.exported.assign(runtime::k_exported_symbols.begin(), runtime::k_exported_symbols.end());
  emit::link_shared(input, target, folder / "m.so");
  return folder / "m.so";
}

TEST_F(Model, LoaderRefusesWhatIsNoModel) {
  const TemporaryFolder other;
  EXPECT_EQ(code_of_loading(other / "missing.so"), "cannot_load");
  std::ofstream(other / "text.so") << "not a shared object";
  EXPECT_EQ(code_of_loading(other / "text.so"), "cannot_load");
  void* libm = dlopen("libm.so.6", RTLD_NOW);
  ASSERT_NE(libm, nullptr);
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(libm, RTLD_DI_LINKMAP, &map), 0);
  EXPECT_EQ(code_of_loading(map->l_name), "not_an_artefact");
  dlclose(libm);
  const std::string magic = " .quad " + std::to_string(artefact::k_magic) + "\n";
  EXPECT_EQ(code_of_loading(with_text(*description, magic, " .quad 5\n", other)), "not_an_artefact");
  EXPECT_EQ(
      code_of_loading(with_text(*description, magic + fmt::format(" .long {}\n", artefact::k_format_version),
                                magic + " .long 99\n", other)),
      "wrong_version");
}

TEST_F(Model, CanBeMoved) {
  LoadedModel first(*path);
  LoadedModel second(std::move(first));
  EXPECT_EQ(second.launches().size(), 7U);
  LoadedModel third(*path);
  third = std::move(second);
  EXPECT_FALSE(results_alone(third).empty());
}

TEST(GuardedMemoryDeathTest, EndsAtAnInaccessiblePage) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  runtime::GuardedMemory memory(100, 4, true);
  auto* bytes = static_cast<volatile char*>(memory.data());
  bytes[99] = 1;
  EXPECT_DEATH(bytes[100] = 1, "");
  runtime::GuardedMemory aligned(128, 64, true);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(aligned.data()) % 64, 0U);
  EXPECT_DEATH(static_cast<volatile char*>(aligned.data())[128] = 1, "");
  EXPECT_DEATH(static_cast<volatile char*>(aligned.data())[-4096] = 1, "");
}

}  // namespace
}  // namespace onepass::test
