/* SPDX-License-Identifier: Apache-2.0 */
/* The runner of commands, on shell scripts. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "api/tests/unit.h"
#include "backends/common/clock.h"
#include "backends/common/process.h"

#define SECOND 1000000000u
#define MOST   ((size_t)1 << 20)

static rdl_reason why;

/* A process with one stream for both, or with `errors` kept apart. */
static rdl_process run_shell(char *script, const char *input, size_t errors, uint64_t limit_ns) {
  static char shell[] = "/bin/sh", option[] = "-c";
  char *command[] = {shell, option, script, NULL};
  rdl_process process = {.command = command,
                         .input = input,
                         .input_size = input ? strlen(input) : 0,
                         .limit_ns = limit_ns,
                         .output = {.most = MOST},
                         .errors = {.most = errors, .keep_end = 1}};
  assert_int_equal(rdl__process_run(&process, &why), RDL_OK);
  process.command = NULL;
  return process;
}

static void output_and_exit_code_come_back(void **state) {
  char script[] = "echo out; echo err >&2; cat; echo $LC_ALL; exit 3";
  rdl_process process = run_shell(script, NULL, 0, 30 * (uint64_t)SECOND);
  (void)state;
  assert_string_equal(process.output.bytes, "out\nerr\nC\n");
  assert_int_equal(process.output.size, 10);
  assert_int_equal(process.ending, RDL_ENDED_BY_ITSELF);
  assert_int_equal(process.code, 3);
  rdl__process_free(&process);
}

static void streams_apart_and_input(void **state) {
  char script[] = "cat; echo err >&2";
  rdl_process process = run_shell(script, "all of it", MOST, 30 * (uint64_t)SECOND);
  (void)state;
  assert_string_equal(process.output.bytes, "all of it");
  assert_string_equal(process.errors.bytes, "err\n");
  rdl__process_free(&process);
}

/* Its reader would be killed by SIGPIPE if the input came through a pipe, or the writer. */
static void input_that_nobody_reads(void **state) {
  char script[] = "exit 0";
  char *input = malloc(MOST + 1);
  rdl_process process;
  (void)state;
  assert_non_null(input);
  memset(input, 'x', MOST);
  input[MOST] = 0;
  process = run_shell(script, input, 0, 30 * (uint64_t)SECOND);
  assert_int_equal(process.ending, RDL_ENDED_BY_ITSELF);
  assert_int_equal(process.code, 0);
  assert_null(process.output.bytes);
  rdl__process_free(&process);
  free(input);
}

static void a_signal_is_no_exit_code(void **state) {
  char script[] = "kill -9 $$";
  rdl_process process = run_shell(script, NULL, 0, 30 * (uint64_t)SECOND);
  (void)state;
  assert_int_equal(process.ending, RDL_ENDED_BY_SIGNAL);
  assert_int_equal(process.code, SIGKILL);
  rdl__process_free(&process);
  assert_string_equal(rdl__process_signal(SIGSEGV).text, "SIGSEGV");
  assert_string_equal(rdl__process_signal(63).text, "signal 63");
}

/* Gone, or dead and not yet collected by whoever collects orphans here. */
static int is_dead(long process) {
  char path[64], line[256] = "";
  FILE *file;
  (void)snprintf(path, sizeof path, "/proc/%ld/stat", process);
  file = fopen(path, "r");
  if (!file) return 1;
  if (!fgets(line, sizeof line, file)) line[0] = 0;
  (void)fclose(file);
  return strstr(line, ") Z") != NULL;
}

static void a_command_that_hangs_is_ended_with_its_children(void **state) {
  char script[] = "sleep 60 & echo $!; sleep 60; echo never";
  uint64_t before = rdl__now_ns();
  rdl_process process = run_shell(script, NULL, 0, SECOND / 2);
  long child = strtol(process.output.bytes, NULL, 10);
  (void)state;
  assert_int_equal(process.ending, RDL_ENDED_BY_LIMIT);
  assert_in_range(rdl__now_ns() - before, SECOND / 2, 20 * (uint64_t)SECOND);
  assert_in_range(child, 2, 1 << 30);
  for (int i = 0; i < 200 && !is_dead(child); i++)
    usleep(10000);
  assert_true(is_dead(child));
  rdl__process_free(&process);
}

