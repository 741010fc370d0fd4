// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/diagnostic.h"
#include "ir/verifier.h"
#include "onnx/reader.h"

/// Any bytes give a well-formed graph or an Error; everything else is a find.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    const auto model = onepass::onnx::read_model(std::as_bytes(std::span(data, size)), "");
    onepass::ir::verify(model.graph);
  } catch (const onepass::Error&) {
    // The refusal that bad bytes are owed.
  }
  return 0;
}
