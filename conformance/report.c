/* SPDX-License-Identifier: Apache-2.0 */
/* Reports: lines for people, JUnit for CI systems, JSON for scripts. */
#include <string.h>

#include "conformance/run.h"

static const char *const verdict_names[] = {"passed", "failed", "skipped"};

/* The reason of a skip comes first: that is what a list of skipped tests quotes. */
void run_print(const test_outcome *outcome) {
  const char *text = outcome->text ? outcome->text : "";
  if (outcome->verdict == VERDICT_SKIPPED) {
    printf("skipped %s: %s\n", outcome->test->name, text);
    return;
  }
  printf("%s %s (%.2f s)\n", verdict_names[outcome->verdict], outcome->test->name,
         outcome->seconds);
  if (outcome->verdict != VERDICT_FAILED) return;
  printf("%s\n  again: raddle-conformance --device %s --filter '%s' --workers %u --lanes %u "
         "--segment-limit %u --loop-turns %u --scale %u --seed %llu%s%s%s\n",
         text, settings.selector, outcome->test->name, settings.workers, settings.lanes,
         settings.segment_limit, settings.loop_turns, settings.scale,
         (unsigned long long)settings.seed, settings.flat ? " --flat" : "",
         settings.epoch ? " --epoch" : "", settings.apart ? " --apart" : "");
}

static void put_xml(FILE *file, const char *text) {
  for (; text && *text; text++) {
    if (*text == '<')
      fputs("&lt;", file);
    else if (*text == '>')
      fputs("&gt;", file);
    else if (*text == '&')
      fputs("&amp;", file);
    else if (*text == '"')
      fputs("&quot;", file);
    else if ((unsigned char)*text >= 0x20 || *text == '\n' || *text == '\t')
      fputc(*text, file);
  }
}

static void put_json(FILE *file, const char *text) {
  for (; text && *text; text++) {
    if (*text == '"' || *text == '\\')
      fprintf(file, "\\%c", *text);
    else if (*text == '\n')
      fputs("\\n", file);
    else if ((unsigned char)*text < 0x20)
      fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
    else
      fputc(*text, file);
  }
}

static size_t count_of(const test_outcome *outcomes, size_t count, test_verdict verdict) {
  size_t n = 0, k;
  for (k = 0; k < count; k++)
    if (outcomes[k].verdict == verdict) n++;
  return n;
}

static int close_report(FILE *file, const char *path) {
  int bad = ferror(file);
  if (fclose(file) || bad) {
    perror(path);
    return 1;
  }
  return 0;
}

static const char *mode(void) {
  return run_mode == RDL_MODE_EPOCH ? "epoch" : run_mode == RDL_MODE_APART ? "apart" : "resident";
}

static void put_property(FILE *file, const char *name, const char *value) {
  fprintf(file, "    <property name=\"%s\" value=\"", name);
  put_xml(file, value);
  fputs("\"/>\n", file);
}

/* What a report tells of the run, beside the selector that it was asked for. */
static void put_properties(FILE *file) {
  char numbers[96];
  snprintf(numbers, sizeof numbers, "workers %u, lanes %u, segment limit %u, scale %u %%%s",
           settings.workers, settings.lanes, settings.segment_limit, settings.scale,
           settings.flat ? ", flat" : "");
  fputs("  <properties>\n", file);
  put_property(file, "version", rdl_version());
  put_property(file, "device", run_device.name);
  put_property(file, "platform", run_device.platform);
  put_property(file, "driver", run_device.driver);
  put_property(file, "mode", mode());
  put_property(file, "settings", numbers);
  fputs("  </properties>\n", file);
}

static void put_member(FILE *file, const char *name, const char *value) {
  fprintf(file, "  \"%s\": \"", name);
  put_json(file, value);
  fputs("\",\n", file);
}

int run_write_junit(const char *path, const test_outcome *outcomes, size_t count) {
  FILE *file = fopen(path, "w");
  size_t k;
  if (!file) {
    perror(path);
    return 1;
  }
  fprintf(file,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<testsuite name=\"raddle-conformance %s\" tests=\"%zu\" failures=\"%zu\" "
          "skipped=\"%zu\">\n",
          settings.selector, count, count_of(outcomes, count, VERDICT_FAILED),
          count_of(outcomes, count, VERDICT_SKIPPED));
  put_properties(file);
  for (k = 0; k < count; k++) {
    const test_outcome *o = &outcomes[k];
    fprintf(file, "  <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\">", settings.selector,
            o->test->name, o->seconds);
    if (o->verdict != VERDICT_PASSED)
      fputs(o->verdict == VERDICT_FAILED ? "<failure message=\"" : "<skipped message=\"", file);
    if (o->verdict != VERDICT_PASSED) put_xml(file, o->text);
    fputs(o->verdict != VERDICT_PASSED ? "\"/></testcase>\n" : "</testcase>\n", file);
  }
  fputs("</testsuite>\n", file);
  return close_report(file, path);
}

int run_write_json(const char *path, const test_outcome *outcomes, size_t count) {
  FILE *file = fopen(path, "w");
  size_t k;
  if (!file) {
    perror(path);
    return 1;
  }
  fputs("{\n", file);
  put_member(file, "device", settings.selector);
  put_member(file, "version", rdl_version());
  put_member(file, "name", run_device.name);
  put_member(file, "platform", run_device.platform);
  put_member(file, "driver", run_device.driver);
  put_member(file, "mode", mode());
  fprintf(file,
          "  \"workers\": %u,\n  \"lanes\": %u,\n  \"segment_limit\": %u,\n  \"scale\": %u,\n  "
          "\"flat\": %s,\n  "
          "\"passed\": %zu,\n"
          "  \"failed\": %zu,\n  \"skipped\": %zu,\n  \"cases\": [\n",
          settings.workers, settings.lanes, settings.segment_limit, settings.scale,
          settings.flat ? "true" : "false", count_of(outcomes, count, VERDICT_PASSED),
          count_of(outcomes, count, VERDICT_FAILED), count_of(outcomes, count, VERDICT_SKIPPED));
  for (k = 0; k < count; k++) {
    const test_outcome *o = &outcomes[k];
    fprintf(file, "    {\"name\": \"%s\", \"result\": \"%s\", \"seconds\": %.3f, \"text\": \"",
            o->test->name, verdict_names[o->verdict], o->seconds);
    put_json(file, o->verdict == VERDICT_PASSED ? "" : o->text);
    fprintf(file, "\"}%s\n", k + 1 < count ? "," : "");
  }
  fputs("  ]\n}\n", file);
  return close_report(file, path);
}
