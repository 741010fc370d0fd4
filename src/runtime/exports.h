// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace onepass::runtime {

/// The symbols that every model.so exports: the C ABI of onepass/model.h and the address of its record, by
/// which LoadedModel reads the launch table.
inline constexpr std::array<const char*, 8> k_exported_symbols = {
    "onepass_model_input_count", "onepass_model_output_count",  "onepass_model_input",
    "onepass_model_output",      "onepass_model_arena_bytes",   "onepass_model_weights",
    "onepass_model_run",         "onepass_model_record_address"};

}  // namespace onepass::runtime
