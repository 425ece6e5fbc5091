# SPDX-License-Identifier: Apache-2.0
# The parts of the flights example that other examples do not have: a second task file and the data
# beside the program, tasks compiled ahead for the host, and tests against the reference.
set(flights ${CMAKE_CURRENT_LIST_DIR})

file(CREATE_LINK ${flights}/queries.task.c ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/queries.task.c SYMBOLIC)
file(CREATE_LINK ${flights}/data ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/flights-data SYMBOLIC)
install(FILES ${flights}/queries.task.c DESTINATION ${example_folder} COMPONENT examples)
install(DIRECTORY ${flights}/data/ DESTINATION ${example_folder}/flights-data COMPONENT examples
        FILES_MATCHING PATTERN *.csv.gz PATTERN README.md)

# Loading the second file makes a new image of both, so there are two.
foreach(image IN ITEMS flights_tasks flights_queries)
  add_library(${image} OBJECT)
  raddle_adopt(${image})
  target_sources(flights PRIVATE $<TARGET_OBJECTS:${image}>)
endforeach()
raddle_add_tasks(flights_tasks ${flights}/flights.task.c)
raddle_add_tasks(flights_queries ${flights}/flights.task.c ${flights}/queries.task.c)

if(NOT RDL_TESTS)
  return()
endif()
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
  message(WARNING "The flights example is not tested: Python 3 was not found.")
  return()
endif()

# The first test on PoCL compiles the tasks, which takes long; the others on it come later.
function(add_flights_test name device)
  string(REPLACE "opencl:" "" label ${device})
  set(labels example ${label})
  set(first example.flights.pocl.1.scale1)
  if(label STREQUAL "pocl" OR RDL_SANITIZE OR "--epoch" IN_LIST ARGN)
    list(APPEND labels slow)
  endif()
  if(label STREQUAL "pocl" AND NOT first STREQUAL "example.flights.${name}")
    set(after PROPERTIES DEPENDS ${first})
  endif()
  raddle_add_test(NAME example.flights.${name} LABELS ${labels} TIMEOUT 300 ${after}
    COMMAND ${Python3_EXECUTABLE} ${flights}/test.py $<TARGET_FILE:flights> --device ${device} ${ARGN})
endfunction()

set(flights_devices host)
if(TARGET raddle_opencl AND NOT RDL_SANITIZE)
  list(APPEND flights_devices opencl:pocl)
endif()
foreach(device IN LISTS flights_devices)
  string(REPLACE "opencl:" "" label ${device})
  foreach(workers 1 2)
    foreach(scale 1 3)
      add_flights_test(${label}.${workers}.scale${scale} ${device}
        answers --workers ${workers} --scale ${scale})
    endforeach()
  endforeach()
  add_flights_test(${label}.epoch ${device} answers --epoch)
endforeach()
add_flights_test(host.errors host errors)
add_flights_test(host.errors.epoch host errors --epoch)
add_flights_test(host.terminal host terminal)
