# SPDX-License-Identifier: Apache-2.0
"""run_test.py CASE PROGRAM SOURCE TASKS: `raddle run`, and how it reads the types of task files.
TASKS is the program raddle-tasks."""
import glob
import json
import os
import shutil
import subprocess
import sys

from harness import check, main, run, skip, write

SOURCE, TASKS = sys.argv[3:5]

# All names of types, and all ways to declare a member.
ECHO = """#define THREE (1 + TWO) /* in an array's size */
#define TWO 2u
#define TEXTURE struct texel
enum { FIRST, FOURTH = 1 << 2, FIFTH, SIZE = sizeof(float) };
typedef uint pair_of[TWO];
typedef struct { uchar r, g, b; } color;
struct texel { color c; ushort w; };
union word { uint u; float f; };
struct echo_args {
  rdl_u8 a; rdl_i64 b; rdl_i8 c;
  rdl_u16 d; rdl_i16 e; ulong f; short int g;
  float h; double i; unsigned char j; int k; unsigned l, m[THREE], n[2][FIFTH];
  uchar o[SIZE];
  pair_of p;
  TEXTURE q[2];
  struct { uint x; struct { rdl_u64 z; } y; } r;
  struct { uint inner; };
  union word s;
  rdl_i32 t;
};
RDL_TASK(echo, struct echo_args, struct echo_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(*args);
  RDL_END();
}
RDL_TASK(halve, float, float, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(*args / 2); RDL_END(); }
RDL_TASK(minus, rdl_i64, rdl_i64, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(-*args); RDL_END(); }
RDL_TASK(nothing, RDL_NONE, RDL_NONE, RDL_NONE) { RDL_BEGIN(); RDL_END(); }
RDL_TASK(fails, uint, RDL_NONE, RDL_NONE) { RDL_BEGIN(); RDL_FAIL(42); RDL_END(); }
RDL_TASK(sleeps, uint, RDL_NONE, RDL_NONE) { RDL_BEGIN(); RDL_SLEEP(60000000000ul); RDL_END(); }
struct sum_args { rdl_ptr bytes; uint count; rdl_ptr out; };
RDL_TASK(sum, uint, struct sum_args, RDL_NONE) {
  RDL_GLOBAL uchar *bytes = RDL_AT(uchar, args->bytes);
  RDL_GLOBAL uint *out = RDL_AT(uint, args->out);
  uint k, all = 0;
  RDL_BEGIN();
  for (k = 0; k < args->count; k++)
    all += bytes[k];
  out[1] = all;
  RDL_RETURN(all);
  RDL_END();
}
struct odd_args { rdl_future f; rdl_event e; };
RDL_TASK(odd, struct odd_args, struct odd_args, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(*args); RDL_END(); }
"""


def echo(*words, task="echo", **variables):
    write(".", "echo.task.c", ECHO)
    return run("run", "echo.task.c", "--device", "host", "--task", task, *words, **variables)


def args(**values):
    return [word for name, value in values.items() for word in ("--arg", f"{name}={value}")]


def case_echo():
    """What goes in comes out, by name."""
    words = args(a=255, b=-2 ** 63, c=-128, d=65535, e=-32768, f=2 ** 64 - 1, g=-1, h="0.1", i="-1e300",
                 j=200, k=-7, l="0xff", o="1,2,3,4", inner=9, t=-2147483648)
    for one in ("m=1,2,3", "n[0]=1", "n[1][4]=7", "p[1]=5", "q[1].c.g=6", "q[1].w=8", "r.x=1", "r.y.z=3",
                "s.f=1.5"):
        words += ["--arg", one]
    done = echo(*words)
    check(done.returncode == 0, done)
    check(done.stdout == """a = 255
b = -9223372036854775808
c = -128
d = 65535
e = -32768
f = 18446744073709551615
g = -1
h = 0.1
i = -1e+300
j = 200
k = -7
l = 255
m = {1, 2, 3}
n[0] = {1, 0, 0, 0, 0}
n[1] = {0, 0, 0, 0, 7}
o = {1, 2, 3, 4}
p = {0, 5}
q[0].c.r = 0
q[0].c.g = 0
q[0].c.b = 0
q[0].w = 0
q[1].c.r = 0
q[1].c.g = 6
q[1].c.b = 0
q[1].w = 8
r.x = 1
r.y.z = 3
inner = 9
s.u = 1069547520
s.f = 1.5
t = -2147483648
""", done.stdout)
    note = "not given, and so zero: q[0].c.r, q[0].c.g, q[0].c.b, q[0].w, q[1].c.r, q[1].c.b\n"
    check(done.stderr == "raddle run: " + note, done.stderr)
    check(echo().stderr.endswith("zero: a, b, c, d, e, f, g, h and 23 more\n"), "not all of them")
    told = json.loads(echo(*words, "--json").stdout)
    check(told["status"] == "RDL_OK" and told["device"] == "host" and told["error"] == "", told)
    check(told["result"]["n[1]"] == [0, 0, 0, 0, 7] and told["result"]["i"] == -1e300, told)


