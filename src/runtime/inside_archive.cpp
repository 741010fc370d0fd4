// SPDX-License-Identifier: Apache-2.0
#include "runtime/inside_archive.h"

asm(" .section .rodata.onepass_inside_archive,\"a\"\n"
    " .p2align 4\n"
    " .globl onepass_inside_archive_begin\n"
    " .hidden onepass_inside_archive_begin\n"
    "onepass_inside_archive_begin:\n"
    " .incbin \"" ONEPASS_INSIDE_ARCHIVE
    "\"\n"
    " .globl onepass_inside_archive_end\n"
    " .hidden onepass_inside_archive_end\n"
    "onepass_inside_archive_end:\n"
    " .byte 0\n"
    " .text\n");

extern "C" {
extern const std::byte onepass_inside_archive_begin;
extern const std::byte onepass_inside_archive_end;
}

namespace onepass::runtime {

std::span<const std::byte> inside_archive() {
  return {&onepass_inside_archive_begin,
          static_cast<size_t>(&onepass_inside_archive_end - &onepass_inside_archive_begin)};
}

}  // namespace onepass::runtime
