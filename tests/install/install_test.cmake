# SPDX-License-Identifier: Apache-2.0

# expect(PATTERN COMMAND...): the command ends with 0 and prints PATTERN.
function(expect pattern)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT output MATCHES "${pattern}")
    message(FATAL_ERROR "${ARGN} ends with ${result} and prints\n${output}\nexpected: '${pattern}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
expect("onepass.h" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
expect("Generating done" ${CMAKE_COMMAND} -S ${EXAMPLES} -B ${WORK}/build -G ${GENERATOR}
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DMODEL=${MODEL} -DCMAKE_BUILD_TYPE=Release
  -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_CXX_COMPILER=${CXX_COMPILER}
  -DCMAKE_C_FLAGS=${C_FLAGS} -DCMAKE_CXX_FLAGS=${CXX_FLAGS} -DCMAKE_EXE_LINKER_FLAGS=${LINKER_FLAGS})
expect("embed" ${CMAKE_COMMAND} --build ${WORK}/build)
expect("y\\[0\\] = 1" ${WORK}/build/run_model)
expect("conv1 \\+ bn1 \\+ relu1.*y: 1 2 4 4, first 1" ${WORK}/build/embed ${MODEL})
