# SPDX-License-Identifier: Apache-2.0

# What a user links: libonepass (everything) and libonepass_runtime (the loader alone, no compiler). Both are
# shared and export the functions of include/onepass alone.
file(GLOB capi_runtime_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/capi/runtime/*.cpp)
add_library(onepass_capi_runtime OBJECT ${capi_runtime_sources})
target_compile_options(onepass_capi_runtime PRIVATE $<TARGET_PROPERTY:onepass_capi,COMPILE_OPTIONS>)
target_link_libraries(onepass_capi_runtime PUBLIC onepass_runtime onepass_targets onepass_base)
foreach(target onepass_capi onepass_capi_runtime)
  target_compile_definitions(${target} PRIVATE ONEPASS_VERSION="${PROJECT_VERSION}")
endforeach()

# onepass_user_library(target name alias libraries...): lib<name>.so, known to users as onepass::<alias>.
function(onepass_user_library target name alias)
  add_library(${target} SHARED)
  add_library(onepass::${alias} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name} EXPORT_NAME ${alias} VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
    LINKER_LANGUAGE CXX INSTALL_RPATH_USE_LINK_PATH ON)
  target_compile_features(${target} INTERFACE c_std_11)
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  set(exports ${CMAKE_SOURCE_DIR}/cmake/exports.map)
  target_link_options(${target} PRIVATE -Wl,--version-script=${exports} -Wl,--as-needed -Wl,--gc-sections)
  set_target_properties(${target} PROPERTIES LINK_DEPENDS ${exports})
  target_link_libraries(${target} PRIVATE ${ARGN})
endfunction()

onepass_user_library(onepass_runtime_shared onepass_runtime runtime onepass_capi_runtime)
target_sources(onepass_runtime_shared PRIVATE $<TARGET_OBJECTS:onepass_capi_runtime>)
onepass_user_library(onepass_shared onepass onepass onepass_driver onepass_report)
target_sources(onepass_shared PRIVATE $<TARGET_OBJECTS:onepass_capi_runtime> $<TARGET_OBJECTS:onepass_capi>)
