// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "driver/pipeline.h"

namespace onepass::test {

/// Each property takes a network in text form and returns "" when it holds, else what is wrong; the first
/// word of the answer tells the kind of fault: "parity", "refused", "internal", "threads", ...
using Property = std::string (*)(const std::string& text);

/// Compiled unfused, folded and fused for the host: each within 1e-5 of the interpreter, or of the referee in
/// double and nearer to it than the interpreter is; on guarded memory with an arena of NaN.
std::string parity(const std::string& text);
/// The same, fused, for every class that the host executes besides its own.
std::string parity_of_other_targets(const std::string& text);
/// One, two and three threads give the same bits.
std::string threads_agree(const std::string& text);
/// print(parse(print(g))) == print(g), as written and after the passes.
std::string text_round_trip(const std::string& text);
/// Two compilations give the same file.
std::string same_artefact_bytes(const std::string& text);
/// The folded graph is valid and, written as ONNX and read back, computes the same.
std::string onnx_round_trip(const std::string& text);

}  // namespace onepass::test
