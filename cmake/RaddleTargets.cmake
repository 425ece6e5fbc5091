# SPDX-License-Identifier: Apache-2.0
# What our targets have in common, and the three functions that make them. Nothing here is global:
# a project that takes Raddle in with add_subdirectory keeps its own flags.

add_library(raddle_warnings INTERFACE)
target_compile_options(raddle_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wundef $<$<BOOL:${RDL_WERROR}>:-Werror>)

add_library(raddle_sanitize INTERFACE)
if(RDL_SANITIZE)
  list(JOIN RDL_SANITIZE "," sanitizers)
  target_compile_options(raddle_sanitize INTERFACE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(raddle_sanitize INTERFACE -fsanitize=${sanitizers})
endif()

# What every target of ours is compiled with. Internal headers are included by their path from the
# top of the tree ("backends/common/kernel_text.h"), so that a dependency between folders shows.
add_library(raddle_internal INTERFACE)
target_include_directories(raddle_internal INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/api/include)
target_compile_definitions(raddle_internal INTERFACE _DEFAULT_SOURCE _POSIX_C_SOURCE=200809L)
target_link_libraries(raddle_internal INTERFACE raddle_warnings raddle_sanitize Threads::Threads)

# raddle_adopt(TARGET): compile a target as ours. The internal targets are build-only, so the exported
# package must not name them.
function(raddle_adopt target)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:raddle_internal>)
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF C_VISIBILITY_PRESET hidden)
endfunction()

# raddle_add_part(NAME file...): a part of the library, as an object library. A part without files
# is left out.
function(raddle_add_part name)
  if(NOT ARGN)
    return()
  endif()
  add_library(raddle_${name} OBJECT ${ARGN})
  raddle_adopt(raddle_${name})
  set_target_properties(raddle_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  set_property(GLOBAL APPEND PROPERTY RADDLE_PARTS raddle_${name})
endfunction()

# raddle_add_program(NAME file...): a program in bin/ that uses the public library.
function(raddle_add_program name)
  add_executable(${name} ${ARGN})
  raddle_adopt(${name})
  target_link_libraries(${name} PRIVATE raddle::raddle)
endfunction()
