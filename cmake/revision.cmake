# SPDX-License-Identifier: Apache-2.0

# generated/NAMESPACE/revision.h for `library`, of the code in `folders` (a,b) of src/: written when the build is
# configured (for tools that read sources without building) and whenever the code that it speaks of changes.
function(onepass_revision library namespace folders)
  set(header ${CMAKE_BINARY_DIR}/generated/${namespace}/revision.h)
  set(script ${CMAKE_SOURCE_DIR}/cmake/write_revision.cmake)
  set(write ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DFOLDERS=${folders} -DNAMESPACE=${namespace}
    -DOUTPUT=${header} -P ${script})
  execute_process(COMMAND ${write} COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE "," ";" names ${folders})
  set(inputs "")
  foreach(folder ${names})
    set(code ${CMAKE_SOURCE_DIR}/src/${folder})
    file(GLOB found CONFIGURE_DEPENDS ${code}/*.cpp ${code}/*.h ${code}/*.def)
    list(APPEND inputs ${found})
  endforeach()
  add_custom_command(OUTPUT ${header} ${header}.stamp
    COMMAND ${write} COMMAND ${CMAKE_COMMAND} -E touch ${header}.stamp
    DEPENDS ${inputs} ${script} VERBATIM)
  target_sources(${library} PRIVATE ${header})
  target_include_directories(${library} PRIVATE ${CMAKE_BINARY_DIR}/generated)
endfunction()

onepass_revision(onepass_emit emit emit,loops)
# A sensitivity follows from how layers are disturbed, what the reference makes of that, and how verify measures it.
onepass_revision(onepass_driver budget budget,ops,ir,verify)
