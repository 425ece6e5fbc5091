// SPDX-License-Identifier: Apache-2.0
// The public headers and their initialisers in C++, without a warning.
#include <raddle/backend.h>
#include <raddle/raddle.h>

int main() {
  static const rdl_context_options fixed = RDL_CONTEXT_OPTIONS_INIT;
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  rdl_spawn_options spawn = RDL_SPAWN_OPTIONS_INIT;
  rdl_context_info info = RDL_SIZED(rdl_context_info);
  rdl_future_result result = RDL_SIZED(rdl_future_result);
  options.workers = 1;
  spawn.after_count = 0;
  bool sized = fixed.size == sizeof fixed && options.size == sizeof options &&
               spawn.size == sizeof spawn && info.size == sizeof info && result.size == sizeof result;
  bool zero = !fixed.workers && !fixed.log && !fixed.reserved[0] && !spawn.after && !info.workers;
  return sized && zero ? 0 : 1;
}
