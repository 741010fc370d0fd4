// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "driver/pipeline.h"
#include "plan/tile_choice.h"

namespace onepass::driver {

/// JSON: an object of keys (plan::tile_key) with family and tile, in the order of the keys, and a version.
std::string choices_text(const plan::TileTable& choices);
/// Throws Error("bad_choices"): no such file, another version, or an entry that names no tile.
plan::TileTable parse_choices(const std::string& text, const std::string& path);
/// Throws Error("cannot_read", "bad_choices").
plan::TileTable read_choices(const std::string& path);

/// What was measured for one convolution or matrix product.
struct TuneRecord {
  std::string name;         ///< of the first launch that it is the kernel of
  plan::TileChoice model;   ///< what the cost model chose
  plan::TileChoice kept;    ///< the same, or a kernel that was clearly faster
  double ratio = 1;         ///< median of kept / model over paired rounds
  double predicted_ns = 0;  ///< of all launches with this kernel
  size_t candidates = 0;
};

struct Tuning {
  plan::TileTable choices;
  std::vector<TuneRecord> records;  ///< in the order in which they were measured
  size_t left_out = 0;              ///< not measured: the time was over
};

/// Measures the best candidate kernels of the network's plan on this host, those first that are predicted to
/// take longest, for about `seconds` (compiling the candidates included). options.choices does not count.
/// Throws Error("foreign_target").
Tuning tune(const Network& network, const CompileOptions& options, double seconds);

}  // namespace onepass::driver
