/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver whose compiler crashes, hangs, exits and floods, on texts that ask for it
 * (fake_driver.c). All of it would end this process if it happened here.
 *
 * crash_test FAKE_DRIVER
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/common/clock.h"
#include "backends/opencl/helper.h"
#include "backends/opencl/tests/bare_device.h"

#define SECOND ((uint64_t)1000000000u)

static rdl_reason why;
static struct rdl_backend_device device;
static char root[] = "/tmp/raddle-crash-test-XXXXXX";

static void set_variable(const char *name, const char *value) {
  assert_int_equal(value ? setenv(name, value, 1) : unsetenv(name), 0);
}

static rdl_status build(const char *body) {
  char text[512];
  (void)snprintf(text, sizeof text, "kernel void rdl_launch()\n{ %s }\n", body);
  return bare_device_build(&device, "user.task.c", text, &why);
}

static void says(const char *words) {
  if (!strstr(why.text, words)) fail_msg("'%s' is not in:\n%s", words, why.text);
}

/* What names the culprit stands in every text. */
static void crashes(const char *body, const char *how) {
  assert_int_equal(build(body), RDL_COMPILE);
  says(how);
  says("Fake device");
  says("driver 13");
  says("Fake platform");
  assert_int_equal(build(""), RDL_OK);
}

static void crashes_are_named_at_every_stage(void **state) {
  (void)state;
  crashes("@build:abort", "crashed with SIGABRT");
  crashes("@build:segv", "crashed with SIGSEGV");
  crashes("@kernel:segv", "crashed with SIGSEGV");
  crashes("@launch:abort", "crashed with SIGABRT");
  crashes("@build:exit", "exit status 3");
  crashes("@launch:exit", "exit status 3");
  crashes("@build:kill", "SIGKILL (perhaps memory ran out)");
}

static void a_compiler_that_hangs_is_given_up(void **state) {
  uint64_t before = rdl__now_ns();
  (void)state;
  set_variable("RADDLE_BUILD_TIMEOUT", "1");
  assert_int_equal(build("@build:hang"), RDL_COMPILE);
  assert_in_range(rdl__now_ns() - before, SECOND, 20 * SECOND);
  says("did not end within 1 s");
  says("RADDLE_BUILD_TIMEOUT");
  set_variable("RADDLE_BUILD_TIMEOUT", NULL);
  assert_int_equal(build(""), RDL_OK);
}

static void a_limit_that_is_no_number(void **state) {
  (void)state;
  for (const char *const *bad = (const char *const[]){"0", "-1", "1s", " 1", "99999999", NULL};
       *bad; bad++) {
    set_variable("RADDLE_BUILD_TIMEOUT", *bad);
    assert_int_equal(build("a limit"), RDL_INVALID);
    says("RADDLE_BUILD_TIMEOUT");
    says(*bad);
  }
  set_variable("RADDLE_BUILD_TIMEOUT", "");
  assert_int_equal(build("a limit"), RDL_OK);
  set_variable("RADDLE_BUILD_TIMEOUT", NULL);
}

/* What it printed is told, and cut. The answer goes another way than what a driver prints. With a
 * binary this process meets the driver in a quieter stage. */
static void floods_do_no_harm(void **state) {
  (void)state;
  device.keeps_binaries = 1;
  assert_int_equal(build("@build:flood @launch:flood"), RDL_OK);
  device.keeps_binaries = 0;
  crashes("@build:flood @build:abort", "crashed with SIGABRT");
  assert_int_equal(build("@build:flood @build:abort"), RDL_COMPILE);
  says("What was printed last:\nthe end");
  assert_in_range(strlen(why.text), 100, 3000);
}

static void a_long_log_comes_whole(void **state) {
  (void)state;
  assert_int_equal(build("@build:fail"), RDL_COMPILE);
  assert_memory_equal(why.text, "user.task.c:1:9: error: fake", 28);
}

static void an_error_code_is_named(void **state) {
  (void)state;
  assert_int_equal(build("@kernel:refuse"), RDL_OUT_OF_MEMORY);
  says("clCreateKernel failed: CL_OUT_OF_RESOURCES");
  assert_int_equal(build("@launch:refuse"), RDL_OUT_OF_MEMORY);
  says("clEnqueueNDRangeKernel failed: CL_OUT_OF_RESOURCES");
}

/* How it ended is not known then, but that it did not answer is. */
static void a_program_that_ignores_its_children(void **state) {
  (void)state;
  (void)signal(SIGCHLD, SIG_IGN);
  assert_int_equal(build("ignored"), RDL_OK);
  assert_int_equal(build("@build:abort"), RDL_COMPILE);
  says("ignores SIGCHLD");
  (void)signal(SIGCHLD, SIG_DFL);
}

