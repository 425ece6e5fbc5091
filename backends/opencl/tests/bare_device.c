/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/opencl/tests/bare_device.h"

#include <string.h>

#include "backends/common/reason.h"
#include "backends/opencl/identity.h"

int bare_device_open(const char *platform, const char *options, const char *folder,
                     struct rdl_backend_device *out_device, rdl_reason *why) {
  rdl_cl_device found[RDL_CL_MOST_DEVICES];
  const rdl_cl *cl = rdl__cl_symbols(why);
  size_t count = cl ? rdl__cl_list(cl, found) : 0;
  memset(out_device, 0, sizeof *out_device);
  for (size_t i = 0; i < count; i++) {
    rdl_cl_identity identity;
    cl_int code = CL_SUCCESS;
    rdl__cl_identify(cl, found[i].id, &identity);
    if (!strstr(identity.platform, platform)) continue;
    out_device->cl = cl;
    out_device->id = found[i].id;
    out_device->options = options;
    out_device->lanes = 1;
    out_device->context = cl->clCreateContext(NULL, 1, &out_device->id, NULL, NULL, &code);
    rdl__copy_text(out_device->name, sizeof out_device->name, identity.name);
    rdl__copy_text(out_device->compiler, sizeof out_device->compiler, identity.driver);
    rdl__cache_open(&out_device->cache, folder);
    return code == CL_SUCCESS;
  }
  return 0;
}

rdl_status bare_device_build(struct rdl_backend_device *device, const char *name, const char *text,
                             rdl_reason *why) {
  rdl_text_piece pieces[] = {
      {.name = "own.h", .text = "/* ours */\n", .length = 11, .first_line = 1, .own = 1},
      {.name = name, .text = text, .length = strlen(text), .first_line = 1}};
  rdl_image_text image = {.pieces = pieces, .count = 2, .hash = text};
  rdl_backend_image *built = NULL;
  rdl_status status;
  memset(why, 0, sizeof *why);
  status = rdl__cl_build(device, &image, &built, why);
  if ((status == RDL_OK) != (built != NULL)) status = RDL_INTERNAL;
  rdl__cl_discard(device, built);
  return status;
}
