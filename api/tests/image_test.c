/* SPDX-License-Identifier: Apache-2.0 */
/* The text of an image: order of the pieces, numbers of the tasks, hash, errors. */
#include "api/src/image.h"
#include "backends/common/kernel_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "failing_memory.h"
#include "unit.h"

#define TASK(name, result) "RDL_TASK(" name ", " result ", A, S) { RDL_BEGIN(); RDL_END(); }\n"

static rdl_reason why;

typedef struct modules {
  rdl__task_list lists[3];
  rdl__image_module all[3];
} modules;

static void add(modules *m, size_t i, const char *name, const char *text) {
  assert_int_equal(rdl__scan(name, text, strlen(text), 0, &m->lists[i], &why), RDL_OK);
  m->all[i] = (rdl__image_module){name, text, strlen(text), &m->lists[i]};
}

static void load(modules *m, const char *name, const char *second) {
  *m = (modules){0};
  assert_int_equal(rdl__image_own_module(&m->lists[0], &m->all[0], &why), RDL_OK);
  add(m, 1, name,
      "RDL_DECLARE(one, int, A, S)\n" TASK("one", "int")
          TASK("two", "RDL_NONE") "#define OF_THE_FIRST\nRDL_FN void abort(int x) { }\n");
  add(m, 2, "b.task.c", second);
}

static void finish(modules *m) {
  for (size_t i = 0; i < 3; i++)
    rdl__task_list_finish(&m->lists[i]);
}

/* What stands behind the generated dispatch. */
enum { LAST = 7 };

static const rdl_text_piece *piece_at(const rdl__image *image, size_t from_end) {
  assert_true(image->text.count > from_end);
  return &image->text.pieces[image->text.count - 1 - from_end];
}

static void is_piece(const rdl_text_piece *piece, const char *name, const char *text) {
  assert_string_equal(piece->name, name);
  assert_int_equal(piece->first_line, 1);
  if (!text) return;
  assert_int_equal(piece->length, strlen(text));
  assert_memory_equal(piece->text, text, piece->length);
}

/* All kernel texts, with the own module's heads, two modules with theirs, and the dispatch. */
static void pieces_in_order(void **state) {
  modules m;
  load(&m, "dir/a.task.c", "\xef\xbb\xbf" TASK("three", "int"));
  rdl__image image;
  (void)state;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_OK);
  assert_int_equal(image.text.count, rdl__kernel_text_count + 6);
  is_piece(&image.text.pieces[0], "dialect.h", NULL);
  is_piece(piece_at(&image, LAST + 7), "mailbox.cl", NULL);
  is_piece(piece_at(&image, LAST + 5), "tasks.cl", NULL);
  is_piece(piece_at(&image, LAST + 4), "raddle-heads",
           "#define RDL_ID_one 3u\n#define RDL_HEAD_one RDL_HEAD_DECLARED_\n"
           "#define RDL_WIDTH_one RDL_LANES\n"
           "#define RDL_ID_two 4u\n#define RDL_HEAD_two RDL_HEAD_HERE_\n"
           "#define RDL_WIDTH_two RDL_LANES\n");
  is_piece(piece_at(&image, LAST + 3), "dir/a.task.c", m.all[1].text);
  is_piece(piece_at(&image, LAST + 2), "raddle-heads",
           "#define RDL_ID_three 5u\n#define RDL_HEAD_three RDL_HEAD_HERE_\n"
           "#define RDL_WIDTH_three RDL_LANES\n");
  is_piece(piece_at(&image, LAST + 1), "b.task.c", TASK("three", "int")); /* without the mark */
  is_piece(piece_at(&image, LAST), "raddle-dispatch", NULL);
  is_piece(piece_at(&image, 6), "main.cl", NULL);
  is_piece(piece_at(&image, 5), "pack_run.cl", NULL);
  is_piece(piece_at(&image, 4), "private_run.cl", NULL);
  is_piece(piece_at(&image, 3), "row.cl", NULL);
  is_piece(piece_at(&image, 2), "lead.cl", NULL);
  is_piece(piece_at(&image, 1), "launch.cl", NULL);
  is_piece(piece_at(&image, 0), "limited.cl", NULL);
  assert_int_equal(image.task_count, 6);
  assert_null(image.text.prebuilt);
  rdl__image_finish(&image);
  finish(&m);
}

