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
  return selector && strncmp(selector, backend->name, length) == 0 &&
         (selector[length] == '\0' || selector[length] == ':');
}

static bool names_some_backend(const char *selector) {
  size_t k;
  for (k = 0; k < rdl__backend_count; k++)
    if (names_backend(selector, rdl__backends[k])) return true;
  return false;
}

static bool same_letter(char a, char b) {
  return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Does `text` hold `words`, with no letter or digit directly before or behind them? */
static bool has_words(const char *text, const char *words) {
  size_t n = strlen(words);
  const char *at;
  for (at = text; *at; at++) {
    size_t k = 0;
    while (k < n && same_letter(at[k], words[k]))
      k++;
    if (k == n && !isalnum((unsigned char)at[n]) && (at == text || !isalnum((unsigned char)at[-1])))
      return true;
  }
  return false;
}

/* Does `word`, behind the backend's name, open this device and could open no other? */
static bool tells_apart(const device_list *list, size_t device, const char *word) {
  size_t k;
  for (k = 0; k < list->count; k++) {
    bool named = has_words(list->infos[k].platform, word) || has_words(list->infos[k].name, word);
    if (list->backends[k] == list->backends[device] && named != (k == device)) return false;
  }
  return true;
}

static void first_word(const char *text, char *out, size_t size) {
  size_t n = 0;
  for (; isalpha((unsigned char)text[n]) && n + 1 < size; n++)
    out[n] = (char)tolower((unsigned char)text[n]);
  out[n] = '\0';
}

/* Numbers change when a driver comes or goes, so a device is called by a word where one names it.
 * PoCL's platform calls itself by its long name first. */
static void name_devices(device_list *list) {
  char word[16] = "";
  size_t k;
  for (k = 0; k < list->count; k++) {
    rdl_device_info *info = &list->infos[k];
    if (!strchr(info->selector, ':')) continue;
    first_word(has_words(info->platform, "pocl") ? "pocl" : info->platform, word, sizeof word);
    if (word[0] && tells_apart(list, k, word))
      snprintf(info->selector, sizeof info->selector, "%.15s:%s", info->backend, word);
  }
}

/* The devices of the backend that the selector names, so that no other driver is loaded; of all
 * backends when it names none. */
static device_list *list_devices(const char *selector) {
  device_list *list = calloc(1, sizeof *list);
  bool one = names_some_backend(selector);
  size_t k;
  if (!list) return NULL;
  for (k = 0; k < rdl__backend_count; k++)
    if (!one || names_backend(selector, rdl__backends[k])) list_backend(list, rdl__backends[k]);
  name_devices(list);
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

/* The part of a selector behind the backend's name, when it is words: not a number, and without
 * anything around them that would match unseen. */
static const char *words_of(const char *selector) {
  const char *colon = strchr(selector, ':');
  const char *words = colon ? colon + 1 : "";
  unsigned char last = '\0';
  bool number = true;
  const char *at;
  for (at = words; *at; at++) {
    last = (unsigned char)*at;
    number = number && isdigit(last);
  }
  return !number && isalnum((unsigned char)words[0]) && isalnum(last) ? words : NULL;
}

static bool matches(const device_list *list, size_t k, const char *selector) {
  const rdl_device_info *info = &list->infos[k];
  size_t backend = strlen(info->backend);
  char number[48];
  const char *words;
  if (strncmp(selector, info->backend, backend) != 0) return false;
  if (selector[backend] == '\0') return true;
  snprintf(number, sizeof number, ":%zu", list->indices[k]);
  if (strcmp(selector + backend, number) == 0) return strchr(info->selector, ':') != NULL;
  words = selector[backend] == ':' ? words_of(selector) : NULL;
  return words && (has_words(info->platform, words) || has_words(info->name, words));
}

/* Nobody could tell them apart by words, and it does not matter which is opened. */
static bool alike(const rdl_device_info *a, const rdl_device_info *b) {
  return strcmp(a->name, b->name) == 0 && strcmp(a->platform, b->platform) == 0;
}

/* The first of the best. `*out_several`: others are as good, and differ. */
static size_t best_match(const device_list *list, const char *selector, bool *out_several) {
  size_t best = list->count;
  size_t k;
  *out_several = false;
  for (k = 0; k < list->count; k++) {
    const rdl_device_info *info = &list->infos[k];
    if (selector && !matches(list, k, selector)) continue;
    if (best == list->count || rank(info) > rank(&list->infos[best])) {
      best = k;
      *out_several = false;
    } else if (rank(info) == rank(&list->infos[best]) && !alike(info, &list->infos[best])) {
      *out_several = true;
    }
  }
  return best;
}

/* "opencl:pocl (its name), host (its name)", as many as there is room for. */
static void list_selectors(const device_list *list, char *out, size_t size) {
  size_t used = 0;
  size_t k;
  out[0] = '\0';
  for (k = 0; k < list->count; k++) {
    const rdl_device_info *info = &list->infos[k];
    char one[192];
    size_t length =
        (size_t)snprintf(one, sizeof one, "%s%s (%s)", k ? ", " : "", info->selector, info->name);
    if (used + length + sizeof ", ..." > size) {
      snprintf(out + used, size - used, ", ...");
      return;
    }
    memcpy(out + used, one, length + 1);
    used += length;
  }
}

/* Why the selector opens nothing, with all devices that there are. */
static rdl_status refuse(rdl_status status, const char *selector, const char *missing) {
  device_list *all = list_devices(NULL);
  char known[1024] = "none";
  if (!selector) selector = "";
  if (all) list_selectors(all, known, sizeof known);
  free(all);
  if (status == RDL_INVALID)
    return rdl__error(status, "'%.100s' fits several devices; choose by number. Devices here: %s",
                      selector, known);
  return rdl__error(status, "no device '%.100s'.%s%s Devices here: %s%s", selector,
                    missing[0] ? " " : "", missing, known,
                    status == RDL_NOT_FOUND
                        ? ". A selector is a backend, or a backend, a colon, and "
                          "a number or whole words of a device's name or platform"
                        : "");
}

static rdl_status find_in(const device_list *list, const char *selector,
                          const rdl_backend **out_backend, size_t *out_index,
                          rdl_device_info *out_info) {
  bool several;
  size_t k = best_match(list, selector, &several);
  if (k == list->count) {
    /* A backend without devices is asked for: its driver is what is missing. */
    bool absent = list->missing.text[0] && (!selector || names_some_backend(selector));
    return refuse(absent ? RDL_UNAVAILABLE : RDL_NOT_FOUND, selector, list->missing.text);
  }
  if (several && selector && strchr(selector, ':')) return refuse(RDL_INVALID, selector, "");
  *out_backend = list->backends[k];
  *out_index = list->indices[k];
  *out_info = list->infos[k];
  return RDL_OK;
}

rdl_status rdl__find_device(const char *selector, const rdl_backend **out_backend,
                            size_t *out_index, rdl_device_info *out_info) {
  device_list *list;
  rdl_status status;
  if (!selector) selector = getenv("RADDLE_DEVICE");
  if (selector && !selector[0]) selector = NULL;
  list = list_devices(selector);
  if (!list) return rdl__error(RDL_OUT_OF_MEMORY, "finding a device: out of host memory");
  status = find_in(list, selector, out_backend, out_index, out_info);
  free(list);
  return status;
}

/* The device that its driver calls `native`. RADDLE_DEVICE has no say: the program has chosen. */
static rdl_status find_native(const void *native, const rdl_backend **out_backend,
                              size_t *out_index, rdl_device_info *out_info) {
  device_list *list = list_devices(NULL);
  rdl_status status = RDL_OK;
  size_t k = 0;
  if (!list) return rdl__error(RDL_OUT_OF_MEMORY, "finding a device: out of host memory");
  while (k < list->count && list->infos[k].native != native)
    k++;
  if (k == list->count) {
    status = rdl__error(RDL_INVALID,
                        "rdl_context_options: native_device is `native` of no device that "
                        "rdl_devices lists. A part of a device is none, and neither is one of "
                        "another loader");
  } else {
    *out_backend = list->backends[k];
    *out_index = list->indices[k];
    *out_info = list->infos[k];
  }
  free(list);
  return status;
}

static rdl_status find_chosen(const char *selector, const void *native,
                              const rdl_backend **out_backend, size_t *out_index,
                              rdl_device_info *out_info) {
  rdl_status status;
  if (native && !selector) return find_native(native, out_backend, out_index, out_info);
  status = rdl__find_device(selector, out_backend, out_index, out_info);
  if (status != RDL_OK || !native || out_info->native == native) return status;
  return rdl__error(RDL_INVALID,
                    "rdl_context_options: native_device is not %s (%s), which the selector names: "
                    "leave the selector NULL",
                    out_info->selector, out_info->name);
}

rdl_status rdl__select(const char *selector, const void *native, const rdl_backend **out_backend,
                       size_t *out_index, rdl_device_info *out_info) {
  rdl_status status = find_chosen(selector, native, out_backend, out_index, out_info);
  if (status != RDL_OK || out_info->usable) return status;
  return rdl__error(RDL_UNSUPPORTED, "device %s (%s) cannot be used: %s", out_info->selector,
                    out_info->name, out_info->missing);
}

rdl_status rdl_device_capabilities(const char *selector, uint32_t flags, rdl_capability *out,
                                   size_t capacity, size_t *out_count) {
  const rdl_backend *backend = NULL;
  rdl_device_info info;
  rdl_reason why = {""};
  rdl_status status;
  size_t index;
  RDL__NEED(out_count);
  if (!out && capacity) return rdl__error(RDL_INVALID, "rdl_device_capabilities: out is NULL");
  if (flags & ~RDL_REPROBE)
    return rdl__error(RDL_INVALID,
                      "rdl_device_capabilities: flags are %#x; only RDL_REPROBE is known",
                      (unsigned)flags);
  status = rdl__find_device(selector, &backend, &index, &info);
  if (!backend) return status;
  status = backend->capabilities(index, NULL, flags, out, capacity, out_count, &why);
  return status == RDL_OK ? RDL_OK : rdl__error_why(status, &why);
}
