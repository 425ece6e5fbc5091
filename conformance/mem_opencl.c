/* SPDX-License-Identifier: Apache-2.0 */
/* MEM 6 on OpenCL devices: whose objects they are, who holds them, and who sees what when. */
#include <stdlib.h>
#include <string.h>

#include "conformance/mem_piece.h"

/* What is the program's, but not of the cl_context that the context works in, or not what it is
 * said to be. */
void MEM_6_foreign(void) {
  const uint32_t format[2] = {0x10B5u, 0x10DAu}; /* RGBA, UNSIGNED_INT8 */
  program p = program_open(), other = program_open();
  bed b = program_bed(&p), own = bed_open(MEM_TASKS);
  piece here = piece_new(&p, CL_PLAIN), there = piece_new(&other, CL_PLAIN);
  cl_code code = 0;
  cl_object image =
      cl.clCreateImage2D(p.own.context, CL_MEM_READ_WRITE_, format, 16, 16, 0, NULL, &code);
  rdl_import import = import_of(&there);
  refused(&b, &import, RDL_INVALID, "another cl_context");
  import = import_of(&here);
  refused(&own, &import, RDL_INVALID, "native_context"); /* Raddle's own is another one, too */
  import.bytes = WORDS * sizeof(uint32_t) + 1;
  refused(&b, &import, RDL_INVALID, "4000 bytes, and not 4001");
  if (!code) {
    REFUSED(&b, RDL_INVALID, "no buffer", .kind = RDL_IMPORT_CL_MEM, .memory = image);
    check_memory_references(image, 1);
    CHECK_EQ(0, cl.clReleaseMemObject(image));
  }
  piece_free(&here); /* no reference was kept */
  piece_free(&there);
  bed_close(&b);
  bed_close(&own);
  program_close(&p);
  program_close(&other);
}

void MEM_6_foreign_svm(void) {
  program p = program_open(), other = program_open();
  bed b = program_bed(&p);
  uint32_t *words = malloc(WORDS * sizeof *words);
  piece e = {.owner = &p, .origin = SVM_COARSE, .words = words};
  rdl_import import = import_of(&e);
  piece here, there;
  CHECK(words);
  if (!opencl_number(&p.own, CL_DEVICE_SVM_)) {
    refused(&b, &import, RDL_UNSUPPORTED, "no shared virtual memory");
    free(words);
    bed_close(&b);
    program_close(&p);
    program_close(&other);
    return;
  }
  here = piece_new(&p, SVM_COARSE);
  there = piece_new(&other, SVM_COARSE);
  refused(&b, &import, RDL_INVALID, "clSVMAlloc"); /* malloc gave it */
  import = import_of(&there);
  refused(&b, &import, RDL_INVALID, "native_context");
  import = import_of(&here);
  import.bytes += 4;
  refused(&b, &import, RDL_INVALID, "4004 bytes");
  import = import_of(&here);
  piece_free(&here);
  refused(&b, &import, RDL_INVALID, "clSVMAlloc"); /* freed */
  piece_free(&there);
  free(words);
  bed_close(&b);
  program_close(&p);
  program_close(&other);
}

/* References are taken and given back, one each; what the program lets go of first stays until
 * Raddle lets go of it, too. */
void MEM_6_references(void) {
  program p = program_open();
  uint32_t before = opencl_context_references(p.own.context);
  bed b = program_bed(&p);
  piece e = piece_new(&p, CL_PLAIN);
  rdl_buffer *buffer;
  CHECK(opencl_context_references(p.own.context) > before);
  piece_fill(&e, 1);
  buffer = import_piece(&b, &e);
  check_memory_references(e.memory, e.references + 1);
  rdl_buffer_destroy(buffer);
  check_memory_references(e.memory, e.references);
  buffer = import_piece(&b, &e);
  CHECK_EQ(0, cl.clReleaseMemObject(e.memory));
  CHECK_EQ(sum_from(1), add_to(&b, buffer, 1));
  bed_close(&b);
  check_context_references(p.own.context, before);
  program_close(&p);

  p = program_open();
  b = program_bed(&p);
  program_close(&p);
  CHECK_OK(rdl_buffer_create(b.cx, WORDS * sizeof(uint32_t), &buffer));
  CHECK_EQ(0, add_to(&b, buffer, 1));
  bed_close(&b);
}

