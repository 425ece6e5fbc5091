/* SPDX-License-Identifier: Apache-2.0 */
/* Names and texts of the status codes, both made from the list in status.h. */
#include <raddle/status.h>

static const struct {
  const char *name;
  const char *text;
} entries[] = {
#define ENTRY(code, text) {"RDL_" #code, text},
    RDL_STATUS_LIST(ENTRY)
#undef ENTRY
};

/* The cast also turns a negative number, which C lets a caller pass, into one past the end. */
static int is_code(rdl_status status) {
  return (unsigned)status < sizeof entries / sizeof entries[0];
}

const char *rdl_status_name(rdl_status status) {
  return is_code(status) ? entries[status].name : "unknown";
}

const char *rdl_status_text(rdl_status status) {
  return is_code(status) ? entries[status].text : "not a status code of this version";
}
