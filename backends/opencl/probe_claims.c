/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver says of its device. */
#include <stdio.h>
#include <string.h>

#include "backends/opencl/probe_claims.h"

static void claim_number(const rdl_cl *cl, cl_device_id id, rdl_report *report, const char *name,
                         cl_device_info what) {
  rdl__report_add(report, 0, name, "%llu", (unsigned long long)rdl__cl_number(cl, id, what));
}

static void claim_bytes(const rdl_cl *cl, cl_device_id id, rdl_report *report, const char *name,
                        cl_device_info what) {
  rdl__report_add(report, 0, name, "%llu bytes", (unsigned long long)rdl__cl_number(cl, id, what));
}

static void claim_text(const rdl_cl *cl, cl_device_id id, rdl_report *report, const char *name,
                       cl_device_info what) {
  char text[1024] = "";
  if (cl->clGetDeviceInfo(id, what, sizeof text - 1, text, NULL) != CL_SUCCESS) text[0] = 0;
  rdl__report_add(report, 0, name, "%s", text[0] ? text : "unknown");
}

typedef struct bit_name {
  uint64_t bit;
  const char *name;
} bit_name;

static void claim_bits(rdl_report *report, const char *row, uint64_t bits, const bit_name *names,
                       size_t count) {
  char text[sizeof report->rows[0].value] = "";
  size_t used = 0;
  for (size_t i = 0; i < count; i++)
    if ((bits & names[i].bit) && used < sizeof text)
      used +=
          (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "", names[i].name);
  rdl__report_add(report, 0, row, "%s", text[0] ? text : "none");
}

#define CLAIM_BITS(report, row, bits, names)                                                       \
  claim_bits((report), (row), (bits), (names), sizeof(names) / sizeof((names)[0]))

static void claim_features(const rdl_cl *cl, cl_device_id id, rdl_report *report) {
  static const bit_name types[] = {{CL_DEVICE_TYPE_CPU, "cpu"},
                                   {CL_DEVICE_TYPE_GPU, "gpu"},
                                   {CL_DEVICE_TYPE_ACCELERATOR, "accelerator"},
                                   {CL_DEVICE_TYPE_CUSTOM, "custom"}};
  static const bit_name svm[] = {{CL_DEVICE_SVM_COARSE_GRAIN_BUFFER, "coarse"},
                                 {CL_DEVICE_SVM_FINE_GRAIN_BUFFER, "fine"},
                                 {CL_DEVICE_SVM_FINE_GRAIN_SYSTEM, "system"},
                                 {CL_DEVICE_SVM_ATOMICS, "atomics"}};
  static const bit_name atomics[] = {{CL_DEVICE_ATOMIC_ORDER_RELAXED, "relaxed"},
                                     {CL_DEVICE_ATOMIC_ORDER_ACQ_REL, "acq_rel"},
                                     {CL_DEVICE_ATOMIC_ORDER_SEQ_CST, "seq_cst"},
                                     {CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP, "work_group"},
                                     {CL_DEVICE_ATOMIC_SCOPE_DEVICE, "device"},
                                     {CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES, "all_devices"}};
  CLAIM_BITS(report, "type", rdl__cl_number(cl, id, CL_DEVICE_TYPE), types);
  CLAIM_BITS(report, "svm", rdl__cl_number(cl, id, CL_DEVICE_SVM_CAPABILITIES), svm);
  CLAIM_BITS(report, "atomic_orders_scopes",
             rdl__cl_number(cl, id, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES), atomics);
}

/* Is the word in the list, which has spaces between its words? */
static int lists(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
    if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return 1;
  return 0;
}

/* Extensions that something in Raddle could use, one row each where they are there. */
static void claim_extensions(const rdl_cl *cl, cl_device_id id, rdl_report *report) {
  static const char *const interesting[] = {"cl_khr_int64_base_atomics",
                                            "cl_khr_int64_extended_atomics",
                                            "cl_khr_subgroups",
                                            "cl_khr_il_program",
                                            "cl_khr_command_buffer",
                                            "cl_khr_fp16",
                                            "cl_khr_fp64",
                                            "cl_nv_device_attribute_query"};
  char list[8192] = "";
  if (cl->clGetDeviceInfo(id, CL_DEVICE_EXTENSIONS, sizeof list - 1, list, NULL) != CL_SUCCESS)
    list[0] = '\0';
  for (size_t i = 0; i < sizeof interesting / sizeof interesting[0]; i++)
    if (lists(list, interesting[i])) rdl__report_add(report, 0, interesting[i], "yes");
}

void rdl__cl_claims(const rdl_cl *cl, cl_device_id id, rdl_report *report) {
  claim_text(cl, id, report, "opencl_version", CL_DEVICE_VERSION);
  claim_text(cl, id, report, "opencl_c_version", CL_DEVICE_OPENCL_C_VERSION);
  claim_text(cl, id, report, "driver_version", CL_DRIVER_VERSION);
  claim_number(cl, id, report, "compute_units", CL_DEVICE_MAX_COMPUTE_UNITS);
  claim_number(cl, id, report, "address_bits", CL_DEVICE_ADDRESS_BITS);
  claim_bytes(cl, id, report, "global_memory", CL_DEVICE_GLOBAL_MEM_SIZE);
  claim_bytes(cl, id, report, "max_allocation_claimed", CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  claim_bytes(cl, id, report, "local_memory", CL_DEVICE_LOCAL_MEM_SIZE);
  claim_number(cl, id, report, "max_work_group_size", CL_DEVICE_MAX_WORK_GROUP_SIZE);
  claim_features(cl, id, report);
  claim_extensions(cl, id, report);
}
