/* SPDX-License-Identifier: Apache-2.0 */
/* Finding devices and choosing one by its selector. */
#include <ctype.h>
#include <raddle/device.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/src/core.h"
#include "backends/common/backends.h"

#define MOST_DEVICES 64u

/* All devices of all backends, in the order of the backends' table. */
typedef struct device_list {
  rdl_device_info infos[MOST_DEVICES];
  const rdl_backend *backends[MOST_DEVICES];
  size_t indices[MOST_DEVICES];
  size_t count;
  rdl_reason missing; /* why backends have no devices */
} device_list;

static void list_backend(device_list *list, const rdl_backend *backend) {
  size_t found = 0;
  size_t k;
  rdl_reason why = {""};
  size_t used = strlen(list->missing.text);
  if (backend->enumerate(list->infos + list->count, MOST_DEVICES - list->count, &found, &why))
    found = 0;
  if (found > MOST_DEVICES - list->count) found = MOST_DEVICES - list->count;
  for (k = 0; k < found; k++) {
    list->backends[list->count + k] = backend;
    list->indices[list->count + k] = k;
  }
  list->count += found;
  if (!found && why.text[0])
    snprintf(list->missing.text + used, sizeof list->missing.text - used, "%s%s", used ? " " : "",
             why.text);
}

static bool names_backend(const char *selector, const rdl_backend *backend) {
  size_t length = strlen(backend->name);
  return strncmp(selector, backend->name, length) == 0 &&
         (selector[length] == '\0' || selector[length] == ':');
}

/* The devices of the backend that the selector names, so that no other driver is loaded; of all
 * backends when it names none. */
static device_list *list_devices(const char *selector) {
  device_list *list = calloc(1, sizeof *list);
  bool one = false;
  size_t k;
  if (!list) return NULL;
  for (k = 0; selector && k < rdl__backend_count; k++)
    one = one || names_backend(selector, rdl__backends[k]);
  for (k = 0; k < rdl__backend_count; k++)
    if (!one || names_backend(selector, rdl__backends[k])) list_backend(list, rdl__backends[k]);
  return list;
}

/* The host is the last resort: it is there on every machine. */
static int rank(const rdl_device_info *info) {
  if (!info->usable) return 0;
  return strcmp(info->backend, "host") == 0 ? 1 : 2;
}

rdl_status rdl_devices(rdl_device_info *infos, size_t capacity, size_t *out_count) {
  device_list *list;
  size_t stored = 0;
  size_t k;
  int wanted;
  RDL__NEED(out_count);
  if (!infos && capacity) return rdl__error(RDL_INVALID, "rdl_devices: infos is NULL");
  list = list_devices(NULL);
  if (!list) return rdl__error(RDL_OUT_OF_MEMORY, "rdl_devices: out of host memory");
  for (wanted = 2; wanted >= 0; wanted--)
    for (k = 0; k < list->count; k++)
      if (rank(&list->infos[k]) == wanted && stored < capacity) infos[stored++] = list->infos[k];
  *out_count = list->count;
  free(list);
  return RDL_OK;
}

static bool contains(const char *text, const char *part) {
  size_t n = strlen(part);
  for (; *text; text++) {
    size_t k = 0;
    while (k < n && text[k] && tolower((unsigned char)text[k]) == tolower((unsigned char)part[k]))
      k++;
    if (k == n) return true;
  }
  return n == 0;
}

/* PoCL's platform calls itself by its long name. */
static bool named(const rdl_device_info *info, const char *part) {
  if (contains("pocl", part) && contains(info->platform, "Portable Computing Language"))
    return true;
  return contains(info->platform, part) || contains(info->name, part);
}

static bool matches(const rdl_device_info *info, const char *selector) {
  size_t backend = strlen(info->backend);
  if (strcmp(info->selector, selector) == 0) return true;
  if (strncmp(selector, info->backend, backend) != 0) return false;
  if (selector[backend] == '\0') return true;
  if (selector[backend] != ':' || !selector[backend + 1]) return false;
  return !isdigit((unsigned char)selector[backend + 1]) && named(info, selector + backend + 1);
}

static size_t best_match(const device_list *list, const char *selector) {
  size_t best = list->count;
  size_t k;
  for (k = 0; k < list->count; k++) {
    if (selector && !matches(&list->infos[k], selector)) continue;
    if (best == list->count || rank(&list->infos[k]) > rank(&list->infos[best])) best = k;
  }
  return best;
}

static rdl_status not_found(const device_list *list, const char *selector) {
  char known[1024] = "";
  size_t used = 0;
  size_t k;
  for (k = 0; k < list->count && used < sizeof known - 64; k++)
    used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "",
                             list->infos[k].selector);
  if (list->missing.text[0] && strncmp(selector ? selector : "", "host", 4) != 0)
    return rdl__error(RDL_UNAVAILABLE, "no device '%s'. %s Devices here: %s",
                      selector ? selector : "", list->missing.text, known);
  return rdl__error(RDL_NOT_FOUND, "no device '%s'. Devices here: %s", selector ? selector : "",
                    known);
}

static rdl_status select_from(const device_list *list, const char *selector,
                              const rdl_backend **out_backend, size_t *out_index,
                              rdl_device_info *out_info) {
  size_t k = best_match(list, selector);
  if (k == list->count) return not_found(list, selector);
  if (!list->infos[k].usable)
    return rdl__error(RDL_UNSUPPORTED, "device %s (%s) cannot be used: %s", list->infos[k].selector,
                      list->infos[k].name, list->infos[k].missing);
  *out_backend = list->backends[k];
  *out_index = list->indices[k];
  *out_info = list->infos[k];
  return RDL_OK;
}

rdl_status rdl__select(const char *selector, const rdl_backend **out_backend, size_t *out_index,
                       rdl_device_info *out_info) {
  device_list *list;
  rdl_status status;
  if (!selector) selector = getenv("RADDLE_DEVICE");
  if (selector && !selector[0]) selector = NULL;
  list = list_devices(selector);
  if (!list) return rdl__error(RDL_OUT_OF_MEMORY, "opening a device: out of host memory");
  status = select_from(list, selector, out_backend, out_index, out_info);
  free(list);
  if (status != RDL_NOT_FOUND) return status;
  list = list_devices(NULL); /* the text lists all that there is */
  if (list) status = not_found(list, selector);
  free(list);
  return status;
}