struct job {
  pthread_t thread;
  const char *body, *wanted;
  rdl_status status;
  rdl_reason why;
};

static void *run_job(void *data) {
  struct job *job = data;
  char text[128];
  (void)snprintf(text, sizeof text, "kernel void rdl_launch()\n{ %s }\n", job->body);
  job->status = bare_device_build(&device, "user.task.c", text, &job->why);
  return NULL;
}

static void threads_build_at_the_same_time(void **state) {
  static struct job jobs[] = {
      {.body = "thread 1", .wanted = ""},
      {.body = "@build:segv 2", .wanted = "SIGSEGV"},
      {.body = "@launch:abort 3", .wanted = "SIGABRT"},
      {.body = "@kernel:exit 4", .wanted = "exit status 3"},
      {.body = "@build:flood @build:kill 5", .wanted = "SIGKILL"},
      {.body = "@build:fail 6", .wanted = "user.task.c:1:9: error: fake"},
      {.body = "thread 7", .wanted = ""},
      {.body = "thread 7", .wanted = ""},
  };
  enum { JOBS = sizeof jobs / sizeof jobs[0] };
  (void)state;
  for (int i = 0; i < JOBS; i++)
    assert_int_equal(pthread_create(&jobs[i].thread, NULL, run_job, &jobs[i]), 0);
  for (int i = 0; i < JOBS; i++) {
    assert_int_equal(pthread_join(jobs[i].thread, NULL), 0);
    assert_int_equal(jobs[i].status, *jobs[i].wanted ? RDL_COMPILE : RDL_OK);
    assert_non_null(strstr(jobs[i].why.text, jobs[i].wanted));
  }
}

/* A process that is dead and not yet collected has no command line any more. */
static int is_helper(long process) {
  char path[64], line[4096] = "";
  FILE *file;
  (void)snprintf(path, sizeof path, "/proc/%ld/cmdline", process);
  file = fopen(path, "r");
  if (!file) return 0;
  if (!fgets(line, sizeof line, file)) line[0] = 0;
  (void)fclose(file);
  return strstr(line, "raddle-opencl-helper") != NULL;
}

/* The first child of a process, 0 when there is none. */
static long child_of(pid_t process) {
  char path[64];
  long child = 0;
  FILE *file;
  (void)snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)process, (long)process);
  file = fopen(path, "r");
  if (!file) return 0;
  if (fscanf(file, "%ld", &child) != 1) child = 0; /* NOLINT(cert-err34-c): 0 is no process */
  (void)fclose(file);
  return child;
}

static void a_program_that_dies_leaves_no_helper_behind(void **state) {
  long helper = 0;
  pid_t program = fork();
  (void)state;
  if (program == 0) _exit(build("@build:hang") == RDL_OK);
  for (int i = 0; i < 2000 && !is_helper(helper = child_of(program)); i++)
    usleep(10000);
  assert_true(is_helper(helper));
  usleep(300000); /* it reaches the driver */
  assert_true(is_helper(helper));
  assert_int_equal(kill(program, SIGKILL), 0);
  assert_int_equal(waitpid(program, NULL, 0), program);
  for (int i = 0; i < 2000 && is_helper(helper); i++)
    usleep(10000);
  assert_false(is_helper(helper));
}

/* ---- the cache ---- */

/* Fails where the helper would be needed. */
static rdl_status build_alone(const char *body) {
  rdl_status status;
  set_variable("RADDLE_BUILD_HELPER", "/no/such/helper");
  status = build(body);
  set_variable("RADDLE_BUILD_HELPER", NULL);
  return status;
}

static void what_was_built_well_needs_no_helper(void **state) {
  (void)state;
  for (uint32_t keeps = 0; keeps < 2; keeps++) {
    device.keeps_binaries = keeps;
    device.options = keeps ? "-binaries" : "-texts";
    assert_int_equal(build_alone("once"), RDL_UNAVAILABLE);
    says("/no/such/helper");
    assert_int_equal(build("once"), RDL_OK);
    assert_int_equal(build_alone("once"), RDL_OK);
    assert_int_equal(build_alone("twice"), RDL_UNAVAILABLE);
    assert_int_equal(build("@build:abort"), RDL_COMPILE);
    assert_int_equal(build_alone("@build:abort"), RDL_UNAVAILABLE);
  }
}

