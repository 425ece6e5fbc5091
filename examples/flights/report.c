/* SPDX-License-Identifier: Apache-2.0 */
/* What the program says beside its tables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "flights.h"

void complain(const char *what) {
  fprintf(stderr, "flights: %s: %s\n", what, rdl_error_text());
}

/* With a cold cache that takes many seconds; otherwise the line is gone at once. */
void progress_compiling(bool done) {
  static const char text[] =
      "compiling the tasks, if the cache does not have them; the next run finds them there ...";
  if (!isatty(STDERR_FILENO)) return;
  if (done)
    fprintf(stderr, "\r%*s\r", (int)strlen(text), "");
  else
    fputs(text, stderr);
}

/* One line that is written over, and only where somebody watches. */
void progress_show(struct flights *f, bool done) {
  uint64_t bytes;
  double spent = example_seconds() - f->started, share;
  if (!isatty(STDERR_FILENO)) return;
  if (done) {
    fprintf(stderr, "\r%60s\r", "");
    return;
  }
  pthread_mutex_lock(&f->lock);
  bytes = f->bytes_read;
  pthread_mutex_unlock(&f->lock);
  share = f->file_bytes ? (double)bytes / (double)f->file_bytes : 1.0;
  if (share > 0.0 && share < 1.0)
    fprintf(stderr, "\rreading %3.0f %%, about %.1f s left  ", 100.0 * share,
            spent / share - spent);
  else
    fprintf(stderr, "\rasking the queries, %.1f s so far      ", spent);
}

static void print_phases(const struct flights *f) {
  double inflate = 0.0, text = 0.0;
  for (unsigned k = 0; k < f->options.readers; k++) {
    inflate += f->reading[k].inflate_seconds;
    text += (double)f->reading[k].text_bytes;
  }
  printf("  open and compile %.3f s (before the clock starts)\n", f->startup_seconds);
  printf("  read and parse   %.3f s for %.1f MB of text\n", f->read_done - f->started, 1e-6 * text);
  printf("    inflating took %.3f s of processor time in %u thread%s, while the device parsed\n",
         inflate, f->options.readers, f->options.readers == 1 ? "" : "s");
  printf("  load             %.3f s (merge dictionaries, write codes, build indexes)\n",
         f->loaded - f->read_done);
  printf("  queries          %.3f s\n", f->answered - f->loaded);
  printf("  write tables     %.3f s\n", f->written - f->answered);
}

static void print_futures(const rdl_context_info *info, const rdl_stats *stats) {
  printf("  device           %s: %s, %u worker%s\n", info->device.selector, info->device.name,
         info->workers, info->workers == 1 ? "" : "s");
  printf("  futures          %" PRIu64 " in %" PRIu64 " segments\n", stats->spawned,
         stats->segments);
  printf("  awaits that suspended     %" PRIu64 "\n", stats->suspended);
  printf("  most roots alive at once  %" PRIu64 "\n", stats->roots_alive_most);
}

/* Counters are exact only when no worker runs, and workers look for more work for a moment. */
static rdl_status count_futures(rdl_context *context, rdl_stats *out_stats) {
  const struct timespec millisecond = {.tv_nsec = 1000000};
  rdl_status status = RDL_OK;
  for (int tries = 0; tries < 1000 && !status && !out_stats->exact; tries++) {
    nanosleep(&millisecond, NULL);
    status = rdl_context_stats(context, out_stats);
  }
  return status;
}

bool summary_print(const struct flights *f, uint32_t rows) {
  rdl_context_info info = {.size = sizeof info};
  rdl_stats stats = {.size = sizeof stats};
  double total = f->written - f->started;
  if (rdl_context_describe(f->context, &info) || count_futures(f->context, &stats)) {
    complain("counting");
    return false;
  }
  printf("\n%u rows of flights in %.3f s: %.0f rows/s, from gzipped CSV to %u tables\n", rows,
         total, rows / total, QUERIES);
  print_phases(f);
  print_futures(&info, &stats);
  return true;
}
