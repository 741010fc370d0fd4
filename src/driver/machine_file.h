// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "driver/pipeline.h"
#include "targets/machine.h"

namespace onepass::driver {

/// JSON with keys in a fixed order and a version.
std::string machine_text(const targets::Machine& machine);
/// Throws Error("bad_machine"): no such description, another version, or a figure that no machine has.
targets::Machine parse_machine(const std::string& text, const std::string& path);

/// Where `onepass calibrate` writes and `--machine calibrated` reads on this host: in the user's cache
/// folder, under the CPU's name. Throws Error("bad_machine") for a user without a home folder.
std::string calibrated_machine_path();
/// The CPU as the system names it.
std::string host_cpu();

/// The class that `options` ask for, with the figures of their machine description if they name one. Throws
/// Error("unknown_target", "cannot_read", "bad_machine").
std::shared_ptr<const targets::Target> target_of(const CompileOptions& options);

}  // namespace onepass::driver
