/* SPDX-License-Identifier: Apache-2.0 */
/* The peers: programs peer-NAME beside this one (bench/peers/README.md has their protocol). */
#include <dirent.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/raddle/bench.h"

enum { CANNOT = 77 };

extern char **environ;

static int wait_for(pid_t child) {
  int state = 0;
  while (waitpid(child, &state, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

static bool start(char *const argv[], int output, int other_end, pid_t *out_child) {
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions)) return false;
  int failed = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  failed |= posix_spawn_file_actions_addclose(&actions, output);
  failed |= posix_spawn_file_actions_addclose(&actions, other_end);
  if (!failed) failed = posix_spawn(out_child, argv[0], &actions, NULL, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  return !failed;
}

int bench_spawn(char *const argv[], void (*take)(void *user, const char *line), void *user) {
  int ends[2];
  pid_t child;
  char line[256];
  fflush(NULL);
  if (pipe(ends)) return -1;
  bool started = start(argv, ends[1], ends[0], &child);
  close(ends[1]);
  FILE *output = fdopen(ends[0], "r");
  while (started && output && fgets(line, sizeof line, output))
    take(user, line);
  if (output)
    fclose(output);
  else
    close(ends[0]);
  return started ? wait_for(child) : -1;
}

void bench_folder(char *out_path, size_t size) {
  ssize_t length = readlink("/proc/self/exe", out_path, size - 1);
  out_path[length > 0 ? length : 0] = 0;
  char *slash = strrchr(out_path, '/');
  if (slash)
    *slash = 0;
  else
    snprintf(out_path, size, ".");
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add(bench_peers *peers, const char *name) {
  char **names = realloc(peers->names, (peers->count + 1) * sizeof *names);
  if (!names) return false;
  peers->names = names;
  names[peers->count] = strdup(name);
  return names[peers->count] && ++peers->count;
}

bool bench_peers_find(const char *wanted, bench_peers *out_peers) {
  static const char prefix[] = "peer-";
  char folder[4096];
  bool all = strcmp(wanted, "all") == 0, good = true;
  *out_peers = (bench_peers){0, NULL};
  if (strcmp(wanted, "none") == 0) return true;
  bench_folder(folder, sizeof folder);
  DIR *files = opendir(folder);
  if (!files) return true;
  for (struct dirent *file; good && (file = readdir(files));) {
    if (strncmp(file->d_name, prefix, sizeof prefix - 1) != 0) continue;
    const char *name = file->d_name + sizeof prefix - 1;
    if (all || strcmp(name, wanted) == 0) good = add(out_peers, name);
  }
  closedir(files);
  if (out_peers->count)
    qsort(out_peers->names, out_peers->count, sizeof *out_peers->names, compare_names);
  return good;
}

void bench_peers_free(bench_peers *peers) {
  for (size_t i = 0; i < peers->count; i++)
    free(peers->names[i]);
  free(peers->names);
  *peers = (bench_peers){0, NULL};
}

/* NS_PER_FUTURE SUSPENDED OK */
static void take_round(void *user, const char *line) {
  bench_series *series = user;
  char *end = NULL;
  double ns = strtod(line, &end);
  const char *last = end ? strrchr(end, ' ') : NULL;
  if (end == line || !last || atoi(last) != 1)
    series->wrong = true;
  else if (series->count < BENCH_MOST_ROUNDS)
    series->values[series->count++] = ns;
}

void bench_peer_run(const char *name, const bench_task *task, bench_series *series) {
  char path[4352], workers[16], rounds[16], shape[32], n[16];
  if (series->cannot || series->wrong) return;
  bench_folder(path, 4096);
  snprintf(path + strlen(path), sizeof path - strlen(path), "/peer-%s", name);
  snprintf(shape, sizeof shape, "%s", task->shape);
  snprintf(workers, sizeof workers, "%u", task->workers);
  snprintf(rounds, sizeof rounds, "%u", task->rounds);
  snprintf(n, sizeof n, "%u", task->n);
  char *argv[] = {path, shape, "--workers", workers, "--rounds", rounds, "--n", n, NULL};
  if (!task->n) argv[6] = NULL;
  int code = bench_spawn(argv, take_round, series);
  if (code == CANNOT)
    series->cannot = true;
  else if (code != 0)
    series->wrong = true;
  if (series->wrong) fprintf(stderr, "raddle: peer-%s failed at %s\n", name, task->shape);
}
