# SPDX-License-Identifier: Apache-2.0
# raddle_add_tasks(TARGET file.task.c ...): compiles task files ahead, into TARGET. It defines
#
#   const rdl_prebuilt rdl_prebuilt_TARGET;    (<raddle/prebuilt.h>; TARGET as a C identifier)
#
# A context on the host that loads exactly these files in this order finds its image by the hash and
# needs no compiler. Targets with different names can be linked together. The project needs the
# language C, also where the rest of it is C++.
function(raddle_add_tasks target)
  if(NOT ARGN)
    message(FATAL_ERROR "raddle_add_tasks(${target}): name at least one task file.")
  endif()
  # Without it the generated file would be left out of the target, and the linker would miss it.
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    string(REPLACE ";" " " languages "${languages}")
    message(FATAL_ERROR "raddle_add_tasks(${target}): it needs the language C, and this project has: "
                        "${languages}. Write project(${PROJECT_NAME} C ${languages}).")
  endif()
  string(MAKE_C_IDENTIFIER ${target} name)
  set(files "")
  foreach(file IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH file NORMALIZE)
    list(APPEND files ${file})
  endforeach()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}.prebuilt.c)
  add_custom_command(
    OUTPUT ${output}
    COMMAND raddle::tasks ${name} ${output} ${files}
    DEPENDS ${files} raddle::tasks
    COMMENT "Writing the image of the tasks of ${target}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  # The dialect reads memory through types of the tasks' own, and its words are GNU variadic macros.
  set_source_files_properties(${output} PROPERTIES
    COMPILE_OPTIONS "-fno-strict-aliasing;-Wno-pedantic;-Wno-unused-function")
endfunction()
