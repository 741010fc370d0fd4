// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
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

/// Where objects of earlier compiles are kept, by object_key. Called from several threads at once.
struct ObjectStore {
  std::function<std::optional<Object>(std::string_view key)> find;
  std::function<void(std::string_view key, const Object& object)> keep;
};

/// All that a nest's object depends on, as text: the nest, the target, LLVM and this code.
std::string object_key(const loops::LoopNest& nest, const targets::Target& target);

/// The same code, one object for each nest, compiled by up to `jobs` threads. With `store`, objects that it
/// holds are not compiled again.
std::vector<Object> compile_objects(std::span<const loops::LoopNest> nests, const targets::Target& target,
                                    int jobs, const ObjectStore* store = nullptr);

/// The same module as LLVM IR, or as assembly.
std::string llvm_ir(std::span<const loops::LoopNest> nests, const targets::Target& target);
std::string assembly(std::span<const loops::LoopNest> nests, const targets::Target& target);

/// C11 with GNU vector extensions: one function per nest, to be compiled with -ffp-contract=off. Needs only
/// <stdint.h> and <math.h>.
std::string c_source(std::span<const loops::LoopNest> nests);

/// Assembles GNU-syntax text (data directives and .incbin; no code) for the target's triple.
Object assemble(std::string_view text, const targets::Target& target);
/// The same into a file, which may be far larger than the text. Throws Error("cannot_write").
void assemble_to_file(std::string_view text, const targets::Target& target, const std::string& path);

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
