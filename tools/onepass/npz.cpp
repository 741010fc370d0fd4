// SPDX-License-Identifier: Apache-2.0
//
// The zip format as far as NumPy needs it (APPNOTE.TXT 4.3: local headers, central directory, end record),
// stored.
#include "npz.h"

#include <algorithm>
#include <cstdint>

#include "verify/npy.h"

namespace onepass::tool {

namespace {

/// CRC-32 of ISO 3309, bit by bit: archives of outputs are small.
uint32_t crc32(const std::string& bytes) {
  constexpr uint32_t k_polynomial = 0xEDB88320U;
  uint32_t crc = ~0U;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (k_polynomial & (0U - (crc & 1U)));
  }
  return ~crc;
}

void put(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

/// The fields that local and central headers share, from "version needed" to the lengths of name and extra
/// field.
void put_entry(std::string& out, const std::string& name, const std::string& data) {
  put(out, 20, 2);    // version 2.0
  put(out, 0, 2);     // no flags
  put(out, 0, 2);     // stored
  put(out, 0, 2);     // time: fixed, so that the same outputs give the same bytes
  put(out, 0x21, 2);  // date: 1980-01-01
  put(out, crc32(data), 4);
  put(out, data.size(), 4);
  put(out, data.size(), 4);
  put(out, name.size(), 2);
  put(out, 0, 2);
}

}  // namespace

std::string npz_bytes(const std::vector<NamedTensor>& tensors) {
  std::string archive, directory;
  for (const NamedTensor& tensor : tensors) {
    std::string name = tensor.name + ".npy";
    std::replace(name.begin(), name.end(), '/', '_');
    const std::string data = verify::encode_npy(tensor.tensor);
    const size_t offset = archive.size();
    put(archive, 0x04034b50, 4);
    put_entry(archive, name, data);
    archive += name + data;
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    put_entry(directory, name, data);
    put(directory, 0, 2);  // comment
    put(directory, 0, 2);  // disk
    put(directory, 0, 2);  // internal attributes
    put(directory, 0, 4);  // external attributes
    put(directory, offset, 4);
    directory += name;
  }
  const size_t start = archive.size();
  archive += directory;
  put(archive, 0x06054b50, 4);
  put(archive, 0, 4);
  put(archive, tensors.size(), 2);
  put(archive, tensors.size(), 2);
  put(archive, directory.size(), 4);
  put(archive, start, 4);
  put(archive, 0, 2);
  return archive;
}

}  // namespace onepass::tool
