# SPDX-License-Identifier: Apache-2.0

# Off, a build proves that every file includes what it uses; on, it takes half the time.
option(ONEPASS_PRECOMPILE "Precompile the headers of the standard library, fmt and GoogleTest" OFF)

set(onepass_common_headers
  <algorithm> <array> <cmath> <cstdint> <functional> <limits> <map> <memory> <optional> <span> <string>
  <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# onepass_precompile(target kind headers...): every target of one kind shares one precompiled header, so all of
# them need the same compile options.
function(onepass_precompile target kind)
  if(NOT ONEPASS_PRECOMPILE)
    return()
  endif()
  set(holder onepass_precompiled_${kind})
  if(NOT TARGET ${holder})
    set(source ${CMAKE_BINARY_DIR}/generated/${holder}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Carries the precompiled header.\n")
    add_library(${holder} OBJECT ${source})
    target_compile_options(${holder} PRIVATE $<TARGET_PROPERTY:${target},COMPILE_OPTIONS>)
    # Without its date the precompiled header is the same in every build, so that ccache finds it.
    target_compile_options(${holder} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      set_target_properties(${holder} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
      target_compile_options(${holder} PRIVATE -fPIE)
    endif()
    target_link_libraries(${holder} PRIVATE fmt::fmt)
    target_precompile_headers(${holder} PRIVATE ${onepass_common_headers} ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${holder})
endfunction()
