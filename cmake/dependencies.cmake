# SPDX-License-Identifier: Apache-2.0

find_package(fmt REQUIRED)
foreach(name base targets ir ops onnx patterns passes loops kernels plan emit verify budget report driver)
  get_target_property(type onepass_${name} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    target_link_libraries(onepass_${name} INTERFACE fmt::fmt)
  else()
    target_link_libraries(onepass_${name} PUBLIC fmt::fmt)
  endif()
endforeach()

find_package(Protobuf REQUIRED)
find_library(ONNX_PROTO onnx_proto REQUIRED)
onepass_link(onnx ${ONNX_PROTO} protobuf::libprotobuf)

find_package(LLVM 19.1 REQUIRED CONFIG)
onepass_link(emit LLVM)
get_target_property(emit_type onepass_emit TYPE)
if(NOT emit_type STREQUAL "INTERFACE_LIBRARY")
  target_include_directories(onepass_emit SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_link_directories(onepass_emit PUBLIC ${LLVM_LIBRARY_DIRS})
endif()

find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
