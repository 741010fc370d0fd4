// SPDX-License-Identifier: Apache-2.0
#include "driver/kernel_library.h"

#include <dlfcn.h>

#include "base/diagnostic.h"
#include "base/files.h"
#include "emit/emit.h"

namespace onepass::driver {

namespace {

constexpr const char* k_table = "onepass_kernel_table";

/// Kernels are hidden symbols; a table of their addresses is exported in their place.
std::string table_assembly(const std::vector<loops::LoopNest>& nests) {
  std::string text = ".section .data.rel.ro,\"aw\",@progbits\n.p2align 3\n";
  text += std::string(".globl ") + k_table + "\n" + k_table + ":\n";
  for (const loops::LoopNest& nest : nests) text += ".hidden " + nest.name + "\n.quad " + nest.name + "\n";
  return text;
}

}  // namespace

KernelLibrary::KernelLibrary(const std::vector<loops::LoopNest>& nests, const targets::Target& target) {
  const TemporaryFolder folder;
  emit::LinkInput link{
      .object_paths = {folder.file("table.o")}, .exported = {k_table}, .soname = "kernels.so"};
  write_file(folder.file("table.o"), emit::assemble(table_assembly(nests), target));
  const std::vector<emit::Object> objects = emit::compile_objects(nests, target, 2);
  for (size_t i = 0; i < objects.size(); ++i) {
    link.object_paths.push_back(folder.file("kernels" + std::to_string(i) + ".o"));
    write_file(link.object_paths.back(), objects[i]);
  }
  emit::link_shared(link, target, folder.file("kernels.so"));
  library_ = ::dlopen(folder.file("kernels.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) throw Error({.code = "cannot_load", .message = ::dlerror()});
  const auto* table = static_cast<KernelFunction const*>(::dlsym(library_, k_table));
  require(table != nullptr, "the library exports its kernel table");
  functions_.assign(table, table + nests.size());
}

KernelLibrary::~KernelLibrary() {
  ::dlclose(library_);
}

}  // namespace onepass::driver
