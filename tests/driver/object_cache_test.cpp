// SPDX-License-Identifier: Apache-2.0
#include "driver/object_cache.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>
#include <thread>

#include "base/diagnostic.h"
#include "base/files.h"
#include "driver/pipeline.h"
#include "ir/parser.h"

namespace onepass::test {
namespace {

namespace fs = std::filesystem;
using driver::ObjectCache;
using emit::Object;

Object object_of(size_t bytes, int value) {
  return Object(bytes, static_cast<std::byte>(value));
}

/// Four convolutions, of which the two in the middle are laid out alike, a pool and `tail`.
driver::Network network_with(const std::string& tail) {
  return driver::network_of(ir::parse(R"(graph g {
  x = input f32[1,8,9,9]
  w = constant f32[8,8,3,3] random(seed=1)
  v = constant f32[8,8,3,3] random(seed=2)
  a = Conv(x, w) {pads=[1,1,1,1]} @"first"
  b = Conv(a, v) {pads=[1,1,1,1]} @"second"
  c = Conv(b, w) {pads=[1,1,1,1]} @"third"
  e = Conv(c, v) {pads=[1,1,1,1]} @"fourth"
  d = MaxPool(e) {kernel_shape=[2,2], strides=[2,2]} @"pool"
)" + tail + "\n  output y\n}\n"));
}

std::vector<std::byte> compiled(const driver::Network& network, const std::string& cache,
                                const std::string& path) {
  driver::CompileOptions options{.object_cache = cache};
  driver::write_artefact(network, driver::plan_network(network, options), options, path);
  return read_file(path);
}

std::set<std::string> files_of(const std::string& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

}  // namespace

TEST(ObjectCache, FindsWhatWasKeptUnderItsKeyAlone) {
  const TemporaryFolder folder;
  const ObjectCache cache(folder.file("new/objects"));
  EXPECT_FALSE(cache.find("a"));
  cache.keep("a", object_of(100, 1));
  EXPECT_EQ(cache.find("a"), object_of(100, 1));
  EXPECT_FALSE(cache.find("b"));
  cache.keep("a", object_of(50, 2));
  EXPECT_EQ(ObjectCache(cache.folder()).find("a"), object_of(50, 2));
  EXPECT_EQ(files_of(cache.folder()).size(), 1u) << "nothing unfinished stays";
}

TEST(ObjectCache, TakesNoDamagedEntry) {
  const TemporaryFolder folder;
  const ObjectCache cache(folder.path());
  cache.keep("key", object_of(64, 7));
  const std::vector<std::byte> whole = read_file(cache.path_of("key"));
  for (size_t at = 0; at < whole.size(); ++at) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{0x10};
    write_file(cache.path_of("key"), damaged);
    EXPECT_FALSE(cache.find("key")) << "byte " << at;
    write_file(cache.path_of("key"), std::span(whole).first(at));
    EXPECT_FALSE(cache.find("key")) << "cut short to " << at;
  }
  std::vector<std::byte> longer = whole;
  longer.push_back(std::byte{0});
  write_file(cache.path_of("key"), longer);
  EXPECT_FALSE(cache.find("key"));
  cache.keep("key", object_of(64, 7));
  EXPECT_EQ(cache.find("key"), object_of(64, 7));
}

TEST(ObjectCache, TakesNoEntryOfAnotherKeyWithTheSameName) {
  const TemporaryFolder folder;
  const ObjectCache cache(folder.path());
  cache.keep("one", object_of(10, 1));
  fs::rename(cache.path_of("one"), cache.path_of("two"));
  EXPECT_FALSE(cache.find("two"));
}

TEST(ObjectCache, DeletesWhatWasUsedLongestAgo) {
  const TemporaryFolder folder;
  const ObjectCache cache(folder.path(), 3500);
  const auto now = fs::file_time_type::clock::now();
  for (int i = 0; i < 4; ++i) {
    const std::string key = std::to_string(i);
    cache.keep(key, object_of(1000, i));
    fs::last_write_time(cache.path_of(key), now - std::chrono::hours(10 - i));
  }
  write_file(folder.file("other"), "not ours");
  EXPECT_TRUE(cache.find("0"));  // used now
  cache.trim();
  EXPECT_TRUE(cache.find("0"));
  EXPECT_FALSE(cache.find("1"));
  EXPECT_TRUE(cache.find("2"));
  EXPECT_TRUE(cache.find("3"));
  EXPECT_TRUE(fs::exists(folder.file("other")));
}

TEST(ObjectCache, RefusesAFolderThatCannotBeOne) {
  const TemporaryFolder folder;
  write_file(folder.file("file"), "x");
  for (const char* name : {"file", "file/below"}) {
    try {
      const ObjectCache cache(folder.file(name));
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.diagnostics().front().code, "bad_cache");
    }
  }
}

