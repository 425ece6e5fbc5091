/* SPDX-License-Identifier: Apache-2.0 */
/* One case in a process of its own: a crash or a hang is the failure of that case alone. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/run.h"

#define TEXT_MAX 65536u

/* The child's side, up to the exec. All its output goes into one file. */
__attribute__((noreturn)) static void become_case(const test_case *test, FILE *output) {
  char workers[16], lanes[16], limit[16], turns[16], scale[16], patience[16], seed[24];
  const char *arguments[24] = {"raddle-conformance", "--device", settings.selector};
  size_t n = 3;
  snprintf(workers, sizeof workers, "%u", settings.workers);
  snprintf(lanes, sizeof lanes, "%u", settings.lanes);
  snprintf(limit, sizeof limit, "%u", settings.segment_limit);
  snprintf(turns, sizeof turns, "%u", settings.loop_turns);
  snprintf(scale, sizeof scale, "%u", settings.scale);
  snprintf(patience, sizeof patience, "%u", settings.patience);
  snprintf(seed, sizeof seed, "%llu", (unsigned long long)settings.seed);
  arguments[n++] = "--workers";
  arguments[n++] = workers;
  arguments[n++] = "--lanes";
  arguments[n++] = lanes;
  arguments[n++] = "--segment-limit";
  arguments[n++] = limit;
  arguments[n++] = "--loop-turns";
  arguments[n++] = turns;
  arguments[n++] = "--scale";
  arguments[n++] = scale;
  arguments[n++] = "--patience";
  arguments[n++] = patience;
  arguments[n++] = "--seed";
  arguments[n++] = seed;
  if (settings.flat) arguments[n++] = "--flat";
  if (settings.epoch) arguments[n++] = "--epoch";
  if (settings.apart) arguments[n++] = "--apart";
  arguments[n++] = "--child";
  arguments[n++] = test->name;
  arguments[n] = NULL;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  dup2(fileno(output), STDOUT_FILENO);
  dup2(fileno(output), STDERR_FILENO);
  execv("/proc/self/exe", (char *const *)(uintptr_t)arguments);
  _exit(127);
}

static char *read_text(FILE *output, const char *last_line) {
  char *text = malloc(TEXT_MAX + strlen(last_line) + 2); /* and a line feed between them */
  size_t used = 0;
  if (!text) return NULL;
  rewind(output);
  used = fread(text, 1, TEXT_MAX, output);
  while (used && text[used - 1] == '\n')
    used--;
  if (used && last_line[0]) text[used++] = '\n';
  memcpy(text + used, last_line, strlen(last_line) + 1);
  return text;
}

/* What the case has started in process groups of its own, compilers above all, has become a child
 * of this process, see run_in_child. */
static void end_orphans(void) {
  char path[64];
  FILE *file;
  long orphan;
  snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
  file = fopen(path, "r");
  if (!file) return;
  while (fscanf(file, "%ld", &orphan) == 1) {
    if (getpgid((pid_t)orphan) == (pid_t)orphan) kill(-(pid_t)orphan, SIGKILL);
    kill((pid_t)orphan, SIGKILL);
    waitpid((pid_t)orphan, NULL, 0);
  }
  fclose(file);
}

/* Waits for the child, and ends it and what it started when its time is over. */
static bool reap(pid_t child, double seconds, int *out_status) {
  uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
  uint64_t pause = 1u * MS;
  bool in_time = true;
  while (waitpid(child, out_status, WNOHANG) == 0) {
    if (now_ns() > end) {
      in_time = false;
      kill(-child, SIGKILL);
      kill(child, SIGKILL);
      while (waitpid(child, out_status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    sleep_ns(pause);
    if (pause < 10u * MS) pause += pause / 4u;
  }
  kill(-child, SIGKILL); /* what a crash left behind */
  end_orphans();
  return in_time;
}

static void judge(int status, bool in_time, double limit, test_outcome *out, char *line,
                  size_t line_size) {
  line[0] = '\0';
  out->verdict = VERDICT_FAILED;
  if (!in_time)
    snprintf(line, line_size, "did not end within %g s and was killed", limit);
  else if (WIFSIGNALED(status))
    snprintf(line, line_size, "ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) == TEST_SKIPPED)
    out->verdict = VERDICT_SKIPPED;
  else if (WEXITSTATUS(status) == 0)
    out->verdict = VERDICT_PASSED;
  else
    snprintf(line, line_size, "exit status %d", WEXITSTATUS(status));
}

/* Oclgrind tells of a bad access on the streams of the case, and lets it go on: only what has been
 * printed shows it. */
static void judge_output(test_outcome *out) {
  static const char line[] = "\npassed, but printed this, which --silent takes for a failure";
  size_t length;
  char *text;
  if (out->verdict != VERDICT_PASSED || !out->text || !out->text[0]) return;
  out->verdict = VERDICT_FAILED;
  length = strlen(out->text);
  text = realloc(out->text, length + sizeof line);
  if (!text) return;
  memcpy(text + length, line, sizeof line);
  out->text = text;
}

void run_in_child(const test_case *test, const run_options *options, test_outcome *out) {
  double limit = options->timeout_s ? options->timeout_s : test->speed == SPEED_slow ? 180.0 : 60.0;
  FILE *output = tmpfile();
  uint64_t begin = now_ns();
  char line[128] = "could not be started";
  int status = 0;
  bool in_time;
  pid_t child;
  out->verdict = VERDICT_FAILED;
  if (!output) {
    out->text = strdup(line);
    return;
  }
  fflush(stdout);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  child = fork();
  if (child == 0) become_case(test, output);
  if (child > 0) {
    in_time = reap(child, limit, &status);
    judge(status, in_time, limit, out, line, sizeof line);
  }
  out->seconds = (double)(now_ns() - begin) / 1e9;
  out->text = read_text(output, line);
  fclose(output);
  if (options->silent) judge_output(out);
}