static void dispatch_over_all_tasks(void **state) {
  static const char run[] =
      "#define RDL_TASK_COUNT 6u\n#if RDL_LANES == 1\n"
      "RDL_FN rdl_u32 rdl_run_task(rdl_cx *rdl, rdl_u32 task)\n{\n"
      "  rdl_u32 how;\n"
      "  if (task < 3u) {\n    if (task < 1u) {\n      how = rdl_batch_run(rdl);\n"
      "    } else {\n      if (task < 2u) {\n        how = rdl_gate_run(rdl);\n"
      "      } else {\n        how = rdl_watch_run(rdl);\n      }\n    }\n"
      "  } else {\n    if (task < 4u) {\n      how = one_run(rdl);\n"
      "    } else {\n      if (task < 5u) {\n        how = two_run(rdl);\n"
      "      } else {\n        how = three_run(rdl);\n      }\n    }\n  }\n"
      "  return how;\n}\n";
  modules m;
  load(&m, "a.task.c", TASK("three", "int"));
  rdl__image image;
  (void)state;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_OK);
  const char *text = piece_at(&image, LAST)->text;
  assert_non_null(strstr(text, "RDL_ALONE_RUNNER(two)\nRDL_ALONE_RUNNER(three)\n"));
  assert_non_null(strstr(text, run));
  assert_non_null(strstr(text, "  RDL_INFO(one, 0u, 0u)\n  RDL_ALONE_INFO(one)\n"
                               "  RDL_INFO(two, 0u, 0u)\n  RDL_ALONE_INFO(two)\n"
                               "  RDL_INFO(three,"));
  rdl__image_finish(&image);
  finish(&m);
}

/* A task with a state of its lanes, and a spawn for each of them. */
static void dispatch_to_a_task_with_lanes(void **state) {
  modules m;
  load(&m, "a.task.c",
       "RDL_TASK_LANES(three, int, A, S, L) { RDL_BEGIN(); RDL_SPAWNS(2); "
       "RDL_SPAWN_LANES(mine->f, 1, one); RDL_END(); }\n");
  rdl__image image;
  (void)state;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_OK);
  const char *text = piece_at(&image, LAST)->text;
  assert_non_null(strstr(text, "RDL_ALONE_RUNNER(two)\nRDL_LANES_RUNNER(three)\n"));
  assert_non_null(strstr(text, "  RDL_INFO(three, 2u + 1u * RDL_WIDTH_three, 0u)\n"
                               "  RDL_LANES_INFO(three)\n"));
  assert_null(strstr(text, "RDL_LANES_INFO(two)"));
  rdl__image_finish(&image);
  finish(&m);
}

/* The scheduler's text is told that there is a task of a whole group, before all else. */
static void a_task_of_a_whole_group(void **state) {
  modules m;
  load(&m, "a.task.c",
       "RDL_TASK(three, int, A, S) { RDL_BEGIN(); rdl_sync(); RDL_END(); }\n"
       "RDL_TASK(four, int, A, S) { RDL_GROUP(); RDL_BEGIN(); RDL_END(); }\n");
  rdl__image image;
  (void)state;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_OK);
  is_piece(&image.text.pieces[0], "raddle-front", "#define RDL_GROUP_TASKS 1\n");
  is_piece(&image.text.pieces[1], "dialect.h", NULL);
  assert_non_null(
      strstr(piece_at(&image, LAST + 2)->text, "#define RDL_WIDTH_four RDL_GROUP_LANES\n"));
  char *text = strdup(piece_at(&image, LAST)->text);
  char *otherwise = strstr(text, "#if defined(RDL_GROUPS)\n");
  assert_non_null(otherwise);
  otherwise = strstr(otherwise, "#else\n");
  assert_non_null(otherwise);
  assert_non_null(strstr(otherwise, "how = four_run(rdl);")); /* by all lanes in any case */
  assert_null(strstr(text, "RDL_ALONE_INFO(four)"));
  *otherwise = '\0';
  char *group = strstr(text, "rdl_run_group"), *together = strstr(text, "rdl_run_together");
  assert_true(group && together && group < together);
  assert_non_null(strstr(together, "how = three_run(rdl);"));
  assert_null(strstr(together, "how = four_run(rdl);"));
  assert_non_null(strstr(text, "rdl_is_group"));
  *together = '\0';
  assert_non_null(strstr(group, "how = four_run(rdl);"));
  free(text);
  rdl__image_finish(&image);
  finish(&m);
}

