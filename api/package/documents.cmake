# SPDX-License-Identifier: Apache-2.0
# The documents of an installation: in the folders that they have in the source tree, so that links
# among them hold. A link to what is not installed becomes its text.
set(documents README.md CHANGELOG.md LICENSE api/spec.md docs/tasks.md docs/programs.md
  docs/capabilities.md docs/environment.md docs/measurements.md)

foreach(document IN LISTS documents)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${document})
  cmake_path(GET document PARENT_PATH folder)
  file(READ ${PROJECT_SOURCE_DIR}/${document} text)
  # Without brackets, because those keep CMake from taking a list apart.
  string(REGEX MATCHALL "\\([^][(); \n]+\\)" targets "${text}")
  list(REMOVE_DUPLICATES targets)
  foreach(target IN LISTS targets)
    string(REGEX REPLACE "[()]" "" target "${target}")
    string(REGEX REPLACE "#.*" "" path "${target}")
    cmake_path(ABSOLUTE_PATH path BASE_DIRECTORY "/${folder}" NORMALIZE)
    string(REGEX REPLACE "^/" "" path "${path}")
    if(NOT target MATCHES "^#|://" AND NOT path IN_LIST documents)
      string(REGEX REPLACE "([.+*?^$])" "\\\\\\1" target "${target}")
      string(REGEX REPLACE "\\[([^][\n]*)\\]\\(${target}\\)" "\\1" text "${text}")
    endif()
  endforeach()
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/documents/${document} "${text}")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/documents/${document}
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()
