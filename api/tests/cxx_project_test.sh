#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cxx_project_test.sh CMAKE SOURCE WORK TASKS LIBRARY: a project in C++ that compiles task files ahead. In
# one that has no C the generated file would be left out without a word; it is refused.
set -eu
command -v c++ >/dev/null || {
  echo "no C++ compiler is installed"
  exit 77
}
rm -rf "$3"
mkdir -p "$3/plain" "$3/both"
cd "$3"
cat >twice.task.c <<'END'
RDL_TASK(twice, uint, uint, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(2 * *args); RDL_END(); }
END
cat >main.cc <<'END'
#include <raddle/raddle.h>
#include <cstdio>
extern "C" const rdl_prebuilt rdl_prebuilt_program;
int main(int, char **argv) {
  const rdl_prebuilt *const images[] = {&rdl_prebuilt_program};
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_context *cx = nullptr;
  rdl_module *module = nullptr;
  rdl_future twice;
  unsigned n = 21;
  options.prebuilt = images;
  options.prebuilt_count = 1;
  rdl_status st = rdl_context_open_with("host", &options, &cx);
  if (!st) st = rdl_module_load(cx, argv[1], &module);
  if (!st) st = rdl_spawn(module, "twice", &n, sizeof n, nullptr, &twice);
  if (!st) st = rdl_future_get(cx, twice, &n, sizeof n, RDL_FOREVER);
  if (st) std::fprintf(stderr, "%s\n", rdl_error_text());
  else std::printf("%u\n", n);
  rdl_context_close(cx);
  return st;
}
END

# project FOLDER LANGUAGES: what find_package(raddle) gives is taken from the build tree.
project() {
  cat >"$1/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(program $2)
add_executable(raddle::tasks IMPORTED)
set_target_properties(raddle::tasks PROPERTIES IMPORTED_LOCATION "$tasks")
include("$source/cmake/RaddleTasks.cmake")
add_executable(program ../main.cc)
target_include_directories(program PRIVATE "$source/api/include")
target_link_libraries(program PRIVATE "$library" pthread dl m)
raddle_add_tasks(program ../twice.task.c)
END
}
cmake=$1 source=$2 work=$3 tasks=$4 library=$5
project plain CXX
if "$cmake" -S plain -B plain/build >plain.log 2>&1; then
  echo "a project without C was taken"
  exit 1
fi
tr -s ' \n' ' ' <plain.log | grep -q 'raddle_add_tasks(program): .* project(program C CXX)' || {
  cat plain.log
  exit 1
}
project both "C CXX"
{ "$cmake" -S both -B both/build && "$cmake" --build both/build; } >both.log 2>&1 || {
  cat both.log
  exit 1
}
# No compiler is needed when it runs.
answer=$(RADDLE_CC=no-such-compiler both/build/program "$work/twice.task.c")
[ "$answer" = 42 ] || {
  echo "it answered '$answer'"
  exit 1
}
