// SPDX-License-Identifier: Apache-2.0
#include "runtime/weights_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <utility>

namespace onepass::runtime {

namespace {

constexpr size_t k_huge_page_bytes = size_t{2} << 20;
/// Fewer weights stay in the caches, or in the reach of the translation buffers.
constexpr size_t k_least_bytes = size_t{4} << 20;

}  // namespace

WeightsMemory::WeightsMemory(const void* weights, size_t bytes) {
#ifdef MADV_HUGEPAGE
  if (bytes < k_least_bytes) return;
  const size_t mapping_bytes = bytes + 2 * k_huge_page_bytes;
  void* mapping = mmap(nullptr, mapping_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return;
  const auto first = (reinterpret_cast<uintptr_t>(mapping) + k_huge_page_bytes - 1) / k_huge_page_bytes;
  void* data = reinterpret_cast<void*>(first * k_huge_page_bytes);
  const size_t whole_pages = (bytes + k_huge_page_bytes - 1) / k_huge_page_bytes;
  if (madvise(data, whole_pages * k_huge_page_bytes, MADV_HUGEPAGE) != 0) {
    munmap(mapping, mapping_bytes);
    return;
  }
  std::memcpy(data, weights, bytes);
  mapping_ = mapping;
  mapping_bytes_ = mapping_bytes;
  data_ = data;
#else
  (void)weights;
  (void)bytes;
#endif
}

WeightsMemory::~WeightsMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapping_bytes_);
}

WeightsMemory::WeightsMemory(WeightsMemory&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)),
      data_(std::exchange(other.data_, nullptr)) {}

WeightsMemory& WeightsMemory::operator=(WeightsMemory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
  std::swap(data_, other.data_);
  return *this;
}

}  // namespace onepass::runtime