def case_scalars():
    check(echo("--arg", "5", task="halve").stdout == "2.5\n", "halve")
    check(echo("--arg", "-inf", task="halve").stdout == "-inf\n", "halve")
    check(json.loads(echo("--arg", "nan", "--json", task="halve").stdout)["result"] == "nan", "halve")
    check(echo("--arg=-7", task="minus").stdout == "7\n", "minus")
    done = echo(task="minus")
    check(done.stdout == "0\n" and "VALUE" in done.stderr, done)
    done = echo(task="nothing")
    check((done.returncode, done.stdout, done.stderr) == (0, "", ""), done)
    check(json.loads(echo("--json", task="nothing").stdout)["result"] is None, "nothing")
    path = write(".", "single.task.c", """struct s_args { struct { uint n; } in; };
RDL_TASK(single, uint, struct s_args, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(2 * args->in.n); RDL_END(); }
struct v_args { uint n[1]; };
RDL_TASK(row, uint, struct v_args, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(2 * args->n[0]); RDL_END(); }
""")
    for words, told in ((["20"], "40\n"), (["in.n=20"], "40\n")):
        done = run("run", path, "--task", "single", "--device", "host", "--arg", *words)
        check(done.stdout == told and done.stderr == "", done)
    done = run("run", path, "--task", "row", "--device", "host", "--arg", "20")
    check(done.returncode == 2 and "FIELD=VALUE" in done.stderr, "an array of one", done)
    check(echo(task="odd").stdout == "f = {0, 0}\ne = {0, 0}\n", "handles")


def case_refused():
    """A wrong command line is told before anything is compiled, and ends with 2."""
    for word, text in (("a=256", "rdl_u8"), ("c=-129", "rdl_i8"), ("c=128", "rdl_i8"), ("f=-1", "rdl_u64"),
                       ("f=18446744073709551616", "rdl_u64"), ("b=9223372036854775808", "rdl_i64"),
                       ("a=", "''"), ("a=1x", "1x"), ("a= 1", "rdl_u8"), ("h=one", "float"),
                       ("h=1e39", "float"), ("i=1e999", "double"), ("m=1,2,3,4", "room for 3"),
                       ("m=1,,3", "''"), ("m[3]=1", "3 elements"), ("p[9]=1", "2 elements"), ("zz=1", "zz"),
                       ("q=1", "q[0].c.r"), ("n[2]=1", "n[1][5]"), ("a[0]=1", "a[0]"), ("a", "FIELD=VALUE"), ("255", "FIELD=VALUE"),
                       ("r.y=1", "r.y.z")):
        done = echo("--arg", word, RADDLE_CC="no-such-compiler")
        check(done.returncode == 2 and text in done.stderr and done.stdout == "", word, done)
    for task, word, text in (("halve", "x=1", "VALUE alone"), ("nothing", "x=1", "there are none"),
                             ("odd", "f=1", "rdl_future"), ("odd", "e=1", "event:TARGET"),
                             ("odd", "e=event:0", "at least 1"), ("odd", "e=event:4294967296", "at least 1"),
                             ("sum", "bytes=1", "zeros:BYTES")):
        done = echo("--arg", word, task=task)
        check(done.returncode == 2 and text in done.stderr, word, done)
    for words, text in ((["--task", "eco"], "echo halve minus"), ([], "which --task?"),
                        (["--task", "echo", "--workers", "0"], "--workers"),
                        (["--task", "echo", "--timeout", "soon"], "--timeout"),
                        (["--task", "sum", "--arg", "bytes=0", "--arg", "out=0", "--save", "out=x"], "--save"), (["--quickly"], "--quickly")):
        done = run("run", "echo.task.c", *words)
        check(done.returncode == 2 and text in done.stderr, words, done)