static void a_command_that_hangs_without_its_streams(void **state) {
  char script[] = "exec >&- 2>&-; sleep 60";
  uint64_t before = rdl__now_ns();
  rdl_process process = run_shell(script, NULL, MOST, SECOND / 2);
  (void)state;
  assert_int_equal(process.ending, RDL_ENDED_BY_LIMIT);
  assert_in_range(rdl__now_ns() - before, SECOND / 2, 20 * (uint64_t)SECOND);
  rdl__process_free(&process);
}

/* What it leaves behind holds its streams, and ends with it. */
static void a_command_that_leaves_another_behind(void **state) {
  char script[] = "sleep 60 & echo $!; exit 5";
  char crash[] = "sleep 60 & kill -11 $$";
  uint64_t before = rdl__now_ns();
  rdl_process process = run_shell(script, NULL, 0, 50 * (uint64_t)SECOND);
  long child = strtol(process.output.bytes, NULL, 10);
  (void)state;
  assert_int_equal(process.ending, RDL_ENDED_BY_ITSELF);
  assert_int_equal(process.code, 5);
  for (int i = 0; i < 200 && !is_dead(child); i++)
    usleep(10000);
  assert_true(is_dead(child));
  rdl__process_free(&process);
  process = run_shell(crash, NULL, 0, 50 * (uint64_t)SECOND);
  assert_int_equal(process.ending, RDL_ENDED_BY_SIGNAL);
  assert_int_equal(process.code, SIGSEGV);
  assert_in_range(rdl__now_ns() - before, 0, 45 * (uint64_t)SECOND);
  rdl__process_free(&process);
}

static void a_flood_of_output_is_cut(void **state) {
  char script[] = "head -c 3000000 /dev/zero | tr '\\0' x; echo end; exit 1";
  char both[] =
      "echo begin >&2; head -c 3000000 /dev/zero | tr '\\0' x >&2; echo end >&2; echo out";
  rdl_process process = run_shell(script, NULL, 0, 60 * (uint64_t)SECOND);
  (void)state;
  assert_int_equal(process.code, 1);
  assert_int_equal(process.output.size, MOST);
  assert_int_equal(process.output.bytes[0], 'x');
  rdl__process_free(&process);
  process = run_shell(both, NULL, 65536, 60 * (uint64_t)SECOND);
  assert_string_equal(process.output.bytes, "out\n");
  assert_in_range(process.errors.size, 32768, 65536);
  assert_string_equal(process.errors.bytes + process.errors.size - 6, "xxend\n");
  rdl__process_free(&process);
}

/* Ignored, SIGCHLD leaves nothing to wait for. The command itself can wait for its children. */
static void a_program_that_ignores_its_children(void **state) {
  char script[] = "(exit 4); echo $?";
  rdl_process process;
  (void)state;
  (void)signal(SIGCHLD, SIG_IGN);
  process = run_shell(script, NULL, 0, 30 * (uint64_t)SECOND);
  (void)signal(SIGCHLD, SIG_DFL);
  assert_int_equal(process.ending, RDL_ENDED_SOMEHOW);
  assert_string_equal(process.output.bytes, "4\n");
  rdl__process_free(&process);
}

static void other_children_are_left_alone(void **state) {
  char script[] = "exit 0";
  rdl_process process;
  pid_t other = fork();
  int status = 0;
  (void)state;
  if (other == 0) _exit(7);
  process = run_shell(script, NULL, 0, 30 * (uint64_t)SECOND);
  rdl__process_free(&process);
  assert_int_equal(waitpid(other, &status, 0), other);
  assert_int_equal(WEXITSTATUS(status), 7);
}