/* Kernels of the program and tasks take turns at one buffer that stays imported. */
void MEM_6_turns(void) {
  enum { ROUNDS = 30 };
  const size_t global = WORDS;
  program p = program_open();
  bed b = program_bed(&p);
  cl_object kernel = opencl_kernel(
      &p.own, "kernel void twice(global uint *words) { words[get_global_id(0)] *= 2u; }", "twice");
  piece e = piece_new(&p, CL_PLAIN);
  rdl_buffer *buffer = import_piece(&b, &e);
  uint32_t words[WORDS], expected[WORDS], k, n;
  piece_fill(&e, 0);
  for (n = 0; n < WORDS; n++)
    expected[n] = n;
  CHECK_EQ(0, cl.clSetKernelArg(kernel, 0, sizeof e.memory, &e.memory));
  for (k = 0; k < ROUNDS; k++) {
    uint32_t sum = 0;
    for (n = 0; n < WORDS; n++) {
      expected[n] *= 2u;
      sum += expected[n];
      expected[n] += k;
    }
    CHECK_EQ(0,
             cl.clEnqueueNDRangeKernel(p.own.queue, kernel, 1, NULL, &global, NULL, 0, NULL, NULL));
    CHECK_EQ(0, cl.clFinish(p.own.queue));
    CHECK_EQ(sum, add_to(&b, buffer, k));
    CHECK_OK(rdl_buffer_sync(buffer));
  }
  piece_load(&e, words);
  for (n = 0; n < WORDS; n++)
    CHECK_EQ(expected[n], words[n]);
  rdl_buffer_destroy(buffer);
  piece_free(&e);
  bed_close(&b);
  program_close(&p);
}

/* A context opens in the program's cl_context alone with what belongs together. */
void MEM_6_native(void) {
  program p = program_open();
  rdl_context_options options = bed_options();
  rdl_context_info info = {.size = sizeof info};
  rdl_context *cx = NULL;
  uint32_t before = opencl_context_references(p.own.context);
  options.native_context = p.own.context;
  not_opened(&options, NULL, "given together");
  options.native_context = NULL;
  options.native_device = p.own.device;
  not_opened(&options, NULL, "given together");
  options.native_context = p.own.context;
  not_opened(&options, "host", "is not host");
  options.native_device = &info;
  not_opened(&options, NULL, "native_device");
  not_opened(&options, settings.selector, "native_device");
  check_context_references(p.own.context, before);
  options.native_device = p.own.device;
  CHECK_OK(rdl_context_open_with(NULL, &options, &cx));
  CHECK_OK(rdl_context_describe(cx, &info));
  CHECK(info.device.native == p.own.device);
  CHECK_OK(rdl_context_close(cx));
  check_context_references(p.own.context, before);
  program_close(&p);
}

/* Two devices of the platform of this run, the second for the program's own queue. PoCL makes them
 * of one processor when it is told to in time. */
static void two_devices(rdl_device_info out[2]) {
  rdl_device_info infos[16];
  size_t count = 0, found = 0, k;
  setenv("POCL_DEVICES", "pthread basic", 0);
  CHECK_OK(rdl_devices(infos, 16, &count));
  for (k = 0; k < count && k < 16 && found < 2; k++)
    if (infos[k].native && infos[k].usable &&
        (!found || strcmp(infos[k].platform, out[0].platform) == 0))
      out[found++] = infos[k];
  if (found < 2) test_skip("no platform has two devices");
}

/* The program's commands go to the second of the two. */
static program program_of_two(const rdl_device_info devices[2]) {
  program p = {.is_opencl = true, .own = {.device = devices[1].native}};
  const cl_object both[2] = {devices[0].native, devices[1].native};
  cl_code code = 0;
  p.own.context = cl.clCreateContext(NULL, 2, both, NULL, NULL, &code);
  CHECK_EQ(0, code);
  p.own.queue = cl.clCreateCommandQueue(p.own.context, p.own.device, 0, &code);
  CHECK_EQ(0, code);
  return p;
}

/* A cl_context of two devices: tasks run on one and the program's commands on the other, and with
 * rdl_buffer_sync each sees what the other wrote. Neither is taken for the other. */
void MEM_6_two_devices(void) {
  enum { ROUNDS = 10 };
  rdl_device_info devices[2];
  rdl_context_options options = bed_options();
  program p, one = {.is_opencl = true};
  rdl_buffer *buffer;
  uint32_t k;
  bed b;
  piece e;
  two_devices(devices);
  one.own = opencl_open(devices[1].native);
  options.native_context = one.own.context;
  options.native_device = devices[0].native;
  not_opened(&options, NULL, "has no device");
  p = program_of_two(devices);
  options.native_context = p.own.context;
  b = bed_open_on(NULL, MEM_TASKS, &options);
  e = piece_new(&p, CL_PLAIN);
  buffer = import_piece(&b, &e);
  for (k = 0; k < ROUNDS; k++) {
    piece_fill(&e, k);
    CHECK_OK(rdl_buffer_sync(buffer));
    CHECK_EQ(sum_from(k), add_to(&b, buffer, 100));
    CHECK_OK(rdl_buffer_sync(buffer));
    piece_holds(&e, 100 + k);
  }
  rdl_buffer_destroy(buffer);
  piece_free(&e);
  bed_close(&b);
  program_close(&p);
  program_close(&one);
}