def case_failures():
    done = echo(task="fails")
    check(done.returncode == 1 and done.stderr.startswith("RDL_FAILED: ") and "42" in done.stderr, done)
    told = json.loads(echo("--json", task="fails").stdout)
    check(told["status"] == "RDL_FAILED" and told["result"] is None and "42" in told["error"], told)
    done = echo("--timeout", "0.2", task="sleeps")
    check(done.returncode == 1 and done.stderr.startswith("RDL_TIMEOUT: "), done)
    done = run("run", "nowhere.task.c")
    check(done.returncode == 1 and done.stderr.startswith("raddle run: cannot read nowhere.task.c: "), done)
    check(os.getcwd() in done.stderr, done)
    done = run("run", write(".", "bad.task.c", ECHO.replace("RDL_RETURN(*args)", "RDL_RETURN(*arg)")),
               "--task", "echo", "--device", "host")
    check(done.returncode == 1 and "\n./bad.task.c:23:15: error: " in done.stderr, done)
    done = echo("--device", "abacus")
    check(done.returncode == 1 and done.stderr.startswith("raddle run: ") and "abacus" in done.stderr, done)
    done = subprocess.run([TASKS, "x", "x.c", "nowhere.task.c"], capture_output=True, text=True)
    check(done.returncode == 1 and done.stderr.startswith("raddle-tasks: cannot read nowhere.task.c: "), done)
    done = subprocess.run([TASKS, "--help"], capture_output=True, text=True)
    check((done.returncode, done.stderr) == (0, "") and "--plain  " in done.stdout, done)
    check(max(map(len, done.stdout.splitlines())) <= 100, done)


def case_memory():
    write(".", "bytes", "abc")
    words = ["--arg", "bytes=file:bytes", "--arg", "count=3", "--arg", "out=zeros:12"]
    done = echo(*words, "--save", "out=saved", task="sum")
    check((done.returncode, done.stdout) == (0, "294\n"), done)
    with open("saved", "rb") as file:
        check(file.read() == bytes(4) + (294).to_bytes(4, sys.byteorder) + bytes(4), "saved")
    done = echo(*words[:4], "--arg", "out=zeros:lots", task="sum")
    check(done.returncode == 2 and "lots" in done.stderr, done)
    done = echo("--arg", "bytes=file:nowhere", "--arg", "out=0", task="sum")
    check(done.returncode == 1 and "nowhere" in done.stderr, done)


def case_no_memory():
    """An address that is forgotten is never followed; 0 that is written out is what the task gets."""
    write(".", "many.task.c", """struct many_args { struct { uint x; rdl_ptr first[3]; } g; };
RDL_TASK(many, rdl_ptr, struct many_args, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(args->g.first[1]); RDL_END(); }
RDL_TASK(one, rdl_ptr, rdl_ptr, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(*args); RDL_END(); }
struct either_args { union { rdl_ptr p; ulong n; } u; };
RDL_TASK(either, rdl_ptr, struct either_args, RDL_NONE) { RDL_BEGIN(); RDL_RETURN(args->u.p); RDL_END(); }
""")
    for task, words, name in (("sum", ["count=1"], "bytes"), ("sum", ["bytes=zeros:4"], "out")):
        done = echo(*[w for word in words for w in ("--arg", word)], task=task, RADDLE_CC="no-such-compiler")
        check(done.returncode == 2 and done.stdout == "", done)
        check(done.stderr.startswith(f"raddle run: {name} is device memory: give zeros:BYTES or file:PATH"), done)

    def many(task, *words):
        return run("run", "many.task.c", "--device", "host", "--task", task, *words)
    for task, words, name in (("many", [], "g.first[0]"), ("one", [], "VALUE"), ("either", [], "u.p"),
                              ("many", ["--arg", "g.first[0]=0", "--arg", "g.first[2]=zeros:4"], "g.first[1]")):
        done = many(task, *words)
        check(done.returncode == 2 and f"run: {name} is device memory: give " in done.stderr, words, done)
    for task, words in (("many", ["--arg", "g.first=0"]), ("one", ["--arg", "0"]), ("either", ["--arg", "u.p=0"]),
                        ("either", ["--arg", "u.n=0"])):
        done = many(task, *words)
        check((done.returncode, done.stdout) == (0, "0x0\n"), words, done)
    done = many("many", "--arg", "g.first=zeros:4")
    check(done.returncode == 0 and int(done.stdout, 16) > 0, done)