static void binaries_are_kept_where_they_work(void **state) {
  (void)state;
  device.keeps_binaries = 1;
  device.options = "-kept";
  assert_int_equal(build("@nobinary"), RDL_OK);
  assert_int_equal(build_alone("@nobinary"), RDL_OK);
  assert_int_equal(build("@binary:refuse"), RDL_OK);
  assert_int_equal(build_alone("@binary:refuse"), RDL_OK);
  assert_int_equal(build("@binary:segv"), RDL_OK);
  assert_int_equal(build_alone("@binary:segv"), RDL_OK);
  assert_int_equal(build("@build:segv"), RDL_COMPILE);
  says("SIGSEGV");
}

static void without_a_cache_every_build_has_a_helper(void **state) {
  rdl_cache kept = device.cache;
  (void)state;
  device.cache.folder[0] = 0;
  assert_int_equal(build("no cache"), RDL_OK);
  assert_int_equal(build_alone("no cache"), RDL_UNAVAILABLE);
  device.cache = kept;
}

/* ---- the helper itself ---- */

static void a_helper_that_is_none(void **state) {
  (void)state;
  set_variable("RADDLE_BUILD_HELPER", root);
  assert_int_equal(build("no helper"), RDL_UNAVAILABLE);
  says(root);
  set_variable("RADDLE_BUILD_HELPER", "/bin/false");
  assert_int_equal(build("no helper"), RDL_UNAVAILABLE);
  says("/bin/false");
  says("exit status 1");
  set_variable("RADDLE_BUILD_HELPER", "");
  assert_int_equal(build("a helper"), RDL_OK);
  set_variable("RADDLE_BUILD_HELPER", NULL);
}

static void another_device_is_not_taken(void **state) {
  rdl_parcel request = {.bytes = NULL};
  rdl_cl_answer answer;
  rdl_cl_identity identity;
  (void)state;
  rdl__cl_identify(device.cl, device.id, &identity);
  (void)snprintf(identity.driver, sizeof identity.driver, "14");
  assert_int_equal(rdl__cl_helper_run(&identity, "build", &request, 0, NULL, &answer, &why),
                   RDL_UNAVAILABLE);
  says("sees 1 devices");
  rdl__cl_answer_free(&answer);
  rdl__cl_identify(device.cl, device.id, &identity);
  assert_int_equal(rdl__cl_helper_run(&identity, "no such verb", &request, 0, NULL, &answer, &why),
                   RDL_INTERNAL);
  says("no such verb");
  rdl__cl_answer_free(&answer);
  assert_int_equal(rdl__cl_helper_run(&identity, "build", &request, 0, NULL, &answer, &why),
                   RDL_INTERNAL);
  rdl__cl_answer_free(&answer);
}

/* ---- set up ---- */

static void remove_root(void) {
  char command[128];
  (void)snprintf(command, sizeof command, "rm -rf %s", root);
  (void)!system(command); /* NOLINT(bugprone-command-processor): a test's own folder */
}

static int open_device(const char *driver) {
  if (setenv("OCL_ICD_VENDORS", driver, 1) || unsetenv("RADDLE_BUILD_HELPER") ||
      unsetenv("RADDLE_BUILD_TIMEOUT"))
    return 0;
  return bare_device_open("Fake platform", "-fake", root, &device, &why);
}

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crashes_are_named_at_every_stage),
      cmocka_unit_test(a_compiler_that_hangs_is_given_up),
      cmocka_unit_test(a_limit_that_is_no_number),
      cmocka_unit_test(floods_do_no_harm),
      cmocka_unit_test(a_long_log_comes_whole),
      cmocka_unit_test(an_error_code_is_named),
      cmocka_unit_test(a_program_that_ignores_its_children),
      cmocka_unit_test(threads_build_at_the_same_time),
      cmocka_unit_test(a_program_that_dies_leaves_no_helper_behind),
      cmocka_unit_test(what_was_built_well_needs_no_helper),
      cmocka_unit_test(binaries_are_kept_where_they_work),
      cmocka_unit_test(without_a_cache_every_build_has_a_helper),
      cmocka_unit_test(a_helper_that_is_none),
      cmocka_unit_test(another_device_is_not_taken),
  };
  int failed;
  if (argc != 2 || !mkdtemp(root)) return 1;
  if (!open_device(argv[1])) {
    printf("the OpenCL loader does not find the test's own driver %s: %s\n", argv[1], why.text);
    remove_root();
    return 77;
  }
  failed = cmocka_run_group_tests_name("crash", tests, NULL, NULL);
  remove_root();
  return failed;
}
