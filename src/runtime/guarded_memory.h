// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace onepass::runtime {

/// Pages of memory for one buffer. The buffer's last byte is followed by an inaccessible page when `guarded`,
/// and its first page comes behind one; a guarded buffer is aligned to `alignment_bytes` and no more.
class GuardedMemory {
 public:
  GuardedMemory(size_t size_bytes, size_t alignment_bytes, bool guarded);
  ~GuardedMemory();
  GuardedMemory(GuardedMemory&&) noexcept;
  GuardedMemory& operator=(GuardedMemory&&) = delete;

  void* data() const { return data_; }
  size_t size_bytes() const { return size_bytes_; }
  void fill(unsigned char byte);
  /// Gives the buffer its pages now, in one call, instead of one by one at the first writing.
  void populate();

 private:
  char* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
  char* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace onepass::runtime
