/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a command and reads what it writes, with a time limit. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/common/clock.h"
#include "backends/common/reason.h"
#include "backends/host/device.h"

#define LONGEST_OUTPUT (1u << 20) /* what a command writes beyond this is read and dropped */

/* The environment with English messages, which is what the reader of the log understands. The array
 * is to be freed, the strings belong to the environment. */
static char **english_environment(void) {
  static char english[] = "LC_ALL=C";
  size_t count = 0, kept = 0;
  char **copy;
  while (environ && environ[count])
    count++;
  copy = calloc(count + 2, sizeof *copy);
  if (!copy) return NULL;
  for (size_t i = 0; i < count; i++)
    if (strncmp(environ[i], "LC_ALL=", 7) != 0 && strncmp(environ[i], "LANGUAGE=", 9) != 0)
      copy[kept++] = environ[i];
  copy[kept] = english;
  return copy;
}

/* The child gets a process group of its own, so that a compiler driver and the programs that it
 * starts can be ended together, and none of the signals that this thread happens to block. */
static int spawn(char *const *command, char **environment, int output, pid_t *out_child) {
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  sigset_t none;
  int error;
  (void)sigemptyset(&none);
  error = posix_spawn_file_actions_init(&files);
  if (error) return error;
  error = posix_spawnattr_init(&attributes);
  if (!error) {
    (void)posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(&files, output, STDERR_FILENO);
    (void)posix_spawnattr_setsigmask(&attributes, &none);
    (void)posix_spawnattr_setpgroup(&attributes, 0);
    (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
    error = posix_spawn(out_child, command[0], &files, &attributes, command, environment);
    (void)posix_spawnattr_destroy(&attributes);
  }
  (void)posix_spawn_file_actions_destroy(&files);
  return error;
}

/* 1 = there is something to read, or the end; 0 = the deadline has passed. */
static int wait_readable(int input, uint64_t deadline) {
  for (;;) {
    struct pollfd request = {.fd = input, .events = POLLIN};
    uint64_t now = rdl__now_ns();
    int ready;
    if (now >= deadline) return 0;
    ready = poll(&request, 1, (int)((deadline - now) / 1000000u) + 1);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return 1;
  }
}

/* Reads to the end into `text`, which is zeroed. 0 = the deadline passed first. */
static int read_output(int input, char *text, uint64_t deadline) {
  char beyond[4096];
  size_t used = 0;
  for (;;) {
    size_t room = LONGEST_OUTPUT - 1 - used;
    ssize_t got;
    if (!wait_readable(input, deadline)) return 0;
    got = room ? read(input, text + used, room) : read(input, beyond, sizeof beyond);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (room) used += (size_t)got;
  }
  return 1;
}

/* The exit code. A program that ignores SIGCHLD, or waits for any child, may have taken it away
 * from us: then the command counts as successful and its result has to speak for itself. */
static int exit_code(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

rdl_status rdl__host_run(char *const *command, uint64_t limit_ns, rdl_host_output *out_output,
                         rdl_reason *why) {
  char **environment = english_environment();
  char *text = calloc(1, LONGEST_OUTPUT);
  int ends[2] = {-1, -1};
  pid_t child = 0;
  int error = environment && text ? 0 : ENOMEM;
  if (!error && pipe2(ends, O_CLOEXEC) != 0) error = errno;
  if (!error) error = spawn(command, environment, ends[1], &child);
  if (ends[1] >= 0) close(ends[1]);
  if (!error) {
    int in_time = read_output(ends[0], text, rdl__deadline_ns(limit_ns));
    if (!in_time) (void)kill(-child, SIGKILL);
    out_output->code = exit_code(child);
    if (!in_time) out_output->code = -2;
    out_output->text = text;
  } else {
    free(text);
  }
  if (ends[0] >= 0) close(ends[0]);
  free(environment);
  if (!error) return RDL_OK;
  return rdl__fail(error == ENOMEM ? RDL_OUT_OF_MEMORY : RDL_UNAVAILABLE, why,
                   "Could not start %s: %s.", command[0], strerror(error));
}
