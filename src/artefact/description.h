// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "artefact/format.h"
#include "base/stripes.h"

namespace onepass::artefact {

// What the driver knows about a compiled model before it is bytes.

struct Tensor {
  std::string name;
  DataType dtype = DataType::f32;
  std::vector<int64_t> dims;
  int32_t counted_axis = -1;
  int64_t count_offset_bytes = 0;
};

struct Launch {
  std::string symbol;  ///< of the kernel or plain routine
  std::string name;
  std::vector<int64_t> params;
  std::vector<OperandRecord> operands;
  Stripes stripes;  ///< without members: a plain launch
  int32_t group = 0;
  int64_t slices = 1;
  int64_t cost_ns = 0;
};

struct Description {
  std::vector<Tensor> inputs, outputs;
  std::vector<Launch> launches;
  int64_t arena_bytes = 0;
  int64_t scratch_bytes = 0;
  int64_t weights_bytes = 0;
  std::string target;
  std::string metadata;
};

/// GNU assembler data directives that lay `description` out as a ModelRecord named onepass_model_record
/// (hidden), with the file `weights_path` included as one page-aligned section. Same description, same text.
std::string data_assembly(const Description& description, const std::string& weights_path);

/// model.h: the C declarations of the model's ABI with its inputs and outputs spelt out in comments.
std::string c_header(const Description& description, const std::string& model_name);

}  // namespace onepass::artefact
