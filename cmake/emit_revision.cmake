# SPDX-License-Identifier: Apache-2.0

# generated/emit/revision.h: written when the build is configured (for tools that read sources without building) and
# whenever the code that it speaks of changes.
set(emit_revision ${CMAKE_BINARY_DIR}/generated/emit/revision.h)
set(emit_revision_script ${CMAKE_SOURCE_DIR}/cmake/write_emit_revision.cmake)
set(write_emit_revision ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${emit_revision} -P ${emit_revision_script})
execute_process(COMMAND ${write_emit_revision} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB emit_revision_inputs CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/emit/*.cpp ${CMAKE_SOURCE_DIR}/src/emit/*.h
  ${CMAKE_SOURCE_DIR}/src/loops/*.cpp ${CMAKE_SOURCE_DIR}/src/loops/*.h)
add_custom_command(OUTPUT ${emit_revision} ${emit_revision}.stamp
  COMMAND ${write_emit_revision} COMMAND ${CMAKE_COMMAND} -E touch ${emit_revision}.stamp
  DEPENDS ${emit_revision_inputs} ${emit_revision_script} VERBATIM)
target_sources(onepass_emit PRIVATE ${emit_revision})
target_include_directories(onepass_emit PRIVATE ${CMAKE_BINARY_DIR}/generated)
