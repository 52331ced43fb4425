# The reader of ONNX files, generated at build time from the `onnx.proto` that
# the onnx package carries. Nothing else of the onnx library is used.

find_package(Protobuf 3.21 REQUIRED)

set(FUSE_ONNX_PROTO "$ENV{FUSE_ONNX_PROTO}" CACHE FILEPATH
    "onnx.proto to read models with; default: the one in .venv's onnx package")
if(NOT FUSE_ONNX_PROTO)
  file(GLOB _protos
       ${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/onnx/onnx.proto)
  if(NOT _protos)
    message(FATAL_ERROR
      "no onnx.proto in .venv: run scripts/setup, or set FUSE_ONNX_PROTO")
  endif()
  list(GET _protos 0 FUSE_ONNX_PROTO)
endif()
if(NOT EXISTS ${FUSE_ONNX_PROTO})
  message(FATAL_ERROR "FUSE_ONNX_PROTO names '${FUSE_ONNX_PROTO}', which does not exist")
endif()

# fuse_add_onnx_proto(NAME): a static library with the generated reader.
#
# The code is for protobuf's lite runtime: it registers no descriptors, so a
# process may hold it beside another copy of onnx (as Python does).
function(fuse_add_onnx_proto name)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/proto)
  set(source ${directory}/onnx.pb.cc)
  set(header ${directory}/onnx.pb.h)
  get_filename_component(proto_directory ${FUSE_ONNX_PROTO} DIRECTORY)
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(
    OUTPUT ${source} ${header}
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} --cpp_out=lite:${directory}
            --proto_path=${proto_directory} ${FUSE_ONNX_PROTO}
    DEPENDS ${FUSE_ONNX_PROTO}
    COMMENT "Generating the ONNX reader from ${FUSE_ONNX_PROTO}"
    VERBATIM)
  add_library(${name} STATIC ${source} ${header})
  # Generated code is not the project's to keep free of warnings.
  target_compile_options(${name} PRIVATE -w)
  target_include_directories(${name} SYSTEM PUBLIC
    ${directory} ${Protobuf_INCLUDE_DIRS})
  target_link_libraries(${name} PUBLIC ${Protobuf_LITE_LIBRARIES})
endfunction()
