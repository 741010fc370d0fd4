// SPDX-License-Identifier: Apache-2.0
#include "runtime/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "base/diagnostic.h"

namespace onepass::runtime {

namespace {

size_t round_up(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

GuardedMemory::GuardedMemory(size_t size_bytes, size_t alignment_bytes, bool guarded)
    : size_bytes_(size_bytes) {
  const size_t page_bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t rounded_bytes = round_up(size_bytes, alignment_bytes);
  const size_t usable_bytes = round_up(rounded_bytes + 1, page_bytes);
  mapping_bytes_ = usable_bytes + 2 * page_bytes;
  void* mapping = mmap(nullptr, mapping_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) throw std::bad_alloc();
  mapping_ = static_cast<char*>(mapping);
  char* usable = mapping_ + page_bytes;
  if (mprotect(usable, usable_bytes, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping_, mapping_bytes_);
    throw std::bad_alloc();
  }
  data_ = guarded ? usable + usable_bytes - rounded_bytes : usable;
#ifdef MADV_HUGEPAGE
  // Fewer address translations in large buffers; a refusal costs nothing but speed.
  if (!guarded) madvise(usable, usable_bytes, MADV_HUGEPAGE);
#endif
}

GuardedMemory::~GuardedMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

GuardedMemory::GuardedMemory(GuardedMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(other.mapping_bytes_),
      data_(other.data_),
      size_bytes_(other.size_bytes_) {}

void GuardedMemory::fill(unsigned char byte) {
  std::memset(data_, byte, size_bytes_);
}

void GuardedMemory::populate() {
#ifdef MADV_POPULATE_WRITE
  const auto page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = reinterpret_cast<uintptr_t>(data_) / page_bytes * page_bytes;
  // Where the system cannot do it, pages come as they are written.
  madvise(reinterpret_cast<void*>(first), reinterpret_cast<uintptr_t>(data_) + size_bytes_ - first,
          MADV_POPULATE_WRITE);
#endif
}

}  // namespace onepass::runtime
