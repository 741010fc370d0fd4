// SPDX-License-Identifier: Apache-2.0
//
// The arena that the plan asks for beside the memory that a run touches.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver/pipeline.h"
#include "ir/parser.h"

namespace onepass::test {
namespace {

/// Fresh pages: none is there before it is touched.
class FreshPages {
 public:
  explicit FreshPages(size_t bytes)
      : bytes_(bytes),
        data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    EXPECT_NE(data_, MAP_FAILED);
    ::madvise(data_, bytes, MADV_NOHUGEPAGE);
  }
  ~FreshPages() { ::munmap(data_, bytes_); }
  FreshPages(const FreshPages&) = delete;
  FreshPages& operator=(const FreshPages&) = delete;
  void* data() const { return data_; }

  /// For each page, whether it was read or written.
  std::vector<bool> touched() const {
    const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> resident((bytes_ + page_bytes - 1) / page_bytes);
    EXPECT_EQ(::mincore(data_, bytes_, resident.data()), 0);
    std::vector<bool> result;
    for (const unsigned char page : resident) result.push_back((page & 1) != 0);
    return result;
  }

 private:
  size_t bytes_;
  void* data_;
};

driver::Network network() {
  return driver::network_of(ir::parse(R"(graph g {
  x = input f32[1,3,64,64]
  w = constant f32[24,3,3,3] random(seed=1)
  v = constant f32[24,24,3,3] random(seed=2)
  a = Conv(x, w) {pads=[1,1,1,1], strides=[1,1]} @"first"
  b = Relu(a) @"relu"
  c = Conv(b, v) {pads=[1,1,1,1]} @"second"
  d = Add(b, c) @"add"
  y = GlobalAveragePool(d) @"pool"
  output y
})"));
}

}  // namespace

class ArenaThreads : public testing::TestWithParam<int> {};

TEST_P(ArenaThreads, ARunTouchesThePlannedPagesAndNoOther) {
  const auto page_bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const driver::Network net = network();
  const driver::Program program = driver::plan_network(net, {});
  const runtime::LoadedModel model = driver::load_program(net, program, {});
  ASSERT_GT(program.plan.arena_bytes, 50 * static_cast<int64_t>(page_bytes));
  const size_t arena_bytes = model.arena_bytes(GetParam());
  ASSERT_GE(arena_bytes, static_cast<size_t>(program.plan.arena_bytes));
  const size_t behind_bytes = 64 * page_bytes;  // to see what lies behind the arena
  FreshPages pages((arena_bytes + page_bytes - 1) / page_bytes * page_bytes + behind_bytes);
  std::vector<float> x(3 * 64 * 64, 0.5F), y(24);
  const void* inputs[] = {x.data()};
  void* outputs[] = {y.data()};
  // A pool that does one task after the other: the walker has to cope with any.
  const auto in_turn = [](void*, int count, void (*task)(void*, int), void* context) {
    for (int i = 0; i < count; ++i) task(context, i);
  };
  const onepass_run run{.inputs = inputs,
                        .outputs = outputs,
                        .arena = pages.data(),
                        .arena_bytes = arena_bytes,
                        .threads = GetParam(),
                        .parallel_for = in_turn};
  ASSERT_EQ(model.run(run), ONEPASS_OK);
  const std::vector<bool> touched = pages.touched();
  const size_t planned_pages = (static_cast<size_t>(program.plan.arena_bytes) + page_bytes - 1) / page_bytes;
  const size_t arena_pages = (arena_bytes + page_bytes - 1) / page_bytes;
  for (size_t page = 0; page < touched.size(); ++page) {
    if (page < planned_pages) {
      EXPECT_TRUE(touched[page]) << "page " << page << " is planned for nothing";
    } else if (page >= arena_pages) {
      EXPECT_FALSE(touched[page]) << "page " << page << " lies behind the arena";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Count, ArenaThreads, testing::Values(1, 3));

}  // namespace onepass::test