/* Whether the task "three" of this file is one for all lanes, and no other. */
static bool is_wide(const char *file) {
  modules m;
  load(&m, "a.task.c", file);
  rdl__image image;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_OK);
  char *text = strdup(piece_at(&image, LAST)->text);
  assert_non_null(strstr(text, "RDL_ALONE_INFO(two)\n"));
  bool wide = !strstr(text, "RDL_ALONE_INFO(three)\n");
  char *together = strstr(text, "rdl_run_together");
  assert_non_null(together);
  char *packed = strstr(together, "rdl_run_packed");
  assert_non_null(packed);
  *packed = '\0';
  assert_int_equal(strstr(together, "how = three_run(rdl);") != NULL, wide);
  assert_null(strstr(together, "how = two_run(rdl);"));
  free(text);
  rdl__image_finish(&image);
  finish(&m);
  return wide;
}

#define THREE(body) "RDL_TASK(three, int, A, S) { RDL_BEGIN(); " body " RDL_END(); }\n"

/* Lanes may be named in the task, or behind a function or macro, in whatever order they come. */
static void who_names_lanes_is_wide(void **state) {
  static const char *const wide[] = {
      THREE("self->k = rdl_lane();"),
      THREE("rdl_sync();"),
      THREE("RDL_GROUP();"),
      THREE("if (rdl_ballot(1)) RDL_EXIT();"),
      THREE("self->k = (rdl_scan_add_u32(1));"),
      "RDL_TASK_LANES(three, int, A, S, L) { RDL_BEGIN(); RDL_END(); }\n",
      "RDL_FN uint mine(rdl_cx *rdl) { return rdl_reduce_add_u32(1); }\n" THREE("mine(rdl);"),
      "#define ALL \\\n  rdl_sync()\n" THREE("ALL;"),
      "#define OUTER INNER\n#define INNER(x) (x + rdl_lane())\n" THREE("self->k = OUTER(1);"),
      "RDL_FN uint a(uint n);\nRDL_FN uint b(uint n) { return a(n); }\n"
      "RDL_FN uint a(uint n) { return n + rdl_lane(); }\n" THREE("b(1);"),
      THREE("\n#define HERE rdl_lane()\n self->k = HERE;"),
      "_Static_assert(sizeof(int) == 4, \"(\");\n" THREE("rdl_sync();"),
      "typedef char ok[(sizeof(A) == 4) ? 1 : -1];\n" THREE("rdl_sync();"),
  };
  static const char *const alone[] = {
      THREE("self->k = rdl_lanes();"),
      THREE("RDL_YIELD();"),
      THREE("/* rdl_sync(); */ self->k = \"rdl_lane\"[0];"),
      "RDL_FN uint mine(rdl_cx *rdl) { return rdl_reduce_add_u32(1); }\n" THREE("self->k = 1;"),
      "#define ALL rdl_sync()\n" THREE("self->k = 1;"),
      THREE("\n#define HERE rdl_lane()\n self->k = 1;"),
      "#if rdl_lane\n#error it's rdl_lane()\n#endif\n" THREE("self->k = 1;"),
  };
  (void)state;
  for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
    if (!is_wide(wide[k])) fail_msg("is not wide: %s", wide[k]);
  for (size_t k = 0; k < sizeof alone / sizeof *alone; k++)
    if (is_wide(alone[k])) fail_msg("is wide: %s", alone[k]);
}

static void hash_of(const char *name, const char *second, char out_hash[65]) {
  modules m;
  load(&m, name, second);
  rdl__image image;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_OK);
  assert_ptr_equal(image.text.hash, image.hash);
  assert_int_equal(strlen(image.hash), 64);
  memcpy(out_hash, image.hash, 65);
  rdl__image_finish(&image);
  finish(&m);
}

/* Whether the task "three" of this file is one of those that run in every lane at once. */
static bool is_packed(const char *file) {
  modules m;
  load(&m, "a.task.c", file);
  rdl__image image;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_OK);
  const char *packed = strstr(piece_at(&image, LAST)->text, "rdl_run_packed");
  assert_non_null(packed);
  bool is = strstr(packed, "how = three_run(rdl);") != NULL;
  rdl__image_finish(&image);
  finish(&m);
  return is;
}