static void open_files_stay_with_the_program(void **state) {
  char script[] = "ls /proc/self/fd | tr '\\n' ' '"; /* ls itself opens the folder as 3 */
  int mine = open("/dev/null", O_RDONLY);            /* NOLINT: without O_CLOEXEC on purpose */
  int high = fcntl(mine, F_DUPFD, 77);
  rdl_process process = run_shell(script, NULL, 0, 30 * (uint64_t)SECOND);
  (void)state;
  assert_int_equal(high, 77);
  assert_string_equal(process.output.bytes, "0 1 2 3 ");
  rdl__process_free(&process);
  close(mine);
  close(high);
}

/* In a process of its own, for it loses its standard streams. */
static void a_program_without_standard_streams(void **state) {
  int status = 0;
  pid_t child;
  (void)state;
  (void)fflush(stdout);
  child = fork();
  if (child == 0) {
    static char shell[] = "/bin/sh", option[] = "-c", script[] = "cat; echo err >&2";
    char *command[] = {shell, option, script, NULL};
    rdl_process process = {.command = command,
                           .input = "in",
                           .input_size = 2,
                           .limit_ns = 30 * (uint64_t)SECOND,
                           .output = {.most = MOST},
                           .errors = {.most = MOST}};
    close(0);
    close(1);
    close(2);
    if (rdl__process_run(&process, NULL) != RDL_OK || process.code) _exit(1);
    if (!process.output.bytes || strcmp(process.output.bytes, "in") != 0) _exit(2);
    if (!process.errors.bytes || strcmp(process.errors.bytes, "err\n") != 0) _exit(3);
    _exit(fcntl(0, F_GETFD) == -1 && fcntl(1, F_GETFD) == -1 ? 0 : 4);
  }
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void *set_soon(void *argument) {
  struct timespec pause = {0, 100000000};
  (void)nanosleep(&pause, NULL);
  __atomic_store_n((bool *)argument, true, __ATOMIC_RELAXED);
  return NULL;
}

/* With its streams, and when it has closed them. */
static void a_command_that_is_stopped(void **state) {
  static char shell[] = "/bin/sh", option[] = "-c";
  static char talks[] = "echo out; sleep 60", silent[] = "exec >/dev/null 2>&1; sleep 60";
  static char *const scripts[] = {talks, silent};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    char *command[] = {shell, option, scripts[i], NULL};
    bool stop = false;
    rdl_process process = {
        .command = command, .limit_ns = 30 * (uint64_t)SECOND, .stop = &stop, .output.most = MOST};
    uint64_t begin = rdl__now_ns();
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, set_soon, &stop), 0);
    assert_int_equal(rdl__process_run(&process, &why), RDL_CLOSED);
    assert_true(rdl__now_ns() - begin < 5 * (uint64_t)SECOND);
    assert_non_null(strstr(why.text, "closing"));
    assert_null(process.output.bytes);
    assert_int_equal(pthread_join(thread, NULL), 0);
  }
}

static void a_command_that_is_not_there(void **state) {
  static char path[] = "/usr/no/such/program";
  char *command[] = {path, NULL};
  rdl_process process = {.command = command, .limit_ns = SECOND, .output.most = MOST};
  (void)state;
  assert_int_equal(rdl__process_run(&process, &why), RDL_UNAVAILABLE);
  assert_non_null(strstr(why.text, path));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_and_exit_code_come_back),
      cmocka_unit_test(streams_apart_and_input),
      cmocka_unit_test(input_that_nobody_reads),
      cmocka_unit_test(a_signal_is_no_exit_code),
      cmocka_unit_test(a_command_that_hangs_is_ended_with_its_children),
      cmocka_unit_test(a_command_that_hangs_without_its_streams),
      cmocka_unit_test(a_command_that_leaves_another_behind),
      cmocka_unit_test(a_flood_of_output_is_cut),
      cmocka_unit_test(a_program_that_ignores_its_children),
      cmocka_unit_test(other_children_are_left_alone),
      cmocka_unit_test(open_files_stay_with_the_program),
      cmocka_unit_test(a_program_without_standard_streams),
      cmocka_unit_test(a_command_that_is_stopped),
      cmocka_unit_test(a_command_that_is_not_there),
  };
  return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
