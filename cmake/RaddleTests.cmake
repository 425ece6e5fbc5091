# SPDX-License-Identifier: Apache-2.0
# How tests are registered. Exit code 77 means skipped; every test has a time limit and a label.

# Both caches are private to the build folder, so that tests neither use nor fill the user's.
set(RDL_TEST_CACHE ${PROJECT_BINARY_DIR}/test-cache)
file(MAKE_DIRECTORY ${RDL_TEST_CACHE}/pocl ${RDL_TEST_CACHE}/xdg)

# The same test of a sanitized build has a name of its own, because one ctest run may hold them all.
if(RDL_SANITIZE STREQUAL "thread")
  set(RDL_TEST_SUFFIX @tsan)
elseif(RDL_SANITIZE)
  set(RDL_TEST_SUFFIX @asan)
endif()

# Sanitizers look at the drivers of the machine too, and some leak as they are unloaded, where no
# suppression knows their name. So a sanitized test has PoCL alone, unless it names another itself.
set(RDL_TEST_DRIVERS "")
if(RDL_SANITIZE)
  find_file(RDL_POCL_ICD pocl.icd PATHS /etc/OpenCL/vendors /usr/local/etc/OpenCL/vendors
    NO_DEFAULT_PATH)
  mark_as_advanced(RDL_POCL_ICD)
  if(RDL_POCL_ICD)
    set(RDL_TEST_DRIVERS OCL_ICD_VENDORS=${RDL_POCL_ICD})
  endif()
endif()

# raddle_add_test(NAME name COMMAND command... [LABELS label...] [TIMEOUT seconds]
#                 [PROPERTIES property value...])
# Label a test that takes over ten seconds `slow`: the quick run leaves those out.
function(raddle_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT" "COMMAND;LABELS;PROPERTIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(RDL_SANITIZE) # compilers of drivers run in sanitized processes, several times as slow
    math(EXPR arg_TIMEOUT "3 * ${arg_TIMEOUT}")
  endif()
  set(name ${arg_NAME}${RDL_TEST_SUFFIX})
  add_test(NAME ${name} COMMAND ${arg_COMMAND})
  # gcc 12's sanitizer takes some thread-local blocks of libraries opened at run time for blocks of
  # an old glibc, and its leak check then crashes on what it reads before them.
  set(environment ${RDL_TEST_DRIVERS} POCL_CACHE_DIR=${RDL_TEST_CACHE}/pocl XDG_CACHE_HOME=${RDL_TEST_CACHE}/xdg
    ASAN_OPTIONS=intercept_tls_get_addr=0
    UBSAN_OPTIONS=print_stacktrace=1
    LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/leaks-of-drivers.txt:print_suppressions=0)
  set_tests_properties(${name} PROPERTIES
    SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" ENVIRONMENT "${environment}"
    ${arg_PROPERTIES})
endfunction()

# cmocka, for the unit tests only. RDL_TESTS=ON insists on it, AUTO does without.
if(RDL_TESTS)
  find_package(cmocka CONFIG QUIET)
  set(RDL_UNIT_TESTS ${cmocka_FOUND})
  if(NOT cmocka_FOUND AND RDL_TESTS STREQUAL "AUTO")
    message(WARNING "No unit tests: cmocka was not found (Debian: libcmocka-dev).")
  elseif(NOT cmocka_FOUND)
    message(FATAL_ERROR "The unit tests need cmocka (Debian: libcmocka-dev). "
                        "Install it, or configure with -DRDL_TESTS=AUTO or OFF.")
  endif()
endif()

# raddle_add_unit_test(NAME file... [ARGS argument...]): a cmocka program NAME_test that may also
# call what the shared library hides, because it links the library's object files.
function(raddle_add_unit_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ARGS")
  if(NOT RDL_UNIT_TESTS)
    return()
  endif()
  set(program ${name}_test)
  add_executable(${program} ${arg_UNPARSED_ARGUMENTS})
  raddle_adopt(${program})
  target_link_libraries(${program} PRIVATE raddle_whole ${CMOCKA_LIBRARIES})
  target_include_directories(${program} SYSTEM PRIVATE ${CMOCKA_INCLUDE_DIR})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  raddle_add_test(NAME unit.${name} COMMAND ${program} ${arg_ARGS} LABELS unit)
endfunction()
