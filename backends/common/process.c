/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/common/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backends/common/clock.h"
#include "backends/common/reason.h"

#define CHUNK 16384u

/* A child that was killed and is still there hangs in a system call of a driver. */
#define KILL_GRACE_NS 2000000000u

/* How often it is asked whether the child has ended while others hold its streams, and whether it
 * shall. */
#define LOOK_MS 200

/* ---- files ---- */

struct files {
  int input;     /* what the child reads, or -1 */
  int output[2]; /* pipes: the reading end, and the one for writing */
  int errors[2];
};

static void close_one(int *file) {
  if (*file >= 0) (void)close(*file);
  *file = -1;
}

static void close_all(struct files *files) {
  close_one(&files->input);
  for (int i = 0; i < 2; i++) {
    close_one(&files->output[i]);
    close_one(&files->errors[i]);
  }
}

/* In a program that has closed its standard streams new files get their numbers, and the child's
 * standard streams would be laid over them. */
static int above_standard(int *file) {
  int higher;
  if (*file > STDERR_FILENO) return 0;
  higher = fcntl(*file, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (higher < 0) return errno;
  close_one(file);
  *file = higher;
  return 0;
}

static int open_pipe(int ends[2]) {
  int error = pipe2(ends, O_CLOEXEC) == 0 ? 0 : errno;
  if (!error) error = above_standard(&ends[0]);
  return error ? error : above_standard(&ends[1]);
}

/* The input is a file in memory and not a pipe: a child that ends early cannot raise SIGPIPE here,
 * and nobody has to feed it while its output is read. */
static int open_input(const rdl_process *process, int *out_file) {
  const char *from = process->input;
  size_t left = process->input_size;
  int error;
  if (!left) return 0;
  *out_file = memfd_create("raddle input", MFD_CLOEXEC);
  error = *out_file >= 0 ? above_standard(out_file) : errno;
  while (!error && left) {
    ssize_t put = write(*out_file, from, left);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 ? errno : EIO;
    from += put;
    left -= (size_t)put;
  }
  if (!error && lseek(*out_file, 0, SEEK_SET) != 0) error = errno;
  return error;
}

static int open_all(const rdl_process *process, struct files *files) {
  int error = open_input(process, &files->input);
  if (!error) error = open_pipe(files->output);
  if (!error && process->errors.most) error = open_pipe(files->errors);
  return error;
}

/* ---- start ---- */

/* The environment with English messages, which is what the readers of logs understand. The array is
 * to be freed, the strings belong to the environment. */
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

static void add_file_actions(posix_spawn_file_actions_t *actions, const struct files *files) {
  int errors = files->errors[1] >= 0 ? files->errors[1] : files->output[1];
  if (files->input >= 0)
    (void)posix_spawn_file_actions_adddup2(actions, files->input, STDIN_FILENO);
  else
    (void)posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  (void)posix_spawn_file_actions_adddup2(actions, files->output[1], STDOUT_FILENO);
  (void)posix_spawn_file_actions_adddup2(actions, errors, STDERR_FILENO);
#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 34)
  /* A child that hangs would keep the program's pipes and sockets open. */
  (void)posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#endif
#endif
}

/* Signals that the program ignores would stay ignored in the child, where a compiler that waits for
 * its own children relies on SIGCHLD. */
static void set_attributes(posix_spawnattr_t *attributes) {
  sigset_t none, all;
  (void)sigemptyset(&none);
  (void)sigfillset(&all);
  (void)posix_spawnattr_setsigmask(attributes, &none);
  (void)posix_spawnattr_setsigdefault(attributes, &all);
  (void)posix_spawnattr_setpgroup(attributes, 0);
  (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                 POSIX_SPAWN_SETSIGDEF);
}

static int start(char *const *command, const struct files *files, pid_t *out_child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  char **environment = english_environment();
  int error = environment ? posix_spawn_file_actions_init(&actions) : ENOMEM;
  if (!error) {
    error = posix_spawnattr_init(&attributes);
    if (!error) {
      add_file_actions(&actions, files);
      set_attributes(&attributes);
      error = posix_spawn(out_child, command[0], &actions, &attributes, command, environment);
      (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&actions);
  }
  free(environment);
  return error;
}

/* ---- streams ---- */

/* Room for `count` more bytes and a zero. */
static int make_room(rdl_stream *stream, size_t count) {
  size_t room = stream->room ? stream->room : CHUNK;
  char *bytes;
  while (room < stream->size + count + 1)
    room *= 2;
  if (room == stream->room) return 1;
  bytes = realloc(stream->bytes, room);
  if (!bytes) return 0;
  stream->bytes = bytes;
  stream->room = room;
  return 1;
}

static int keep(rdl_stream *stream, const char *bytes, size_t count) {
  if (stream->keep_end && stream->size + count > stream->most) {
    size_t half = stream->most / 2;
    memmove(stream->bytes, stream->bytes + stream->size - half, half);
    stream->size = half;
  }
  if (count > stream->most - stream->size) count = stream->most - stream->size;
  if (!make_room(stream, count)) return 0;
  memcpy(stream->bytes + stream->size, bytes, count);
  stream->size += count;
  stream->bytes[stream->size] = 0;
  return 1;
}

/* 1 = something can be read, or a stream has ended; 0 = nothing for LOOK_MS. */
static int wait_readable(struct pollfd *requests) {
  int ready = poll(requests, 2, LOOK_MS);
  return ready > 0 || (ready < 0 && errno != EINTR);
}

/* Reads once; the end of the stream takes it out of the request. 0 = out of memory. */
static int read_some(struct pollfd *request, rdl_stream *stream) {
  char bytes[CHUNK];
  ssize_t got;
  if (request->fd < 0 || !request->revents) return 1;
  got = read(request->fd, bytes, sizeof bytes);
  if (got > 0) return keep(stream, bytes, (size_t)got);
  if (got == 0 || errno != EINTR) request->fd = -1;
  return 1;
}

/* GONE: it was collected, by a thread that waits for all children, or because the program ignores
 * SIGCHLD. Its number may be another's then. */
enum life { RUNS, ENDED, GONE };

/* Collects nothing. */
static enum life life_of(pid_t child) {
  siginfo_t info = {.si_pid = 0};
  if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOHANG | WNOWAIT) != 0) return GONE;
  return info.si_pid == child ? ENDED : RUNS;
}

