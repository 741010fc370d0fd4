// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/kernel_abi.h"

// The records inside a compiled model. They are constant data of the shared object, laid out by the target's
// C ABI: 64-bit pointers, fields in this order. k_format_version changes with any of them.
namespace onepass::artefact {

constexpr uint64_t k_magic = 0x737361'70656e6fULL;  // "onepass"
constexpr int32_t k_format_version = 3;
constexpr int32_t k_max_rank = 8;

/// Element types at the boundary; the numbers are those of ONNX TensorProto.DataType.
enum class DataType : int32_t { f32 = 1, u8 = 2, i8 = 3, i32 = 6, i64 = 7, boolean = 9, f64 = 11 };

/// Where an operand lies.
enum class Space : int32_t {
  arena,    ///< offset from the caller's arena
  weights,  ///< offset from the weights section
  input,    ///< offset from graph input number `index`
  output,   ///< offset from graph output number `index`
};

struct TensorRecord {
  const char* name;
  DataType dtype;
  int32_t rank;
  int64_t dims[k_max_rank];  ///< the upper bound on a counted axis
  int64_t size_bytes;
  int32_t counted_axis;  ///< -1: none
  int32_t unused;
  int64_t count_offset_bytes;  ///< in the arena: int64 extent of the counted axis after a run
};

struct OperandRecord {
  Space space;
  int32_t index;
  int64_t offset_bytes;
};

struct LaunchRecord {
  KernelFunction function;
  const char* name;       ///< the user's node names, joined with " + "
  const int64_t* params;  ///< of a plain routine; null for kernels; a StripesRecord for stripes
  const OperandRecord* operands;
  int32_t operand_count;
  int32_t group;  ///< number of the group in the plan
  int64_t slices;
  int64_t cost_ns;  ///< the planner's prediction for one thread
};

/// A map of which the thread's scratch holds some rows (base/stripes.h).
struct HeldMapRecord {
  int64_t offset_bytes, row_bytes, plane_bytes, planes;
};

/// A kernel that runs in stripes (base/stripes.h). Operands >= 0 are operands of the launch, ~m is the held
/// map of member m. The tables have an entry for each stripe.
struct StripeMemberRecord {
  KernelFunction function;
  const int32_t* operands;
  int64_t operand_count;
  int64_t outer, groups, repeat;
  HeldMapRecord held;
  const int32_t *since, *until, *first_row, *end_row;
};

/// What `params` of a launch of onepass_stripes points to.
struct StripesRecord {
  int64_t member_count;
  int64_t held_bytes;
  const StripeMemberRecord* members;
};

struct ModelRecord {
  uint64_t magic;
  int32_t version;
  int32_t launch_count;
  const LaunchRecord* launches;
  const TensorRecord* inputs;
  const TensorRecord* outputs;
  int32_t input_count;
  int32_t output_count;
  int64_t arena_bytes;    ///< without per-thread scratch
  int64_t scratch_bytes;  ///< per thread
  const uint8_t* weights;
  int64_t weights_bytes;
  const char* target;    ///< "x86-64-v4"
  const char* metadata;  ///< JSON: model hash, options, tool version
};

}  // namespace onepass::artefact
