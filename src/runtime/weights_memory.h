// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace onepass::runtime {

/// A copy of a model's weights on pages of 2 MiB. A network reads its weights once per run in one long
/// stream; on pages of 4 KiB the address translation of that stream halves its speed (docs/cost-model.md).
/// Empty where weights are few or the system has no such pages to give: the weights in the file serve then.
class WeightsMemory {
 public:
  WeightsMemory() = default;
  /// Copies `bytes` bytes from `weights`.
  WeightsMemory(const void* weights, size_t bytes);
  ~WeightsMemory();
  WeightsMemory(WeightsMemory&& other) noexcept;
  WeightsMemory& operator=(WeightsMemory&& other) noexcept;

  const void* data() const { return data_; }  ///< null when empty

 private:
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace onepass::runtime
