/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest program: open a device, load a file of tasks, run one, print what it returned. */
#include <stdio.h>

#include "../common/example.h"

static example_place place;

static const example_option options[] = {
    EXAMPLE_PLACE_OPTIONS(place),
};

int main(int argc, char **argv) {
  struct {
    uint32_t x, y;
  } args = {3, 4};
  rdl_context *cx = NULL;
  rdl_module *module = NULL;
  rdl_future answer;
  uint32_t value = 0;
  int code = EXAMPLE_OK;
  if (!example_options(argc, argv, "Adds two squares on the device.", options,
                       sizeof options / sizeof *options, &code))
    return code;

  rdl_status status = example_open(&place, &cx);
  if (!status) status = rdl_module_load(cx, example_task_file("hello.task.c"), &module);
  if (!status) status = rdl_spawn(module, "squares", &args, sizeof args, NULL, &answer);
  if (!status) status = rdl_future_get(cx, answer, &value, sizeof value, RDL_FOREVER);
  if (status)
    code = example_fail(argv[0], cx, status);
  else
    printf("%u * %u + %u * %u = %u\n", args.x, args.x, args.y, args.y, value);
  rdl_context_close(cx);
  return code;
}