def case_events():
    """Events are made for the run, and their counts told, also when the task fails."""
    path = write(".", "events.task.c", """struct e_args { uint n; rdl_event e, v[3]; };
RDL_TASK(signals, uint, struct e_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_SIGNAL(args->e, args->n);
  RDL_SIGNAL(args->v[1], 1);
  RDL_AWAIT_EVENT(args->e);
  RDL_RETURN(args->n);
  RDL_END();
}
""")

    def signals(n, *words):
        return run("run", path, "--device", "host", *args(n=n, e="event:3"), *words)
    done = signals(5, "--arg", "v=event:2")
    check((done.returncode, done.stdout) == (0, "5\n"), done)
    said = "".join(f"raddle run: event {e}\n" for e in ("e stands at 5 of 3", "v[0] stands at 0 of 2",
                                                         "v[1] stands at 1 of 2", "v[2] stands at 0 of 2"))
    check(done.stderr == said, done.stderr)
    told = json.loads(signals(4294967295, "--arg", "v[1]=event:9", "--json").stdout)
    check(told["events"] == {"e": 4294967295, "v": [None, 1, None]}, told)
    done = signals(2, "--arg", "v=event:2")
    check(done.returncode == 1 and "RDL_DEADLOCK: " in done.stderr and "event e stands at 2 of 3" in done.stderr, done)
    check(json.loads(echo("--json", task="nothing").stdout)["events"] == {}, "no events")


def case_log():
    """What is warned of while it runs is said, and does not mix with the result."""
    done = echo("--arg", "7", "--workers", "1024", task="minus")
    check((done.returncode, done.stdout) == (0, "-7\n"), done)
    check(done.stderr.startswith("raddle run: ") and "1024" in done.stderr and done.stderr.count("\n") == 1, done)
    path = write(".", "spin.task.c", """RDL_TASK(spin, RDL_NONE, RDL_NONE, RDL_NONE) {
  volatile uint on = 1;
  RDL_BEGIN();
  while (on) {}
  RDL_END();
}
""")
    done = run("run", path, "--device", "host", "--timeout", "4", "--json")
    check(done.returncode == 1 and json.loads(done.stdout)["status"] == "RDL_TIMEOUT", done)
    first = done.stderr.splitlines()[0]
    check(first.startswith("raddle run: ") and "one segment of task spin" in first, done)


STRUCT = "RDL_TASK(t, uint, struct t_args, RDL_NONE) { RDL_BEGIN(); RDL_END(); }\n"


