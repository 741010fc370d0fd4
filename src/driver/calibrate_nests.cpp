// SPDX-License-Identifier: Apache-2.0
#include "driver/calibrate_nests.h"

#include "loops/builder.h"

namespace onepass::driver {

namespace {

constexpr int k_sums = 8;  ///< enough to hide the latency of an addition behind two loads a cycle

/// A nest around the reading of one slice of 16 KiB that begins at the element that `at` says.
class ReadNest {
 public:
  ReadNest(const char* name, const targets::Target& target, int64_t elems)
      : b_(name),
        lanes_(target.vector_lanes),
        src_(b_.input("src", elems, 64)),
        dst_(b_.output("dst", k_sums * lanes_, 64)),
        sums_(b_.registers("sums", {loops::Scalar::f32, lanes_}, k_sums)) {}

  loops::Affine slices(int64_t count) { return b_.slices(count); }
  loops::Builder& builder() { return b_; }

  void clear() {
    b_.unrolled("i", k_sums, [&](loops::Affine i) { b_.assign(sums_, i, loops::constant(0, lanes_)); });
  }
  void add(const loops::Affine& at) {
    b_.loop("x", 0, k_read_slice_bytes / 4, k_sums * lanes_, [&](loops::Affine x) {
      b_.unrolled("i", k_sums, [&](loops::Affine i) {
        const loops::Value value = b_.load(src_, at + x + i * lanes_, lanes_);
        b_.assign(sums_, i, loops::binary(loops::Binary::add, b_.read(sums_, i), value));
      });
    });
  }
  loops::LoopNest finish() {
    b_.unrolled("i", k_sums, [&](loops::Affine i) { b_.store(dst_, i * lanes_, b_.read(sums_, i)); });
    return b_.finish();
  }

 private:
  loops::Builder b_;
  int lanes_;
  loops::BufferId src_, dst_;
  loops::RegisterId sums_;
};

}  // namespace

loops::LoopNest read_nest(const targets::Target& target, int64_t bytes) {
  ReadNest nest("onepass_read", target, bytes / 4);
  const loops::Affine slice = nest.slices(bytes / k_read_slice_bytes);
  nest.clear();
  nest.add(slice * (k_read_slice_bytes / 4));
  return nest.finish();
}

loops::LoopNest read_again_nest(const targets::Target& target, int64_t repeats) {
  ReadNest nest("onepass_read_again", target, k_read_slice_bytes / 4);
  nest.slices(1);
  nest.clear();
  nest.builder().loop("again", 0, repeats, 1, [&](loops::Affine) { nest.add(0); });
  return nest.finish();
}

loops::LoopNest tile_nest(int64_t steps) {
  constexpr int64_t k_tile_elems = loops::k_tile_rows * loops::k_tile_words;
  loops::Builder b("onepass_tiles");
  const loops::BufferId src = b.stream("src", 4 * k_tile_elems, 64, loops::Scalar::i32);
  const loops::BufferId dst = b.output("dst", 4 * k_tile_elems, 64);
  b.tiles(loops::k_most_tiles);
  b.slices(1);
  for (int i = 0; i < 4; ++i) b.tile_zero(i);
  for (int i = 0; i < 4; ++i) b.tile_load(4 + i, src, i * k_tile_elems);
  b.loop("step", 0, steps, 1, [&](loops::Affine) {
    for (int i = 0; i < 4; ++i) b.tile_product(i, 4 + i / 2, 6 + i % 2);
  });
  for (int i = 0; i < 4; ++i) b.tile_store(i, dst, i * k_tile_elems);
  return b.finish();
}

}  // namespace onepass::driver
