# SPDX-License-Identifier: Apache-2.0
"""manual_test.py CASE PROGRAM SOURCE: help, man page and completion say the same."""
import os
import re
import shutil
import subprocess
import sys

import harness
from harness import check, main, run, skip, write

PAGE = os.path.join(sys.argv[3], "tools/raddle/raddle.1")
COMPLETION = os.path.join(sys.argv[3], "tools/raddle/completion.bash")


def page():
    with open(PAGE) as file:
        return file.read()


def helped(command):
    """{option: what its value is called}, of the help."""
    found = re.findall(r"^  (-{1,2}[a-z-]+)(?: ([A-Z=]+))?  +\S", run(command, "--help").stdout, re.M)
    return {name: value for name, value in found if name != "--help"}


def written(text):
    """The same, of the items of a part of the man page."""
    found = {}
    for item in re.findall(r"^\.It (Fl .*)$", text, re.M):
        for one in item.split(" , "):
            words = one.split()
            found["-" + words[1]] = words[3] if len(words) > 2 else ""
    return found


def case_options():
    parts = re.split(r"^\.S[sh] ", page(), flags=re.M)
    described = {part.split("\n")[0].removeprefix("raddle "): part for part in parts if part.startswith("raddle ")}
    check(list(described) == harness.commands(), described.keys(), harness.commands())
    synopsis = re.split(r"^\.Nm\n", next(p for p in parts if p.startswith("SYNOPSIS")), flags=re.M)[1:]
    for command in harness.commands():
        options = helped(command)
        check(options and written(described[command]) == options, command, written(described[command]), options)
        line, = [s for s in synopsis if s.startswith(f".Cm {command}\n")]
        short = set(re.findall(r"Fl (-?[a-z-]+)", line))
        check({"-" + s for s in short} == set(options), command, short)
        usage = run(command, "--help").stdout.split("\n\n")[0]
        check(set(re.findall(r"(?<![A-Za-z])--?[a-z]+", usage)) == set(options), command, usage)


def case_exit_codes():
    """Those of the page are those that the commands speak of; other tests hold them to these."""
    status = page().split(".Sh EXIT STATUS")[1].split(".Sh")[0]
    check(re.findall(r"^\.It (\d+)$", status, re.M) == ["0", "1", "2", "3"], status)
    for command, codes in (("check", "013"), ("doctor", "013"), ("run", "012")):
        told = re.search(r"Ends with (.*?)\n\n", run(command, "--help").stdout, re.S)[1]
        check("".join(re.findall(r"\b\d\b", told)) == codes, command, told)


def case_page():
    """The formatter has nothing to say of the page."""
    tools = (["mandoc", "-Tlint", "-Wwarning"], ["groff", "-mandoc", "-ww", "-z", "-Tutf8"])
    tried = 0
    for tool in tools:
        if not shutil.which(tool[0]):
            continue
        done = subprocess.run([*tool, PAGE], capture_output=True, text=True)
        check(done.returncode == 0 and done.stdout + done.stderr == "", tool, done)
        tried += 1
    if not tried:
        skip("neither mandoc nor groff is installed")


def complete(line):
    """What bash offers for the last word of the line."""
    script = f"""
source "$1"
COMP_LINE=$2 COMP_POINT=${{#2}}
_raddle "$3"
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
    done = subprocess.run(["bash", "-c", script, "bash", COMPLETION, line, harness.PROGRAM], capture_output=True,
                          text=True, timeout=100)
    check(done.returncode == 0 and done.stderr == "", line, done)
    return done.stdout.split()


def case_completion():
    if not shutil.which("bash"):
        skip("bash is not installed")
    check(complete("raddle ") == [*harness.commands(), "--help", "--version"], complete("raddle "))
    check(complete("raddle ch") == ["check"], "a command")
    for command in harness.commands():
        check(set(complete(f"raddle {command} -")) == {*helped(command), "--help"}, command)
    check(complete("raddle run x --ti") == ["--timeout"], "an option")
    write(".", "one.task.c", "RDL_TASK(first, uint, RDL_NONE, RDL_NONE) {}\n"
                             "RDL_TASK_LANES(second, uint, RDL_NONE, RDL_NONE, uint) {}\n")
    os.mkdir("folder")
    check(sorted(complete("raddle check ")) == ["folder", "one.task.c"], "files")
    check(complete("raddle check o") == ["one.task.c"], "a file")
    check(complete("raddle run one.task.c --task ") == ["first", "second"], "tasks")
    check(complete("raddle run one.task.c --task=s") == ["second"], "a task behind =")
    check({"all", "indep", "fib", "parked"} <= set(complete("raddle bench --shape ")), "shapes")
    check(complete("raddle bench --shape wa") == ["wavefront"], "a shape")
    check(complete("raddle run one.task.c --workers ") == [], "a number")


def case_complete_selectors():
    if not shutil.which("bash"):
        skip("bash is not installed")
    listed = [line.split()[0] for line in run("devices").stdout.splitlines() if re.search(r"\S +yes ", line[:40])]
    check("host" in complete("raddle run x --device "), "the host")
    offered = complete("raddle run x --device ")
    check(offered == listed, offered, listed)
    behind = [s.split(":")[1] for s in listed if ":" in s]
    check(complete("raddle run x --device opencl:") == behind, "bash replaces what is behind the colon")
    check(complete("raddle run x --device=ho") == ["host"], "behind =")


main(globals())
