// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/kernel_abi.h"
#include "loops/nest.h"
#include "targets/target.h"

namespace onepass::driver {

/// Kernels compiled, linked and loaded on their own, without a model: for measuring them. The nests' names
/// are distinct C identifiers. Throws what emit throws, and Error("cannot_load").
class KernelLibrary {
 public:
  KernelLibrary(const std::vector<loops::LoopNest>& nests, const targets::Target& target);
  ~KernelLibrary();
  KernelLibrary(const KernelLibrary&) = delete;
  KernelLibrary& operator=(const KernelLibrary&) = delete;

  KernelFunction function(size_t nest) const { return functions_.at(nest); }

 private:
  void* library_ = nullptr;
  std::vector<KernelFunction> functions_;
};

}  // namespace onepass::driver