static bool is_stopped(const bool *stop) {
  return stop && __atomic_load_n(stop, __ATOMIC_RELAXED);
}

/* Reads both streams to their ends: 0, or ETIMEDOUT, ECANCELED or ENOMEM. What the child has left
 * behind, or a program that forks in another thread, may hold them when it has ended; nobody waits
 * for those. */
static int read_streams(pid_t child, rdl_process *process, const struct files *files,
                        uint64_t deadline) {
  struct pollfd requests[2] = {{.fd = files->output[0], .events = POLLIN},
                               {.fd = files->errors[0], .events = POLLIN}};
  while (requests[0].fd >= 0 || requests[1].fd >= 0) {
    int ended = life_of(child) != RUNS;
    if (rdl__now_ns() >= deadline) return ETIMEDOUT;
    if (is_stopped(process->stop)) return ECANCELED;
    if (!wait_readable(requests) && ended) return 0;
    if (!read_some(&requests[0], &process->output) || !read_some(&requests[1], &process->errors))
      return ENOMEM;
  }
  return 0;
}

/* ---- end ---- */

/* 1 = it has ended, 0 = the deadline has passed, or it was stopped. Nothing tells of the end of a
 * child of which all streams are closed, so it is asked for. */
static int await_end(pid_t child, const bool *stop, uint64_t deadline) {
  struct timespec pause = {0, 50000};
  while (life_of(child) == RUNS) {
    if (rdl__now_ns() >= deadline || is_stopped(stop)) return 0;
    (void)nanosleep(&pause, NULL);
    if (pause.tv_nsec < 10000000) pause.tv_nsec *= 2;
  }
  return 1;
}

/* Collects this child and no other. */
static void collect(pid_t child, rdl_process *process) {
  int status = 0;
  pid_t got;
  do
    got = waitpid(child, &status, WNOHANG);
  while (got < 0 && errno == EINTR);
  process->ending = RDL_ENDED_SOMEHOW;
  process->code = 0;
  if (got != child) return;
  process->ending = WIFEXITED(status) ? RDL_ENDED_BY_ITSELF : RDL_ENDED_BY_SIGNAL;
  process->code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
}

/* What it has started ends with it. */
static int attend(pid_t child, const struct files *files, rdl_process *process) {
  uint64_t deadline = rdl__deadline_ns(process->limit_ns);
  int error = read_streams(child, process, files, deadline);
  int in_time = !error && await_end(child, process->stop, deadline);
  if (life_of(child) != GONE) (void)kill(-child, SIGKILL);
  if (!in_time) (void)await_end(child, NULL, rdl__deadline_ns(KILL_GRACE_NS));
  collect(child, process);
  if (!in_time) process->ending = RDL_ENDED_BY_LIMIT;
  if (!in_time && is_stopped(process->stop)) return ECANCELED;
  return error == ENOMEM ? ENOMEM : 0;
}

static void forget(rdl_stream *stream) {
  free(stream->bytes);
  stream->bytes = NULL;
  stream->size = stream->room = 0;
}

void rdl__process_free(rdl_process *process) {
  forget(&process->output);
  forget(&process->errors);
}

rdl_status rdl__process_run(rdl_process *process, rdl_reason *why) {
  struct files files = {-1, {-1, -1}, {-1, -1}};
  pid_t child = 0;
  int error = open_all(process, &files);
  if (!error) error = start(process->command, &files, &child);
  close_one(&files.input);
  close_one(&files.output[1]);
  close_one(&files.errors[1]);
  if (!error) error = attend(child, &files, process);
  close_all(&files);
  if (!error) return RDL_OK;
  rdl__process_free(process);
  if (error == ECANCELED)
    return rdl__fail(RDL_CLOSED, why, "%s was ended, for the context is closing.",
                     process->command[0]);
  return rdl__fail(error == ENOMEM ? RDL_OUT_OF_MEMORY : RDL_UNAVAILABLE, why,
                   "Could not start %s: %s.", process->command[0], strerror(error));
}

rdl_signal_name rdl__process_signal(int number) {
  static const struct {
    int number;
    const char *name;
  } names[] = {{SIGABRT, "SIGABRT"}, {SIGBUS, "SIGBUS"},   {SIGFPE, "SIGFPE"},
               {SIGILL, "SIGILL"},   {SIGKILL, "SIGKILL"}, {SIGSEGV, "SIGSEGV"},
               {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}, {SIGXCPU, "SIGXCPU"}};
  rdl_signal_name name;
  (void)snprintf(name.text, sizeof name.text, "signal %d", number);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].number == number) rdl__copy_text(name.text, sizeof name.text, names[i].name);
  return name;
}
