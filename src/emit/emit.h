// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::emit {

/// ELF relocatable bytes.
using Object = std::vector<std::byte>;

/// Each nest becomes a function of its own name with the signature of onepass::KernelFunction (hidden
/// visibility). Deterministic: same nests and target, same bytes. Throws InternalError when LLVM refuses.
Object compile_object(std::span<const loops::LoopNest> nests, const targets::Target& target);

/// The same code as several objects, compiled by up to `jobs` threads. The split does not depend on `jobs`.
std::vector<Object> compile_objects(std::span<const loops::LoopNest> nests, const targets::Target& target,
                                    int jobs);

/// The same module as LLVM IR, or as assembly.
std::string llvm_ir(std::span<const loops::LoopNest> nests, const targets::Target& target);
std::string assembly(std::span<const loops::LoopNest> nests, const targets::Target& target);

/// C11 with GNU vector extensions: one function per nest, to be compiled with -ffp-contract=off. Needs only
/// <stdint.h> and <math.h>.
std::string c_source(std::span<const loops::LoopNest> nests);

/// Assembles GNU-syntax text (data directives and .incbin; no code) for the target's triple.
Object assemble(std::string_view text, const targets::Target& target);

/// Stack references inside the loops of each function of `object` (the spill check): the number of
/// instructions with a stack-pointer-based memory operand in innermost loops, by function name order of
/// `nests`.
struct SpillReport {
  std::string function;
  int loop_stack_references = 0;
  int loop_instructions = 0;
};
std::vector<SpillReport> spill_report(std::span<const loops::LoopNest> nests, const targets::Target& target);

/// Links objects and archives into one shared object with the given exported symbols; dynamic dependencies
/// are libc and libm. Runs the linker `ld.lld` of LLVM 19. Deterministic. Throws Error("linker_missing") or
/// InternalError with the linker's message.
struct LinkInput {
  std::vector<std::string> object_paths;  ///< .o and .a files
  std::vector<std::string> exported;      ///< symbol names
  std::string soname;
};
void link_shared(const LinkInput& input, const targets::Target& target, const std::string& output_path);

}  // namespace onepass::emit
