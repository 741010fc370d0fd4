# SPDX-License-Identifier: Apache-2.0

include(cmake/precompiled_headers.cmake)

# What stays small enough to link into a product uses no fmt.
set(onepass_plain_libraries artefact runtime capi)

# onepass_library(name deps...): the static library onepass_<name> from src/<name>/*.cpp. A folder
# that holds headers alone becomes an interface library.
function(onepass_library name)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(TRANSFORM ARGN PREPEND onepass_ OUTPUT_VARIABLE deps)
  if(sources)
    add_library(onepass_${name} STATIC ${sources})
    target_include_directories(onepass_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_compile_options(onepass_${name} PRIVATE -Wall -Wextra -Wpedantic -Wno-missing-field-initializers -Wno-missing-designated-field-initializers -ffp-contract=off)
    target_link_libraries(onepass_${name} PUBLIC ${deps})
    if(NOT name IN_LIST onepass_plain_libraries)
      onepass_precompile(onepass_${name} library)
    endif()
  else()
    add_library(onepass_${name} INTERFACE)
    target_include_directories(onepass_${name} INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(onepass_${name} INTERFACE ${deps})
  endif()
endfunction()

# onepass_link(name libraries...): third-party libraries that only this folder uses.
function(onepass_link name)
  get_target_property(type onepass_${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(onepass_${name} INTERFACE ${ARGN})
  else()
    target_link_libraries(onepass_${name} PRIVATE ${ARGN})
  endif()
endfunction()

# onepass_test(name deps...): the GoogleTest program test_<name> from tests/<name>/*.cpp, one CTest test.
# LABELS and TIMEOUT_SECONDS may follow; a label is what scripts select by.
function(onepass_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT_SECONDS" "LABELS")
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${name}/*.cpp)
  if(NOT sources)
    return()
  endif()
  list(TRANSFORM arg_UNPARSED_ARGUMENTS PREPEND onepass_ OUTPUT_VARIABLE deps)
  add_executable(test_${name} ${sources})
  target_compile_options(test_${name} PRIVATE -Wall -Wextra -Wno-missing-field-initializers -Wno-missing-designated-field-initializers -ffp-contract=off)
  target_compile_definitions(test_${name} PRIVATE ONEPASS_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_include_directories(test_${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(test_${name} PRIVATE ${deps} GTest::gtest GTest::gmock GTest::gtest_main)
  onepass_precompile(test_${name} test <gtest/gtest.h> <gmock/gmock.h>)
  if(NOT arg_TIMEOUT_SECONDS)
    set(arg_TIMEOUT_SECONDS 300)
  endif()
  add_test(NAME ${name} COMMAND test_${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT_SECONDS} LABELS "${arg_LABELS}")
endfunction()
