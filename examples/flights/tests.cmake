# SPDX-License-Identifier: Apache-2.0
# The second task file and the data lie beside the program, like its first task file.
set(flights ${CMAKE_CURRENT_LIST_DIR})
file(CREATE_LINK ${flights}/queries.task.c ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/queries.task.c SYMBOLIC)
file(CREATE_LINK ${flights}/data ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/flights-data SYMBOLIC)
install(FILES flights/queries.task.c DESTINATION ${example_folder} COMPONENT examples)
install(DIRECTORY flights/data/ DESTINATION ${example_folder}/flights-data COMPONENT examples
        FILES_MATCHING PATTERN *.csv.gz PATTERN README.md)
