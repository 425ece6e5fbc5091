/* SPDX-License-Identifier: Apache-2.0 */
/* What a program's log function is told, and what becomes of an image that does not fit. */
#include <raddle/raddle.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "unit.h"

#define TEXT "RDL_TASK(none, RDL_NONE, RDL_NONE, RDL_NONE) { RDL_BEGIN(); RDL_END(); }\n"

static char texts[RDL_LOG_ERROR + 1][4096]; /* by level */

static void note(void *user, rdl_log_level level, const char *text) {
  size_t used = strlen(texts[level]);
  assert_ptr_equal(user, texts);
  assert_null(strchr(text, '\n'));
  (void)snprintf(texts[level] + used, sizeof texts[level] - used, "%s\n", text);
}

/* NULL where this build has no host backend. */
static rdl_context *open_noted(const rdl_prebuilt *prebuilt) {
  rdl_context_options options = RDL_CONTEXT_OPTIONS_INIT;
  const rdl_prebuilt *const list[] = {prebuilt};
  static const rdl_prebuilt *kept[1];
  rdl_context *cx = NULL;
  rdl_status status;
  kept[0] = list[0];
  memset(texts, 0, sizeof texts);
  options.workers = 1;
  options.cache_dir = "";
  options.prebuilt = kept;
  options.prebuilt_count = prebuilt ? 1 : 0;
  options.log = note;
  options.log_user = texts;
  status = rdl_context_open_with("host", &options, &cx);
  if (status == RDL_NOT_FOUND) skip();
  assert_int_equal(status, RDL_OK);
  return cx;
}

static rdl_status load(rdl_context *cx, const char *name) {
  rdl_module *module;
  return rdl_module_load_text(cx, name, TEXT, sizeof TEXT - 1, &module);
}

static void what_is_told(void **state) {
  rdl_context *cx = open_noted(NULL);
  (void)state;
  assert_non_null(strstr(texts[RDL_LOG_INFO], "device host"));
  assert_non_null(strstr(texts[RDL_LOG_INFO], "runs 1 workers"));
  assert_string_equal(texts[RDL_LOG_DEBUG], "");
  assert_int_equal(load(cx, "a.task.c"), RDL_OK);
  assert_non_null(strstr(texts[RDL_LOG_DEBUG], "compiled, or found in the cache, in "));
  assert_string_equal(texts[RDL_LOG_WARNING], "");
  assert_int_equal(rdl_context_close(cx), RDL_OK);
}

static const rdl_prebuilt old = {"0123", NULL, "the_old_one", "a.task.c"};

static void an_image_that_does_not_fit(void **state) {
  rdl_context *cx = open_noted(&old);
  (void)state;
  assert_int_equal(load(cx, "folder/a.task.c"), RDL_OK);
  assert_non_null(strstr(texts[RDL_LOG_WARNING], "'the_old_one', compiled ahead of a.task.c, "));
  assert_int_equal(rdl_context_close(cx), RDL_OK);
}

static void an_image_of_other_files(void **state) {
  rdl_context *cx = open_noted(&old);
  (void)state;
  assert_int_equal(load(cx, "b.task.c"), RDL_OK);
  assert_string_equal(texts[RDL_LOG_WARNING], "");
  assert_int_equal(rdl_context_close(cx), RDL_OK);
}

static void no_compiler_for_one_that_does_not_fit(void **state) {
  static const char *const compilers[] = {"no-such-compiler", "/bin/false"};
  size_t k;
  (void)state;
  for (k = 0; k < 2; k++) {
    rdl_context *cx;
    assert_int_equal(setenv("RADDLE_CC", compilers[k], 1), 0);
    cx = open_noted(&old);
    assert_int_equal(unsetenv("RADDLE_CC"), 0);
    assert_int_equal(load(cx, "a.task.c"), k ? RDL_COMPILE : RDL_UNAVAILABLE);
    assert_non_null(strstr(rdl_error_text(), compilers[k]));
    assert_non_null(strstr(rdl_error_text(), "\nthe image 'the_old_one', compiled ahead of "));
    assert_string_equal(texts[RDL_LOG_DEBUG], "");
    assert_int_equal(rdl_context_close(cx), RDL_OK);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_told),
      cmocka_unit_test(an_image_that_does_not_fit),
      cmocka_unit_test(an_image_of_other_files),
      cmocka_unit_test(no_compiler_for_one_that_does_not_fit),
  };
  return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
