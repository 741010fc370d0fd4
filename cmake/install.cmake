# SPDX-License-Identifier: Apache-2.0

# cmake --install BUILD --prefix X: headers, the two libraries, the command line, and find_package(onepass).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/onepass)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/onepass DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
set_target_properties(onepass_tool PROPERTIES EXPORT_NAME tool INSTALL_RPATH_USE_LINK_PATH ON)
install(TARGETS onepass_shared onepass_runtime_shared onepass_tool EXPORT onepass_targets)
install(EXPORT onepass_targets NAMESPACE onepass:: FILE onepass-targets.cmake DESTINATION ${package_folder})

set(package_version ${CMAKE_BINARY_DIR}/generated/onepass-config-version.cmake)
write_basic_package_version_file(${package_version} COMPATIBILITY SameMinorVersion)
install(FILES ${package_version} ${CMAKE_SOURCE_DIR}/cmake/onepass-config.cmake DESTINATION ${package_folder})
