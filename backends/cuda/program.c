/* SPDX-License-Identifier: Apache-2.0 */
/* From text to a kernel: the cache of cubins, NVRTC in a process of its own, and the module. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/common/compile_log.h"
#include "backends/common/join.h"
#include "backends/common/reason.h"
#include "backends/cuda/device.h"
#include "backends/cuda/front.h"
#include "backends/cuda/status.h"

/* ---- module ---- */

/* All of it must be loaded before the first launch: what the driver loads later waits for the end
 * of what runs. */
static rdl_status load_function(rdl_backend_device *device, rdl_cu_module module, const char *name,
                                rdl_cu_function *out_function, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  int registers = 0;
  rdl_status status =
      RDL_CU(cu, &device->lost, why, cu->cuModuleGetFunction(out_function, module, name));
  if (status != RDL_OK) return status;
  if (cu->cuFuncLoad) return RDL_CU(cu, &device->lost, why, cu->cuFuncLoad(*out_function));
  return RDL_CU(cu, &device->lost, why,
                cu->cuFuncGetAttribute(&registers, RDL_CU_FUNC_ATTRIBUTE_NUM_REGS, *out_function));
}

/* The image says how much shared memory its launches take, for the driver to keep it ready. */
static rdl_status take_shared(rdl_backend_device *device, rdl_backend_image *image,
                              rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_cu_address address = 0;
  size_t size = 0;
  rdl_status status =
      RDL_CU(cu, &device->lost, why,
             cu->cuModuleGetGlobal(&address, &size, image->module, "rdl_shared_bytes"));
  if (status != RDL_OK) return status;
  status = RDL_CU(cu, &device->lost, why,
                  cu->cuMemcpyDtoHAsync(&image->shared_bytes, address, sizeof image->shared_bytes,
                                        device->stream));
  if (status == RDL_OK)
    status = RDL_CU(cu, &device->lost, why, cu->cuStreamSynchronize(device->stream));
  if (status != RDL_OK) return status;
  return RDL_CU(cu, &device->lost, why,
                cu->cuFuncSetAttribute(image->kernel,
                                       RDL_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       (int)image->shared_bytes));
}

static rdl_status check_fit(rdl_backend_device *device, const rdl_backend_image *image,
                            rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  int blocks = 0;
  uint32_t fit;
  rdl_status status =
      RDL_CU(cu, &device->lost, why,
             cu->cuOccupancyMaxActiveBlocksPerMultiprocessor(
                 &blocks, image->kernel, (int)(RDL_CU_LANES * RDL_CU_WARPS), image->shared_bytes));
  if (status != RDL_OK) return status;
  fit = blocks > 0 ? (uint32_t)blocks * device->units * RDL_CU_WARPS : 0;
  if (device->workers <= fit) return RDL_OK;
  return rdl__fail(RDL_UNSUPPORTED, why,
                   "These tasks take so much of %s that %u workers run at the same time, and not "
                   "%u. Set the option `workers` to %u or less.",
                   device->name, (unsigned)fit, (unsigned)device->workers, (unsigned)fit);
}

static rdl_status load_module(rdl_backend_device *device, const void *binary,
                              rdl_backend_image *image, rdl_reason *why) {
  const rdl_cu *cu = device->cu;
  rdl_status status = RDL_CU(cu, &device->lost, why, cu->cuModuleLoadData(&image->module, binary));
  if (status == RDL_OK)
    status = load_function(device, image->module, "rdl_launch", &image->kernel, why);
  if (status == RDL_OK)
    status = load_function(device, image->module, "rdl_scatter", &image->scatter, why);
  if (status == RDL_OK)
    status = load_function(device, image->module, "rdl_gather", &image->gather, why);
  if (status == RDL_OK) status = take_shared(device, image, why);
  if (status == RDL_OK) status = check_fit(device, image, why);
  return status;
}

static void unload_module(rdl_backend_device *device, rdl_backend_image *image) {
  if (image->module) (void)device->cu->cuModuleUnload(image->module);
  memset(image, 0, sizeof *image);
}