TEST(ObjectCache, TheArtefactHasTheSameBytesWithAndWithoutIt) {
  const TemporaryFolder folder;
  const std::string cache = folder.file("cache");
  const driver::Network network = network_with("  y = Relu(d)");
  const std::vector<std::byte> plain = compiled(network, "", folder.file("a.so"));
  EXPECT_EQ(compiled(network, cache, folder.file("b.so")), plain) << "cold";
  EXPECT_EQ(compiled(network, cache, folder.file("c.so")), plain) << "warm";
  const std::set<std::string> names = files_of(cache);
  ASSERT_GE(names.size(), 2u);
  for (const std::string& name : names) fs::resize_file(cache + "/" + name, 100);
  EXPECT_EQ(compiled(network, cache, folder.file("d.so")), plain) << "every entry cut short";
  EXPECT_EQ(files_of(cache), names);
  for (const std::string& name : names) EXPECT_GT(fs::file_size(cache + "/" + name), 100u) << "mended";
}

TEST(ObjectCache, AChangedNetworkReusesTheKernelsThatItKeeps) {
  const TemporaryFolder folder;
  const std::string both = folder.file("both"), alone = folder.file("alone");
  const driver::Network changed = network_with("  y = Sigmoid(d)\n");
  compiled(changed, alone, folder.file("a.so"));
  const std::set<std::string> needed = files_of(alone);
  compiled(network_with("  n = Neg(d)\n  y = Relu(n)"), both, folder.file("b.so"));
  const std::set<std::string> before = files_of(both);
  compiled(changed, both, folder.file("c.so"));
  std::set<std::string> all = before;
  all.insert(needed.begin(), needed.end());
  EXPECT_EQ(files_of(both), all);
  EXPECT_LT(all.size(), before.size() + needed.size() - 1) << "at least two kernels are shared";
}

TEST(ObjectCache, EqualKernelsOfANetworkAreCompiledOnce) {
  const driver::Program program = driver::plan_network(network_with("  y = Relu(d)"), {});
  std::set<std::string> symbols;
  for (const plan::Launch& launch : program.plan.launches)
    if (launch.family != "routine") symbols.insert(launch.symbol);
  EXPECT_EQ(program.plan.kernels.size(), symbols.size());
  EXPECT_LT(symbols.size(), program.plan.launches.size());
}

TEST(ObjectCache, SeveralCompilesMayShareIt) {
  const TemporaryFolder folder;
  const std::string cache = folder.file("cache");
  const driver::Network network = network_with("  y = Relu(d)");
  const std::vector<std::byte> plain = compiled(network, "", folder.file("plain.so"));
  std::vector<std::vector<std::byte>> results(4);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < results.size(); ++i)
      threads.emplace_back(
          [&, i] { results[i] = compiled(network, cache, folder.file(std::to_string(i) + ".so")); });
  }
  for (const std::vector<std::byte>& result : results) EXPECT_EQ(result, plain);
}

TEST(ObjectCache, AKeySaysEverythingThatAnObjectDependsOn) {
  const driver::Program program =
      driver::plan_network(network_with("  y = Relu(d)"), {.target = "x86-64-v3"});
  const loops::LoopNest& nest = program.plan.kernels.front();
  const std::string key = emit::object_key(nest, targets::find("x86-64-v3"));
  EXPECT_EQ(key, emit::object_key(nest, targets::find("x86-64-v3")));
  EXPECT_NE(key, emit::object_key(nest, targets::find("x86-64-v4")));
  loops::LoopNest renamed = nest;
  renamed.name += "x";
  EXPECT_NE(key, emit::object_key(renamed, targets::find("x86-64-v3")));
}

}  // namespace onepass::test
