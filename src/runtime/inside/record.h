// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "artefact/arena_layout.h"
#include "artefact/format.h"

// Laid out by the compiler (artefact/data_assembly.cpp).
extern "C" [[gnu::visibility("hidden")]] const onepass::artefact::ModelRecord onepass_model_record;

namespace onepass::inside {

/// The model as the compiler cannot see it: the record is defined in assembly.
inline const artefact::ModelRecord& model() {
  return onepass_model_record;
}

artefact::ThreadBlock thread_block();

}  // namespace onepass::inside