static rdl_status from_binary(rdl_backend_device *device, const void *binary,
                              rdl_backend_image *image, rdl_reason *why) {
  rdl_status status = rdl__cu_enter(device, why);
  if (status != RDL_OK) return status;
  status = load_module(device, binary, image, why);
  if (status != RDL_OK) unload_module(device, image);
  rdl__cu_leave(device);
  return status;
}

/* ---- compile ---- */

static rdl_status compile(rdl_backend_device *device, const rdl_joined *joined,
                          rdl_nvrtc_binary *out_binary, rdl_reason *why) {
  char *log = NULL;
  rdl_status status = rdl__nvrtc_compile(&device->nvrtc, device->options, joined->text,
                                         joined->length, device->stop, out_binary, &log, why);
  if (log) status = rdl__compile_log(log, joined, why);
  free(log);
  return status;
}

/* What NVRTC lacks stands in front of the text. */
static rdl_status join(const rdl_image_text *text, rdl_joined *out_joined, rdl_reason *why) {
  rdl_text_piece *pieces = calloc(text->count + 1u, sizeof *pieces);
  rdl_image_text whole = {.pieces = pieces, .count = text->count + 1u, .hash = text->hash};
  rdl_status status;
  if (!pieces) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for the text.");
  pieces[0] = (rdl_text_piece){.name = "front.cu",
                               .text = (const char *)rdl__front_texts[0].text,
                               .length = rdl__front_texts[0].size,
                               .first_line = 1,
                               .own = 1};
  memcpy(pieces + 1, text->pieces, text->count * sizeof *pieces);
  status = rdl__join(&whole, out_joined, why);
  free(pieces);
  return status;
}

static rdl_status build_new(rdl_backend_device *device, const rdl_image_text *text,
                            const rdl_cache_key *key, rdl_backend_image *image, rdl_reason *why) {
  rdl_nvrtc_binary binary = {.bytes = NULL};
  rdl_joined joined = {.text = NULL};
  rdl_status status = join(text, &joined, why);
  if (status != RDL_OK) return status;
  status = compile(device, &joined, &binary, why);
  rdl__join_free(&joined);
  if (status == RDL_OK) status = from_binary(device, binary.bytes, image, why);
  if (status == RDL_OK || status == RDL_UNSUPPORTED) /* with the zero that PTX needs behind it */
    (void)rdl__cache_store(&device->cache, key, binary.bytes, binary.size + 1u, NULL);
  free(binary.bytes);
  return status;
}

/* ---- build ---- */

/* A cubin does not depend on the driver, but on the text that is put in front. */
static rdl_status build(rdl_backend_device *device, const rdl_image_text *text,
                        rdl_backend_image *image, rdl_reason *why) {
  char compiler[128];
  rdl_cache_key key = {.backend = "cuda",
                       .text_hash = text->hash,
                       .options = device->options,
                       .device = device->arch,
                       .compiler = compiler};
  rdl_cache_entry entry = {.image = NULL};
  rdl_status status = RDL_NOT_FOUND;
  (void)snprintf(compiler, sizeof compiler, "NVRTC %d.%d, front %s", device->nvrtc.major,
                 device->nvrtc.minor, rdl__front_hash);
  if (rdl__cache_load(&device->cache, &key, &entry)) {
    status = from_binary(device, entry.image, image, why);
    free(entry.image);
  }
  if (status == RDL_OK || status == RDL_DEVICE_LOST || status == RDL_UNSUPPORTED) return status;
  return build_new(device, text, &key, image, why);
}

rdl_status rdl__cu_build(rdl_backend_device *device, const rdl_image_text *text,
                         rdl_backend_image **out_image, rdl_reason *why) {
  rdl_status status;
  rdl_backend_image *image = calloc(1, sizeof *image);
  if (!image) return rdl__fail(RDL_OUT_OF_MEMORY, why, "No memory is left for an image.");
  status = build(device, text, image, why);
  if (status != RDL_OK) {
    rdl__cu_discard(device, image);
    return status;
  }
  rdl__cu_transfers_by(device, image);
  *out_image = image;
  return RDL_OK;
}

void rdl__cu_discard(rdl_backend_device *device, rdl_backend_image *image) {
  if (!image) return;
  rdl__cu_transfers_without(device, image);
  if (image->module && rdl__cu_enter_to_free(device)) {
    unload_module(device, image);
    rdl__cu_leave(device);
  }
  free(image);
}
