# The only place that names MLIR's and LLVM's CMake details.
#
# Everything links the shared libraries MLIR and LLVM. Never link a target
# named MLIRxxx or LLVMxxx: a static copy beside the shared one registers every
# pass and option twice.

find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")

set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})

include(TableGen)
include(AddLLVM)
include(AddMLIR)
include(HandleLLVMOptions)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
link_directories(${LLVM_LIBRARY_DIR})

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  # A precompiled header carries its own time stamp; the two options keep
  # ccache able to reuse what was compiled with it.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
endif()

if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
  add_link_options(-fuse-ld=lld)
endif()
add_compile_options(-Wall -Wextra -Wno-unused-parameter)

set(FUSE_SANITIZE "" CACHE STRING "sanitizers to build with, e.g. address;undefined")
if(FUSE_SANITIZE)
  list(JOIN FUSE_SANITIZE "," _sanitizers)
  add_compile_options(-fsanitize=${_sanitizers} -fno-omit-frame-pointer
                      -fno-sanitize=vptr)
  add_link_options(-fsanitize=${_sanitizers})
endif()

# MLIR's headers take ten seconds to parse: they are parsed once, into the
# precompiled header of this target, which every other library reuses.
file(WRITE ${PROJECT_BINARY_DIR}/pch/pch.cpp "")
add_library(FusePrecompiled OBJECT ${PROJECT_BINARY_DIR}/pch/pch.cpp)
llvm_update_compile_flags(FusePrecompiled)
target_precompile_headers(FusePrecompiled PRIVATE
  $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/cmake/Precompiled.h>)

# fuse_add_library(NAME sources… [DEPENDS targets…] [LINK_LIBS libs…]
#                  [EXCEPTIONS])
#
# A static library of the project that sees MLIR. EXCEPTIONS compiles with C++
# exceptions, for sources that use a library that throws.
function(fuse_add_library name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "DEPENDS;LINK_LIBS" ${ARGN})
  if(ARG_EXCEPTIONS)
    set(LLVM_REQUIRES_EH ON)
    set(LLVM_REQUIRES_RTTI ON)
  endif()
  add_mlir_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS}
    DISABLE_INSTALL EXCLUDE_FROM_LIBMLIR
    DEPENDS ${ARG_DEPENDS}
    LINK_LIBS PUBLIC ${ARG_LINK_LIBS} MLIR LLVM)
  if(NOT ARG_EXCEPTIONS)
    target_precompile_headers(${name} REUSE_FROM FusePrecompiled)
  endif()
endfunction()

# fuse_add_tool(NAME sources… LINK_LIBS libs…): an executable in build/bin.
function(fuse_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_llvm_executable(${name} ${ARG_UNPARSED_ARGUMENTS} PARTIAL_SOURCES_INTENDED)
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
endfunction()