def case_unread():
    """What cannot be read is said with its place, and never guessed."""
    for text, place, why in (
            ("struct t_args {\n  uint *a;\n};\n", ":2:8: ", "pointer"),
            ("struct t_args {\n  uint a : 3;\n};\n", ":2:10: ", "bit-field"),
            ("struct t_args {\n  bool a;\n};\n", ":2:3: ", "'bool' is no type"),
            ("struct t_args {\n  uint a[N];\n};\n", ":2:10: ", "'N'"),
            ("#define N(x) x\nstruct t_args {\n  uint a[N(2)];\n};\n", ":3:10: ", "takes arguments"),
            ("#if 1\n#define N 1\n#else\n#define N 2\n#endif\nstruct t_args { uint a[N]; };\n", ":6:24: ",
             "more than once"),
            ("#if 1\nstruct t_args { uint a; };\n#else\nstruct t_args { uint b; };\n#endif\n", "",
             "more than once"),
            ("struct t_args {\n#if 1\n  uint a;\n#endif\n};\n", ":2:1: ", "directive"),
            ("struct t_args { struct nowhere a; };\n", ":1:32: ", "struct nowhere"),
            ("struct t_args { enum { A } a; };\n", ":1:17: ", "'enum'"),
            ("struct t_args { uint a[1 / 0]; };\n", "", "division"),
            ("struct t_args { uint a[70000]; };\n", "", "array")):
        done = run("run", write(".", "t.task.c", text + STRUCT), "--device", "host")
        check(done.returncode == 1 and place in done.stderr and why in done.stderr, text, done)
    # Sizes are what the device says: this one is packed behind a macro that looks harmless.
    text = "#define struct struct __attribute__((packed))\nstruct t_args { uchar a; uint b; };\n"
    done = run("run", write(".", "t.task.c", text + STRUCT), "--device", "host")
    check(done.returncode == 1, "attributes", done)


def case_files():
    """Types and tasks of several files, in the order in which they are loaded."""
    first = write(".", "first.task.c", ECHO)
    second = write(".", "second.task.c", """struct both_args { color c; uint n[THREE]; };
RDL_TASK(both, color, struct both_args, RDL_NONE) {
  RDL_BEGIN();
  RDL_RETURN(args->c);
  RDL_END();
}
""")
    done = run("run", first, second, "--task", "both", "--arg", "c.g=3", "--arg", "n=1,2,3", "--device", "host")
    check(done.returncode == 0 and done.stdout == "r = 0\ng = 3\nb = 0\n", done)


def case_workers():
    done = echo("--workers", "1", "--json", task="nothing")
    check(json.loads(done.stdout)["workers"] == 1, done)


def assertions(tasks):
    """For each field that `raddle check` tells, that the compiler places it there."""
    for task in tasks:
        for part in ("args", "state", "lane_state", "result"):
            told = task.get(part, {"unknown": "", "fields": []})
            check(told["unknown"] == "", task["name"], part, told["unknown"])
            check(part not in task or told["size"] == task[part + "_size"], task["name"], part, told)
            for field in told["fields"]:
                name = f"{task['name']}_{part}"
                size = f"sizeof({field['kind']})" + (f" * {field['count']}" if field["count"] else "")
                if field["path"]:
                    yield (f"_Static_assert(__builtin_offsetof({name}, {field['path']}) == {field['offset']} && "
                           f"sizeof((({name} *)0)->{field['path']}) == {size}, \"{field['path']}\");\n")
                else:
                    yield f"_Static_assert(sizeof({name}) == {size}, \"{name}\");\n"


def compare_layouts(*paths):
    done = run("check", "--json", "--device", "host", *paths)
    check(done.returncode == 0 and done.stderr == "", paths, done)
    lines = list(assertions(json.loads(done.stdout.splitlines()[0])["tasks"]))
    subprocess.run([TASKS, "--plain", "x", "image.c", *paths], check=True)
    with open("image.c", "a") as file:
        file.writelines(["#undef struct\n", *lines])
    built = subprocess.run(["cc", "-std=gnu11", "-fsyntax-only", "image.c"], capture_output=True, text=True)
    check(built.returncode == 0, paths, built.stderr)
    return len(lines)


def case_layouts():
    if not shutil.which("cc"):
        skip("no C compiler is installed")
    check(compare_layouts(write(".", "echo.task.c", ECHO)) > 30, "fields of echo")


def case_all_files():
    """All types of the files of this project are read, and as the compiler has them; and there is
    nothing to warn of in these files."""
    if not shutil.which("cc"):
        skip("no C compiler is installed")
    before = {"queries.task.c": "flights.task.c"}
    files = [f for f in sorted(glob.glob(SOURCE + "/**/*.task.c", recursive=True))
             if "/build/" not in f[len(SOURCE):]]
    fields = 0
    for path in files:
        folder, name = os.path.split(path)
        first = [os.path.join(folder, before[name])] if name in before else []
        fields += compare_layouts(*first, path)
    check(fields > 1000, fields, "fields")
    print(len(files), "files,", fields, "fields")


main(globals())
