# SPDX-License-Identifier: Apache-2.0

# The text of include/onepass/model.h for the model.h that `onepass compile` writes.
set(model_header ${CMAKE_SOURCE_DIR}/include/onepass/model.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${model_header})
file(READ ${model_header} ONEPASS_MODEL_HEADER)
configure_file(cmake/model_header_text.h.in ${CMAKE_BINARY_DIR}/generated/artefact/model_header_text.h @ONLY)
target_include_directories(onepass_artefact PRIVATE ${CMAKE_BINARY_DIR}/generated)

# libonepass_inside.a: what is linked into every model.so. It depends on libc and libm alone, so the build's own
# sanitizers, coverage and debug information are switched off for it.
file(GLOB inside_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/runtime/inside/*.cpp)
add_library(onepass_inside STATIC ${inside_sources})
set_target_properties(onepass_inside PROPERTIES
  POSITION_INDEPENDENT_CODE ON ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/inside EXPORT_COMPILE_COMMANDS ON)
target_include_directories(onepass_inside PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_options(onepass_inside PRIVATE
  -Wall -Wextra -Wpedantic -Wno-missing-field-initializers
  -O3 -g0 -UNDEBUG -DNDEBUG -fno-sanitize=all -fno-exceptions -fno-rtti -fno-threadsafe-statics
  -fno-asynchronous-unwind-tables -fno-stack-protector -fvisibility=hidden -fvisibility-inlines-hidden
  -ffunction-sections -fdata-sections -fno-math-errno -ffp-contract=off -march=x86-64-v3)

# The archive's bytes, carried by onepass_runtime: whoever links a model.so needs no file beside itself.
set(inside_archive ${CMAKE_BINARY_DIR}/inside/libonepass_inside.a)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/runtime/inside_archive.cpp PROPERTIES
  OBJECT_DEPENDS ${inside_archive}
  COMPILE_DEFINITIONS "ONEPASS_INSIDE_ARCHIVE=\"${inside_archive}\"")
add_dependencies(onepass_runtime onepass_inside)
target_link_libraries(onepass_runtime PUBLIC dl)
find_package(Threads REQUIRED)
target_link_libraries(onepass_runtime PUBLIC Threads::Threads)
