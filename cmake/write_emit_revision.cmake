# SPDX-License-Identifier: Apache-2.0

# cmake -DSOURCE=tree -DOUTPUT=header -P this: a header with the hash of everything that turns a loop nest into an
# object, so that objects kept by another version of that code are not taken for this one's.
cmake_minimum_required(VERSION 3.25)
file(GLOB code ${SOURCE}/src/emit/*.cpp ${SOURCE}/src/emit/*.h ${SOURCE}/src/loops/*.cpp ${SOURCE}/src/loops/*.h)
list(SORT code)
set(hashes "")
foreach(path ${code})
  file(SHA256 ${path} hash)
  cmake_path(GET path FILENAME name)
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 revision "${hashes}")
string(SUBSTRING ${revision} 0 32 revision)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace onepass::emit {

inline constexpr const char* k_revision = \"${revision}\";

}  // namespace onepass::emit
")
