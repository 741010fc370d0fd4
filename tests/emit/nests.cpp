// SPDX-License-Identifier: Apache-2.0
#include "emit/nests.h"

#include <fmt/format.h>

#include "loops/builder.h"

namespace onepass::test {

namespace {

using namespace loops;

LoopNest vector_add(int lanes) {
  Builder b(fmt::format("vector_add_{}", lanes));
  const int64_t blocks = 5;
  const BufferId x = b.input("x", 3 * blocks * lanes), y = b.input("y", 3 * blocks * lanes);
  const BufferId dst = b.output("dst", 3 * blocks * lanes);
  const Affine slice = b.slices(3);
  b.loop("block", 0, blocks, 1, [&](Affine block) {
    const Affine at = slice * (blocks * lanes) + block * lanes;
    b.store(dst, at, binary(Binary::add, b.load(x, at, lanes), b.load(y, at, lanes)));
  });
  return b.finish();
}

LoopNest unary_ops(int lanes) {
  Builder b(fmt::format("unary_ops_{}", lanes));
  constexpr Unary ops[] = {Unary::neg, Unary::abs, Unary::sqrt, Unary::floor, Unary::ceil, Unary::round_even};
  const int64_t blocks = 64 / lanes + 2, size = blocks * lanes;
  const BufferId x = b.input("x", size);
  const BufferId dst = b.output("dst", 10 * size);
  b.loop("block", 0, blocks, 1, [&](Affine block) {
    const Value value = b.load(x, block * lanes, lanes);
    int64_t row = 0;
    const auto put = [&](Value result) { b.store(dst, block * lanes + size * row++, std::move(result)); };
    for (const Unary op : ops) put(unary(op, value));
    put(unary(Unary::to_f32, unary(Unary::to_i32, value)));
    put(unary(Unary::bits_to_f32, unary(Unary::to_i32, value)));
    const Value bits = unary(Unary::bits_to_i32, value);
    put(unary(Unary::bits_to_f32, binary(Binary::bit_and, bits, constant_i32(-65536, lanes))));
    put(unary(Unary::to_f32, bits));
  });
  return b.finish();
}

LoopNest binary_ops(int lanes) {
  Builder b(fmt::format("binary_ops_{}", lanes));
  constexpr Binary ops[] = {Binary::add, Binary::sub, Binary::mul, Binary::div, Binary::max, Binary::min};
  const int64_t blocks = 600 / lanes, size = blocks * lanes;
  const BufferId x = b.input("x", size), y = b.input("y", size), z = b.input("z", size);
  const BufferId dst = b.output("dst", 14 * size);
  b.loop("block", 0, blocks, 1, [&](Affine block) {
    const Value u = b.load(x, block * lanes, lanes), v = b.load(y, block * lanes, lanes);
    int64_t row = 0;
    const auto put = [&](Value result) { b.store(dst, block * lanes + size * row++, std::move(result)); };
    for (const Binary op : ops) put(binary(op, u, v));
    put(fma(u, v, b.load(z, block * lanes, lanes)));
    for (const Compare compare :
         {Compare::lt, Compare::le, Compare::gt, Compare::ge, Compare::eq, Compare::ne})
      put(select(compare, u, v, b.load(z, block * lanes, lanes), constant(-7.25, lanes)));
    put(binary(Binary::max, u, constant(0, lanes)));
  });
  return b.finish();
}

/// Into denormals and infinity; NaN too.
LoopNest scalings(int lanes) {
  Builder b(fmt::format("scalings_{}", lanes));
  const int64_t blocks = 600 / lanes, size = blocks * lanes;
  const BufferId x = b.input("x", size), y = b.input("y", size), dst = b.output("dst", size);
  b.loop("block", 0, blocks, 1, [&](Affine block) {
    const Value magnitude = unary(Unary::abs, b.load(x, block * lanes, lanes));
    const Value a =
        binary(Binary::max, constant(0.5, lanes), binary(Binary::min, constant(2, lanes), magnitude));
    const Value exponent = binary(Binary::mul, b.load(y, block * lanes, lanes), constant(100, lanes));
    const Value bounded =
        binary(Binary::min, binary(Binary::max, exponent, constant(-252, lanes)), constant(252, lanes));
    b.store(dst, block * lanes, binary(Binary::scale, a, unary(Unary::round_even, bounded)));
  });
  return b.finish();
}

LoopNest integer_ops(int lanes) {
  Builder b(fmt::format("integer_ops_{}", lanes));
  constexpr Binary ops[] = {Binary::add, Binary::sub,     Binary::mul,   Binary::max,
                            Binary::min, Binary::bit_and, Binary::bit_or};
  const int64_t blocks = 96 / lanes + 1, size = blocks * lanes;
  const BufferId x = b.input("x", size), y = b.input("y", size);
  const BufferId dst = b.output("dst", 16 * size);
  b.loop("block", 0, blocks, 1, [&](Affine block) {
    const Value u = unary(Unary::bits_to_i32, b.load(x, block * lanes, lanes));
    const Value v = unary(Unary::bits_to_i32, b.load(y, block * lanes, lanes));
    int64_t row = 0;
    const auto put = [&](Value result) {
      b.store(dst, block * lanes + size * row++, unary(Unary::bits_to_f32, std::move(result)));
    };
    for (const Binary op : ops) put(binary(op, u, v));
    put(binary(Binary::shift_left, u, constant_i32(23, lanes)));
    put(binary(Binary::shift_right, u, constant_i32(7, lanes)));
    put(binary(Binary::shift_right, u, binary(Binary::bit_and, v, constant_i32(31, lanes))));
    for (const Compare compare :
         {Compare::lt, Compare::le, Compare::gt, Compare::ge, Compare::eq, Compare::ne})
      put(select(compare, u, v, u, lane_index(lanes)));
  });
  return b.finish();
}

LoopNest memory_forms(int lanes) {
  Builder b(fmt::format("memory_forms_{}", lanes));
  const int half = lanes / 2;
  const int64_t size = 4 * lanes;
  const BufferId src = b.input("src", 2 * size), dst = b.output("dst", 16 * size);
  const Affine slice = b.slices(2);
  const Affine row = slice * (8 * size), from = slice * size;
  b.store(dst, row, b.load(src, from + 1, lanes, half));
  b.store(dst, row + size, b.load(src, from, lanes), half);
  b.store(dst, row + 2 * size, b.load_strided(src, from + 1, lanes, 2));
  b.store(dst, row + 3 * size, b.load_strided(src, from, lanes, 3, half));
  b.store(dst, row + 4 * size, b.load_strided(src, from + (lanes - 1), lanes, -1));
  b.store_strided(dst, row + 5 * size, b.load(src, from, lanes), 3);
  b.store_strided(dst, row + 6 * size, b.load(src, from, lanes), 2, half);
  b.store(dst, row + 7 * size, b.load_strided(src, from, lanes, 0));
  b.store(dst, row + 7 * size + lanes, b.broadcast(src, from + 5 % size, lanes));
  b.store(dst, row + 7 * size + 2 * lanes, b.load(src, from, lanes, 0));
  return b.finish();
}

LoopNest shuffles(int lanes) {
  Builder b(fmt::format("shuffles_{}", lanes));
  const BufferId src = b.input("src", 2 * lanes), dst = b.output("dst", 5 * lanes);
  const Value x = b.load(src, 0, lanes), y = b.load(src, lanes, lanes);
  std::vector<int> reversed, interleaved, both;
  for (int i = 0; i < lanes; ++i) {
    reversed.push_back(lanes - 1 - i);
    interleaved.push_back(i % 2 == 0 ? i / 2 : lanes + i / 2);
  }
  b.store(dst, 0, shuffle(x, y, reversed));
  b.store(dst, lanes, shuffle(x, y, interleaved));
  b.store(dst, 2 * lanes, shuffle(x, y, std::vector<int>(lanes, 2 * lanes - 1)));
  b.store(dst, 3 * lanes, shuffle(x, y, {lanes}));
  if (lanes < 64) {
    for (int i = 0; i < 2 * lanes; ++i) both.push_back(2 * lanes - 1 - i);
    b.store(dst, 3 * lanes, shuffle(x, y, both));
  }
  return b.finish();
}

/// Branches, every integer operation, run-time bounds, loops that vanish, registers carried through loops.
LoopNest control(int lanes) {
  Builder b(fmt::format("control_{}", lanes));
  const BufferId src = b.input("src", 40 * lanes), dst = b.output("dst", 24 * lanes);
  const BufferId tmp = b.scratch("tmp", 7 * lanes), tmp2 = b.scratch("tmp2", lanes);
  const RegisterId sum = b.registers("sum", {Scalar::f32, lanes}, 3);
  const Affine slice = b.slices(6);
  const Affine quotient = b.floor_div(slice * 5 - 7, 3), rest = b.mod(slice * 5 - 7, 3);
  const Affine shifted = b.floor_div(slice - 3, 4), masked = b.mod(slice - 3, 4);
  const Affine low = b.max(quotient, 0), high = b.min(low + rest + 2, slice + 4);
  b.unrolled("i", 3, [&](Affine i) { b.assign(sum, i, constant(0.5, lanes)); });
  b.loop("k", low, high, 2, [&](Affine k) {
    b.unrolled("i", 3, [&](Affine i) {
      const Affine third = b.floor_div(i, 2);
      b.assign(sum, i,
               fma(b.load(src, k * lanes + i, lanes), b.broadcast(src, third + k, lanes), b.read(sum, i)));
      b.when(Compare::eq, i, 1,
             [&] { b.assign(sum, i, binary(Binary::add, b.read(sum, i), constant(1, lanes))); });
    });
    b.when(
        Compare::ge, k, slice,
        [&] {
          b.assign(sum, 0, binary(Binary::mul, b.read(sum), b.load(src, k * 2 + slice * lanes, lanes)));
        },
        [&] { b.assign(sum, 1, unary(Unary::neg, b.read(sum, 1))); });
  });
  b.loop("once", slice, slice + 1, 1,
         [&](Affine once) { b.store(tmp, masked * lanes, b.load(src, once + shifted + 1, lanes)); });
  b.loop("never", 3, 3, 1, [&](Affine never) { b.store(tmp, never, constant(9, lanes)); });
  b.store(tmp2, 0, constant(3, lanes));
  b.unrolled("i", 3, [&](Affine i) {
    b.store(dst, slice * (4 * lanes) + i * lanes,
            binary(Binary::add, b.read(sum, i), b.load(tmp2, 0, lanes)));
  });
  b.store(dst, slice * (4 * lanes) + 3 * lanes, b.load(tmp, masked * lanes, lanes));
  return b.finish();
}

}  // namespace

LoopNest gemm_tile(const std::string& name, const TileShape& s) {
  Builder b(name);
  const int64_t channels = int64_t{s.vectors} * s.lanes;
  const BufferId src = b.input("src", s.slices * s.pixels * s.depth, 64);
  const BufferId weights = b.input("weights", s.depth * channels, 64);
  const BufferId dst = b.output("dst", s.slices * s.pixels * channels, 64);
  const RegisterId sum = b.registers("sum", {Scalar::f32, s.lanes}, s.pixels * s.vectors);
  const Affine slice = b.slices(s.slices);
  b.unrolled("i", s.pixels * s.vectors, [&](Affine i) { b.assign(sum, i, constant(0, s.lanes)); });
  b.loop("k", 0, s.depth, s.unroll, [&](Affine k) {
    b.unrolled("u", s.unroll, [&](Affine u) {
      b.unrolled("m", s.pixels, [&](Affine m) {
        b.unrolled("n", s.vectors, [&](Affine n) {
          const Value pixel = b.broadcast(src, slice * (s.pixels * s.depth) + m * s.depth + k + u, s.lanes);
          const Value filter = b.load(weights, (k + u) * channels + n * s.lanes, s.lanes);
          b.assign(sum, m * s.vectors + n, fma(pixel, filter, b.read(sum, m * s.vectors + n)));
        });
      });
    });
  });
  b.unrolled("m", s.pixels, [&](Affine m) {
    b.unrolled("n", s.vectors, [&](Affine n) {
      const Affine at = slice * (s.pixels * channels) + m * channels + n * s.lanes;
      b.store(dst, at, binary(Binary::max, b.read(sum, m * s.vectors + n), constant(0, s.lanes)));
    });
  });
  return b.finish();
}

LoopNest window(const std::string& name, int lanes, bool overlapping) {
  Builder b(name);
  constexpr int64_t channels = 8, width = 18;
  constexpr int pixels = 6, taps = 7;
  const BufferId src = b.input("src", channels * 3 * width),
                 weights = b.input("weights", channels * taps * 2 * lanes);
  const BufferId dst = b.output("dst", pixels * 2 * lanes);
  const RegisterId sum = b.registers("sum", {Scalar::f32, lanes}, pixels * 2);
  b.unrolled("i", pixels * 2, [&](Affine i) { b.assign(sum, i, constant(0, lanes)); });
  b.loop("c", 0, channels, 1, [&](Affine c) {
    b.unrolled(
        "tap", taps,
        [&](Affine tap) {
          b.unrolled("m", pixels, [&](Affine m) {
            b.unrolled("n", 2, [&](Affine n) {
              const Value pixel = b.broadcast(src, c * (3 * width) + m * 2 + tap, lanes);
              const Value filter =
                  b.load(weights, c * (taps * 2 * lanes) + tap * (2 * lanes) + n * lanes, lanes);
              b.assign(sum, m * 2 + n, fma(pixel, filter, b.read(sum, m * 2 + n)));
            });
          });
        },
        overlapping);
  });
  b.unrolled("i", pixels * 2, [&](Affine i) { b.store(dst, i * lanes, b.read(sum, i)); });
  return b.finish();
}

/// Packs pairs of f32 vectors and gives back the words.
LoopNest packed_pairs(int lanes) {
  Builder b(fmt::format("packed_pairs_{}", lanes));
  const BufferId src = b.input("src", 64 * lanes), dst = b.output("dst", 32 * lanes);
  b.loop("i", 0, 32, 1, [&](Affine i) {
    const Value words = binary(Binary::pack_bf16, b.load(src, i * (2 * lanes), lanes),
                               b.load(src, i * (2 * lanes) + lanes, lanes));
    b.store(dst, i * lanes, unary(Unary::bits_to_f32, words));
  });
  return b.finish();
}

/// Two products into one tile of sums and one into a loaded tile, with rows apart.
LoopNest tile_products() {
  Builder b("tile_products");
  constexpr int64_t row = k_tile_words, tile = k_tile_rows * row;
  const BufferId src = b.input("src", 7 * tile), sums = b.input("sums", 3 * tile);
  const BufferId words = b.scratch("words", 3 * tile, Scalar::i32);
  const BufferId dst = b.output("dst", 4 * tile);
  b.tiles(4);
  const Affine slice = b.slices(2);
  b.loop("i", 0, 3 * k_tile_rows, 1, [&](Affine i) {
    const Affine from = slice * row + i * (2 * row);
    b.store(words, i * row, binary(Binary::pack_bf16, b.load(src, from, row), b.load(src, from + 7, row)));
  });
  b.tile_zero(0);
  b.tile_load(1, sums, slice * row, row + 8);
  b.tile_load(2, words, 0);
  b.tile_load(3, words, tile);
  b.tile_product(0, 2, 3);
  b.tile_product(1, 3, 2);
  b.tile_load(2, words, slice * row, 2 * row);
  b.tile_product(0, 2, 3);
  b.tile_store(0, dst, slice * (2 * tile), row);
  b.tile_store(1, dst, slice * (2 * tile) + row, row + row);
  return b.finish();
}

std::vector<LoopNest> tile_nests() {
  return {packed_pairs(16), packed_pairs(8), tile_products()};
}

std::vector<LoopNest> construct_nests(int lanes) {
  std::vector<LoopNest> nests;
  nests.push_back(vector_add(lanes));
  nests.push_back(unary_ops(lanes));
  nests.push_back(binary_ops(lanes));
  nests.push_back(scalings(lanes));
  nests.push_back(integer_ops(lanes));
  nests.push_back(memory_forms(lanes));
  nests.push_back(shuffles(lanes));
  nests.push_back(control(lanes));
  nests.push_back(gemm_tile(fmt::format("gemm_{}", lanes), {4, 2, lanes, 12, 4, 3}));
  nests.push_back(window(fmt::format("window_{}", lanes), lanes, true));
  return nests;
}

}  // namespace onepass::test
