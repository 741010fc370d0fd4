// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/kernel_abi.h"
#include "emit/emit.h"
#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::test {

/// The words of every non-scratch buffer of a nest, in order.
using Operands = std::vector<std::vector<uint32_t>>;

/// Random numbers (f32) or small integers (i32) in inputs, and the same everywhere in outputs.
Operands random_operands(const loops::LoopNest& nest, uint32_t seed);
/// As above, with NaN, infinities, zeros of both signs, denormals and extremes in every input.
Operands special_operands(const loops::LoopNest& nest, uint32_t seed);

/// A folder that is removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

void write_file(const std::string& path, const emit::Object& bytes);
void write_file(const std::string& path, const std::string& text);

/// Kernels in a loaded shared object.
class Library {
 public:
  /// Compiled by LLVM and linked.
  static Library from_llvm(const std::vector<loops::LoopNest>& nests, const targets::Target& target);
  /// c_source() compiled by the system's C compiler.
  static Library from_c(const std::vector<loops::LoopNest>& nests);

  Library(Library&& other) noexcept : handle_(other.handle_), kernels_(std::move(other.kernels_)) {
    other.handle_ = nullptr;
  }
  ~Library();
  KernelFunction kernel(size_t i) const { return kernels_.at(i); }

 private:
  Library(const std::string& path, size_t count);
  void* handle_ = nullptr;
  std::vector<KernelFunction> kernels_;
};

void run_kernel(KernelFunction kernel, const loops::LoopNest& nest, Operands& operands);
void run_interpreter(const loops::LoopNest& nest, Operands& operands);

/// Empty, or the first difference; any NaN equals any NaN.
std::string difference(const loops::LoopNest& nest, const Operands& expected, const Operands& actual);

}  // namespace onepass::test