static void who_names_few_words_is_packed(void **state) {
  static const char *const packed[] = {
      THREE("self->k = 1; RDL_RETURN(1);"),
      THREE("while (self->k) self->k--;"),
      THREE("RDL_SPAWN(self->f, one); RDL_AWAIT(self->f); RDL_RETURN(RDL_RESULT(int, self->f));"),
      THREE("RDL_YIELD(); *RDL_AT(uint, args->p) = rdl_atomic_add(RDL_AT(uint, args->q), 1);"),
      "RDL_FN uint mine(uint n) { return n; }\n" THREE("self->k = mine(1);"),
  };
  static const char *const others[] = {
      THREE("RDL_SYNC_OF_NOBODY; rdl_sync();"),
      THREE("RDL_TRY_SPAWN(self->k, self->f, one);"),
      THREE("RDL_AWAIT_CHILDREN();"),
      THREE("RDL_SIGNAL(args->e, 1);"),
      THREE("for (;;) RDL_SPAWN(self->f, one);"),
      "#define AGAIN goto again\n" THREE("again: RDL_SPAWN(self->f, one); AGAIN;"),
      "#define GO(f) RDL_SPAWN(f, one)\n" THREE("GO(self->f);"),
      "#define OUTER INNER\n#define INNER(x) RDL_DETACH(x)\n" THREE("OUTER(self->f);"),
      "RDL_TASK_LANES(three, int, A, S, L) { RDL_BEGIN(); RDL_END(); }\n",
  };
  (void)state;
  for (size_t k = 0; k < sizeof packed / sizeof *packed; k++)
    assert_true(is_packed(packed[k]));
  for (size_t k = 0; k < sizeof others / sizeof *others; k++)
    assert_false(is_packed(others[k]));
}

static void hash_knows_names_and_texts(void **state) {
  char hash[4][65];
  (void)state;
  hash_of("a.task.c", TASK("three", "int"), hash[0]);
  hash_of("some/where/a.task.c", TASK("three", "int"), hash[1]);
  hash_of("c.task.c", TASK("three", "int"), hash[2]);
  hash_of("a.task.c", TASK("three", "int") "\n", hash[3]);
  assert_string_equal(hash[0], hash[1]);
  assert_string_not_equal(hash[0], hash[2]);
  assert_string_not_equal(hash[0], hash[3]);
}

static void same_name_in_two_files(void **state) {
  modules m;
  load(&m, "a.task.c", "\n" TASK("three", "int") TASK("two", "int"));
  rdl__image image;
  (void)state;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_COMPILE);
  assert_string_equal(why.text, "b.task.c:3:10: task 'two' is also defined in a.task.c, line 3; "
                                "rename one of them");
  assert_null(image.text.pieces);
  finish(&m);
}

#define BODY(text) "{ RDL_BEGIN();\n" text "\nRDL_END(); }\n"
#define USES(text) "RDL_TASK(three, int, A, S) " BODY(text)

typedef struct mentioned {
  const char *second; /* the file loaded after one with the tasks one and two */
  const char *says;   /* NULL: it is taken */
} mentioned;

static const mentioned all_mentions[] = {
    /* tasks: those before, itself, one declared before, one of the same line */
    {USES("RDL_SPAWN(f, one); RDL_SPAWN(f, three); RDL_SPAWN(f, two);"), NULL},
    {"RDL_DECLARE(four, int, A, S)\n" USES("RDL_SPAWN(f, four);") TASK("four", "int"), NULL},
    {USES("RDL_SPAWN(f, four);"), "b.task.c:2:14: there is no task 'four', neither in this file"},
    {USES("RDL_SPAWN(f, four);") TASK("four", "int"),
     "b.task.c:2:14: task 'four' is not known here: it is defined further down, on line 4; write "
     "RDL_DECLARE(four, int, A, S) before this task"},
    {USES("RDL_SPAWN(f, four);") "RDL_TASK_LANES(four, int, A, S, L) " BODY(""),
     "write RDL_DECLARE_LANES(four, int, A, S, L) before"},
    {USES("RDL_SPAWN(f, four);") "RDL_DECLARE(four, int, A, S)\n" TASK("four", "int"),
     "its RDL_DECLARE comes further down, on line 4; move it"},
    /* a macro may stand for a name, or bring several arguments */
    {"#define X one\n" USES("RDL_SPAWN(f, X);"), NULL},
    {USES("RDL_SPAWN(f, OF_THE_FIRST);"), NULL},
    {"#define X self->f, one\n" USES("RDL_SPAWN(X, n);"), NULL},
    /* the C library */
    {USES("printf(1);"), "b.task.c:2:1: a task cannot call printf of the C library: a task cannot"},
    {USES("x = sqrtf(y);"),
     "b.task.c:2:5: a task cannot call sqrtf of the C library: write rdl_sqrt"},
    {"void *malloc(uint);\n" USES("malloc(1);"), "b.task.c:3:1: a task cannot call malloc"},
    {USES("printf(1);") "RDL_FN void printf(int x) { }\n", NULL},
    {"#define puts(x)\n" USES("puts(1);"), NULL},
    {USES("abort(1);"), NULL}, /* the first file has one */
    /* variables */
    {"uint n;\n" USES(""), "b.task.c:1:6: 'n' is a variable at file level"},
    {"typedef struct s s_t;\ns_t s;\n" USES(""), "b.task.c:2:5: 's' is a variable at file level"},
    {"#define TABLE __constant uint\nTABLE n[1] = {1};\n" USES(""), NULL},
    {"OF_THE_FIRST n[1] = {1};\n" USES(""), NULL},
};

