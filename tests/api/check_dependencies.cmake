# SPDX-License-Identifier: Apache-2.0

# LIBRARY needs the C and C++ libraries alone.
execute_process(COMMAND readelf -d ${LIBRARY} OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]]*\\]" needed "${dynamic}")
if(NOT needed)
  message(FATAL_ERROR "${LIBRARY} names no library at all")
endif()
foreach(entry ${needed})
  if(NOT entry MATCHES "\\[(libc|libm|libdl|libpthread|libstdc\\+\\+|libgcc_s|ld-linux[^.]*)\\.so")
    message(FATAL_ERROR "${LIBRARY}: ${entry}")
  endif()
endforeach()
