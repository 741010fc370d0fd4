# SPDX-License-Identifier: Apache-2.0

# cmake -DSOURCE=tree -DFOLDERS=a,b -DNAMESPACE=name -DOUTPUT=header -P this: a header with the hash of the code in
# these folders of src/, so that what another version of it has kept in a cache is not taken for this one's.
cmake_minimum_required(VERSION 3.25)
string(REPLACE "," ";" folders ${FOLDERS})
set(hashes "")
foreach(folder ${folders})
  file(GLOB code ${SOURCE}/src/${folder}/*.cpp ${SOURCE}/src/${folder}/*.h ${SOURCE}/src/${folder}/*.def)
  list(SORT code)
  foreach(path ${code})
    file(SHA256 ${path} hash)
    cmake_path(GET path FILENAME name)
    string(APPEND hashes "${folder}/${name} ${hash}\n")
  endforeach()
endforeach()
string(SHA256 revision "${hashes}")
string(SUBSTRING ${revision} 0 32 revision)
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace onepass::${NAMESPACE} {

inline constexpr const char* k_revision = \"${revision}\";

}  // namespace onepass::${NAMESPACE}
")