static void mentions_are_judged(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof all_mentions / sizeof *all_mentions; i++) {
    const mentioned *file = &all_mentions[i];
    rdl_status wanted = file->says ? RDL_COMPILE : RDL_OK;
    modules m;
    rdl__image image;
    load(&m, "a.task.c", file->second);
    why.text[0] = '\0';
    rdl_status status = rdl__image_make(m.all, 3, &image, &why);
    if (status != wanted || (status && !strstr(why.text, file->says)))
      fail_msg("%s\n-> %d %s", file->second, (int)status, why.text);
    rdl__image_finish(&image);
    finish(&m);
  }
}

/* What a file mentions must be there before it, also where a later one of the image has it. */
static void files_in_the_wrong_order(void **state) {
  modules m;
  load(&m, "a.task.c", USES("RDL_SPAWN(f, one);"));
  rdl__image_module first = m.all[1];
  rdl__image image;
  (void)state;
  m.all[1] = m.all[2];
  m.all[2] = first;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_COMPILE);
  assert_string_equal(why.text, "b.task.c:2:14: task 'one' is not known here: it is defined in "
                                "a.task.c, which comes after this file; put that file first");
  finish(&m);
}

static void the_same_file_twice(void **state) {
  modules m;
  load(&m, "b.task.c", "\n\n" TASK("two", "RDL_NONE"));
  rdl__image image;
  (void)state;
  assert_int_equal(rdl__image_make(m.all, 3, &image, &why), RDL_COMPILE);
  assert_string_equal(why.text, "b.task.c:3:10: task 'two': this file is loaded already; keep its "
                                "first module and spawn from that");
  assert_null(image.text.pieces);
  finish(&m);
}

static void too_many_tasks(void **state) {
  rdl__task_list large = {.count = 3000};
  rdl__image_module all[2] = {{"a", "", 0, &large}, {"b", "", 0, &large}};
  rdl__image image;
  (void)state;
  assert_int_equal(rdl__image_make(all, 2, &image, &why), RDL_COMPILE);
  assert_non_null(strstr(why.text, "b:1:1: with this file the image has 6000 tasks"));
}

static void memory_runs_out(void **state) {
  modules m;
  load(&m, "a.task.c", TASK("three", "int"));
  rdl_status status = RDL_OUT_OF_MEMORY;
  long n;
  (void)state;
  for (n = 0; status != RDL_OK; n++) {
    rdl__image image;
    allocations_left = n;
    status = rdl__image_make(m.all, 3, &image, &why);
    allocations_left = -1;
    assert_true(status == RDL_OK || status == RDL_OUT_OF_MEMORY);
    if (status) assert_null(image.text.pieces);
    rdl__image_finish(&image);
  }
  assert_true(n > 5);
  finish(&m);
}

static void one_text_with_line_marks(void **state) {
  const rdl_text_piece pieces[] = {{"a \"b\"\\", "x", 1, 1, 0}, {"c", "y\n", 2, 7, 0}};
  const rdl_image_text image = {.pieces = pieces, .count = 2};
  rdl__text text = {0};
  (void)state;
  rdl__image_write(&image, &text);
  assert_false(text.failed);
  assert_string_equal(text.bytes, "\n#line 1 \"a \\\"b\\\"\\\\\"\nx\n#line 7 \"c\"\ny\n\n");
  rdl__text_finish(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_in_order),
      cmocka_unit_test(dispatch_over_all_tasks),
      cmocka_unit_test(dispatch_to_a_task_with_lanes),
      cmocka_unit_test(a_task_of_a_whole_group),
      cmocka_unit_test(who_names_lanes_is_wide),
      cmocka_unit_test(who_names_few_words_is_packed),
      cmocka_unit_test(hash_knows_names_and_texts),
      cmocka_unit_test(same_name_in_two_files),
      cmocka_unit_test(mentions_are_judged),
      cmocka_unit_test(files_in_the_wrong_order),
      cmocka_unit_test(the_same_file_twice),
      cmocka_unit_test(too_many_tasks),
      cmocka_unit_test(memory_runs_out),
      cmocka_unit_test(one_text_with_line_marks),
  };
  return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
