# SPDX-License-Identifier: Apache-2.0
"""check_test.py CASE PROGRAM: `raddle check` on files that are good and on others."""
import json
import os
import re
import shutil

from harness import check, main, run, skip, write

GOOD = """struct one_args { uint n; };
struct sum_state { rdl_future f; ulong all; };
RDL_TASK(one, uint, struct one_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->n);
  RDL_END();
}
RDL_TASK_LANES(sum, ulong, RDL_NONE, struct sum_state, struct one_args) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, one, .n = 2);
  RDL_AWAIT(self->f);
  RDL_SLEEP(1);
  RDL_RETURN(RDL_RESULT(uint, self->f));
  RDL_END();
}
"""
LOSES = """RDL_TASK(loses, uint, RDL_NONE, RDL_NONE) {
  uint before = 1, sum;
  RDL_BEGIN();
  sum = 2;
  RDL_SLEEP(1);
  RDL_RETURN(sum + before);
  RDL_END();
}
struct counts_args { uint n; };
RDL_TASK(counts, uint, struct counts_args, RDL_NONE) {
  uint sum, k;
  RDL_BEGIN();
  sum = args->n;
  for (k = 0; k < 3; k++) {
    RDL_YIELD();
  }
  RDL_RETURN(sum);
  RDL_END();
}
"""
# C has no order for these, C++ has.
NOT_CXX = """struct two_args { uint a, b; };
RDL_TASK(two, uint, struct two_args, RDL_NONE) {
  rdl_future f;
  RDL_BEGIN();
  if (args->a)
    RDL_SPAWN(f, two, .b = 1, .a = 0);
  RDL_AWAIT_CHILDREN();
  RDL_END();
}
"""


def check_file(name, text, *words, **variables):
    return run("check", "--device", "host", write(".", name, text), *words, **variables)


def case_good():
    done = check_file("good.task.c", GOOD)
    check(done.returncode == 0, done)
    lines = done.stdout.splitlines()
    check(lines[1].split() == ["one", "4", "0", "0", "4", "0", "0", "./good.task.c:3"], done)
    check(lines[2].split() == ["sum", "0", "16", "4", "8", "1", "2", "./good.task.c:8"], done)
    check(re.fullmatch(r"host +yes +\d+\.\d\d +1 +- +none", lines[-1]), done)
    more = write(".", "more.task.c", GOOD.replace("sum(", "x(").replace("one(", "y(").split("RDL_TASK(")[0] +
                 "RDL_TASK(z, uint, struct one_args, RDL_NONE) { RDL_BEGIN(); RDL_END(); }\n")
    both = run("check", "--device", "host", "good.task.c", more)
    check(both.returncode == 1 and "more.task.c:1:8" in both.stderr, "the struct twice", both)


def case_json():
    done = check_file("good.task.c", GOOD, "--json")
    host, *looks = [json.loads(line) for line in done.stdout.splitlines()]
    check(host["selector"] == "host" and host["compiles"] and host["lanes"] == 1, host)
    check([t["name"] for t in host["tasks"]] == ["one", "sum"], host)
    check(host["tasks"][1]["state_size"] == 16 and host["tasks"][1]["resume_points"] == 2, host)
    check(len(looks) == 2 and all(look["findings"] == "" for look in looks), looks)
    done = run("check", "good.task.c", "--device", "abacus", "--json")
    abacus = json.loads(done.stdout.splitlines()[0])
    check(done.returncode == 1 and not abacus["compiles"] and "abacus" in abacus["error"], done)


def case_broken():
    done = check_file("broken.task.c", GOOD.replace("RDL_END();\n}", "}", 1))
    check(done.returncode == 1 and "./broken.task.c:3:10: " in done.stderr, done)
    check("RDL_END" in done.stderr and done.stdout == "", done)
    done = check_file("broken.task.c", GOOD.replace("args->n", "args->m"))
    check(done.returncode == 1 and re.search(r"^\./broken.task.c:5:\d+: error: ", done.stderr, re.M), done)
    check(re.search(r"^host +no$", done.stdout, re.M), done)
    done = run("check", "nowhere.task.c")
    check(done.returncode == 1 and done.stderr.startswith("raddle check: cannot read nowhere.task.c: "), done)
    check(os.getcwd() in done.stderr, done)


def case_goes_on():
    """A device that fails does not stop the others."""
    path = write(".", "good.task.c", GOOD)
    done = run("check", path, "--device", "abacus", "--device", "host")
    check(done.returncode == 1 and "no device 'abacus'" in done.stderr, done)
    check(re.search(r"^abacus +no\nhost +yes ", done.stdout, re.M), done)
    check(done.stdout.startswith("task "), "the tasks all the same", done)


def case_locals():
    if not shutil.which("gcc"):
        skip("gcc is not installed")
    done = check_file("loses.task.c", LOSES)
    check(done.returncode == 3, done)
    found = re.findall(r"^\./loses.task.c:(\d+):\d+: warning: the local '(\w+)'", done.stderr, re.M)
    check(sorted(found) == [("14", "k"), ("17", "sum"), ("6", "sum")], "not what is computed anew", done)


def case_cxx():
    if not any(map(shutil.which, ("c++", "g++", "clang++"))):
        skip("no C++ compiler is installed")
    done = check_file("not_cxx.task.c", NOT_CXX)
    check(done.returncode == 3 and "C++20" in done.stderr, done)
    check(re.search(r"^\./not_cxx.task.c:6:\d+: error: ", done.stderr, re.M), done)


def case_order():
    """What C++ says of a word's arguments begins with their place, not with the word's."""
    if not shutil.which("g++"):
        skip("g++ is not installed")
    path = write(".", "order.task.c", """struct two_args { uint n, m; };
struct two_state { rdl_future f; };
RDL_TASK(two, uint, struct two_args, struct two_state) {
  RDL_BEGIN();
  RDL_SPAWN(self->f, two, .m = 1, .n = 2);
  RDL_SPAWN(self->f, two, .m = 3, .n = 4);
  RDL_AWAIT(self->f);
  RDL_RETURN(args->n);
  RDL_END();
}
""")
    done = run("check", path, "--device", "host", RADDLE_CXX="g++")
    check(done.returncode == 3, done)
    errors = re.findall(r"^(\S+?):(\d+):\d+: error: designator order", done.stderr, re.M)
    check([e for e in errors if e[0] == path] == [(path, "5"), (path, "6")], errors)
    check(errors[0][0] == path and errors[2][0] == path, errors)


def case_without_compilers():
    """What cannot be looked at is said, and is no failure."""
    path = write(".", "not_cxx.task.c", NOT_CXX + LOSES)
    compiler = shutil.which("cc") or skip("no C compiler is installed")
    os.mkdir("few")
    for tool in ("as", "ld"):
        os.symlink(shutil.which(tool), os.path.join("few", tool))
    done = run("check", path, "--device", "host", PATH=os.path.abspath("few"), RADDLE_CC=compiler,
               CXX=None, RADDLE_CXX=None)
    check(done.returncode == 0, done)
    check("not looked at C++20: no C++ compiler was found" in done.stderr, done)
    check("not looked at locals: gcc is not in PATH" in done.stderr, done)
    done = run("check", path, "--device", "host", RADDLE_CXX="false")
    check("false knows no C++20" in done.stderr, done)
    done = run("check", path, "--device", "host", RADDLE_CXX="no-such-compiler")
    check("no C++ compiler was found" in done.stderr, done)


main(globals())
