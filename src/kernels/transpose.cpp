// SPDX-License-Identifier: Apache-2.0
#include "kernels/transpose.h"

#include <utility>

#include "base/diagnostic.h"

namespace onepass::kernels {

namespace {

using loops::RegisterId;

constexpr int k_group = 4;  ///< lanes of 128 bits

/// One pass over all rows: every row of `to` is a shuffle of two rows of `from`.
struct Pass {
  loops::Builder& builder;
  RegisterId from, to;
  int lanes;

  void put(int row, int a, int b, std::vector<int> picks) const {
    builder.assign(to, row, loops::shuffle(builder.read(from, a), builder.read(from, b), std::move(picks)));
  }

  /// In each group of four lanes: the four that `pattern` picks from a (0..3) and b (4..7).
  void put_in_groups(int row, int a, int b, const int (&pattern)[k_group]) const {
    std::vector<int> picks;
    for (int lane = 0; lane < lanes; ++lane) {
      const int pick = pattern[lane % k_group];
      const int base = lane / k_group * k_group;
      picks.push_back(pick < k_group ? base + pick : lanes + base + pick - k_group);
    }
    put(row, a, b, std::move(picks));
  }
};

/// Interleaves neighbours: first half of the 4x4 transposition that each group of lanes goes through.
void interleave_rows(const Pass& pass) {
  constexpr int k_low[] = {0, 4, 1, 5}, k_high[] = {2, 6, 3, 7};
  for (int row = 0; row < pass.lanes; row += 2) {
    pass.put_in_groups(row, row, row + 1, k_low);
    pass.put_in_groups(row + 1, row, row + 1, k_high);
  }
}

/// Second half: joins the pairs of rows 0, 1 with those of rows 2, 3.
void join_pairs(const Pass& pass) {
  constexpr int k_low[] = {0, 1, 4, 5}, k_high[] = {2, 3, 6, 7};
  for (int tile = 0; tile < pass.lanes; tile += k_group)
    for (int half = 0; half < 2; ++half) {
      pass.put_in_groups(tile + 2 * half, tile + half, tile + half + 2, k_low);
      pass.put_in_groups(tile + 2 * half + 1, tile + half, tile + half + 2, k_high);
    }
}

/// Exchanges the odd runs of `run` lanes of row i with the even ones of row i + run.
void exchange_runs(const Pass& pass, int run) {
  std::vector<int> even, odd;
  for (int lane = 0; lane < pass.lanes; ++lane) {
    const bool in_odd = (lane & run) != 0;
    even.push_back(in_odd ? pass.lanes + lane - run : lane);
    odd.push_back(in_odd ? pass.lanes + lane : lane + run);
  }
  for (int row = 0; row < pass.lanes; ++row) {
    if ((row & run) != 0) continue;
    pass.put(row, row, row + run, even);
    pass.put(row + run, row, row + run, odd);
  }
}

}  // namespace

SquareRegisters square_registers(loops::Builder& builder, int lanes) {
  require(lanes % k_group == 0, "a square of vectors has four rows or a multiple");
  const loops::Type type{loops::Scalar::f32, lanes};
  const RegisterId rows = builder.registers("rows", type, lanes);
  return {rows, builder.registers("spare", type, lanes), lanes};
}

RegisterId transpose(loops::Builder& builder, const SquareRegisters& square) {
  Pass pass{builder, square.rows, square.spare, square.lanes};
  const auto turn = [&] { std::swap(pass.from, pass.to); };
  interleave_rows(pass);
  turn();
  join_pairs(pass);
  for (int run = k_group; run < square.lanes; run *= 2) {
    turn();
    exchange_runs(pass, run);
  }
  return pass.to;
}

}  // namespace onepass::kernels
