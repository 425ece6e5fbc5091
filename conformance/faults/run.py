#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Puts one fault into a copy of the scheduler's text and demands that the conformance program finds
it.

A fault is a file NAME.patch: lines `Breaks:` (the mechanism that it spoils), `Case:` (the case that
must fail) and `Options:` (of raddle-conformance), an empty line, and unified diffs against
kernels/. Exit status: 0 the case fails with the fault and passes without it, 1 it does not, 2 the
fault or the program is not as it should be, 77 the device that it is about is not there.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

FOLDER = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(FOLDER))
SKIPPED = 77  # a fault may be about a device that is not there
CASE_SECONDS = 60
PATIENCE = 15  # seconds until a case gives up by itself; compiling comes on top


class Fault:
    def __init__(self, path):
        self.name = os.path.basename(path)[:-len(".patch")]
        with open(path, encoding="utf-8") as file:
            head, _, diff = file.read().partition("\n\n")
        fields = dict(line.split(": ", 1) for line in head.splitlines())
        if sorted(fields) != ["Breaks", "Case", "Options"]:
            sys.exit("%s: wants the lines Breaks, Case and Options" % path)
        self.breaks = fields["Breaks"]
        self.case = fields["Case"]
        self.options = fields["Options"].split()
        self.hunks = list(read_hunks(path, diff))
        if not self.hunks:
            sys.exit("%s: holds no diff" % path)


def read_hunks(path, diff):
    """(file, text before, text after). Line numbers are not looked at: the text must stand in the
    file once, wherever that is."""
    name, before, after = None, [], []
    for line in diff.splitlines(keepends=True) + ["@@ end"]:
        if line.startswith(("--- ", "+++ ", "@@ ")) and before + after:
            yield name, "".join(before), "".join(after)
            before, after = [], []
        if line.startswith("--- "):
            name = re.match(r"--- (?:a/)?(\S+)", line).group(1)
        elif line.startswith(("+++ ", "@@ ")):
            continue
        elif line[0] in " -+":
            if line[0] != "+":
                before.append(line[1:])
            if line[0] != "-":
                after.append(line[1:])
        else:
            sys.exit("%s: what is this line? %s" % (path, line))


def apply(fault, folder):
    for name, before, after in fault.hunks:
        path = os.path.join(folder, os.path.basename(name))
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if text.count(before) != 1:
            print("%s no longer applies to %s. Its lines stand there %d times:\n%s"
                  % (fault.name, name, text.count(before), before))
            sys.exit(2)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text.replace(before, after))


# A worker that gives its core away runs beside others less often, and faults that are races would
# show too seldom where there are more workers than cores. Both copies go without.
GIVES_WAY = "  if (rdl->resting && (rdl->control->flags & RDL_FLAG_CROWDED)) rdl_give_way();\n"


def keep_cores(folder):
    path = os.path.join(folder, "main.cl")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(GIVES_WAY) != 1:
        print("main.cl does not hold this line once:\n" + GIVES_WAY)
        sys.exit(2)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace(GIVES_WAY, ""))


def run_case(program, fault, folder, repeat):
    """(passed, output). With the fault, one failure among the repetitions is enough."""
    environment = dict(os.environ, RADDLE_KERNELS=folder)
    command = [program, "--device", "host", "--filter", fault.case,
               "--timeout", str(CASE_SECONDS), "--patience", str(PATIENCE)] + fault.options
    for turn in range(repeat):
        done = subprocess.run(command + ["--seed", str(1000 * turn + 1)], env=environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace", check=False)
        if done.returncode == 0:
            continue
        if done.returncode == SKIPPED:
            print(done.stdout)
            sys.exit(SKIPPED)
        if done.returncode != 1 or not re.search(r"^failed ", done.stdout, re.MULTILINE) or \
                "RDL_COMPILE" in done.stdout:
            print("the case did not run as it should:\n" + done.stdout)
            sys.exit(2)
        return False, done.stdout
    return True, ""


def examine(fault, program, repeat):
    with tempfile.TemporaryDirectory(prefix="raddle-fault-") as folder:
        good = os.path.join(folder, "good")
        bad = os.path.join(folder, "bad")
        for copy in (good, bad):
            shutil.copytree(os.path.join(TOP, "kernels"), copy)
            keep_cores(copy)
        apply(fault, bad)
        passed, output = run_case(program, fault, good, 1)
        if not passed:
            print("%s fails without any fault:\n%s" % (fault.case, output))
            return False
        passed, output = run_case(program, fault, bad, repeat)
    if passed:
        print("%s passes with the fault %s: %s" % (fault.case, fault.name, fault.breaks))
        return False
    lines = [line for line in output.splitlines() if line.startswith("failed") or "  " not in line]
    print("%s: %s fails with it. %s" % (fault.name, fault.case, " | ".join(lines[:2])[:300]))
    return True


def all_names():
    return sorted(name[:-len(".patch")] for name in os.listdir(FOLDER) if name.endswith(".patch"))


def check_patches():
    """All patches apply: seen in a second, where running them takes minutes."""
    for name in all_names():
        with tempfile.TemporaryDirectory(prefix="raddle-fault-") as folder:
            kernels = os.path.join(folder, "kernels")
            shutil.copytree(os.path.join(TOP, "kernels"), kernels)
            keep_cores(kernels)
            apply(Fault(os.path.join(FOLDER, name + ".patch")), kernels)


def check_itself(program):
    """A patch that does not apply and a folder without a file are noticed, each in its own way."""
    with tempfile.TemporaryDirectory(prefix="raddle-fault-") as folder:
        kernels = os.path.join(folder, "kernels")
        shutil.copytree(os.path.join(TOP, "kernels"), kernels)
        patch = os.path.join(folder, "stale.patch")
        with open(patch, "w", encoding="utf-8") as file:
            file.write("Breaks: nothing.\nCase: FUT-2.finished\nOptions: --workers 1\n\n"
                       "--- kernels/wait.cl\n+++ kernels/wait.cl\n@@ -1 +1 @@\n"
                       "-This line stands nowhere.\n+Nor does this one.\n")
        fault = Fault(patch)
        try:
            apply(fault, kernels)
            return "a patch that does not apply is taken"
        except SystemExit as end:
            if end.code != 2:
                return "a patch that does not apply ends with %s" % end.code
        os.remove(os.path.join(kernels, "wait.cl"))
        passed, output = run_case(program, fault, kernels, 1)
        if passed or "RDL_IO" not in output or "wait.cl" not in output:
            return "a missing file of RADDLE_KERNELS is not named:\n" + output
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="faults; default: all")
    parser.add_argument("--program", default=os.path.join(TOP, "build/bin/raddle-conformance"))
    parser.add_argument("--repeat", type=int, default=12, help="tries until the fault must show")
    parser.add_argument("--list", action="store_true", help="list the faults and run none")
    parser.add_argument("--check", action="store_true", help="check this program itself")
    asked = parser.parse_args()
    if asked.check:
        check_patches()
        return check_itself(asked.program) or 0
    names = asked.names or all_names()
    faults = [Fault(os.path.join(FOLDER, name + ".patch")) for name in names]
    if asked.list:
        for fault in faults:
            print("%-20s %-22s %s" % (fault.name, fault.case, fault.breaks))
        return 0
    found = [examine(fault, asked.program, asked.repeat) for fault in faults]
    return 0 if all(found) else 1


if __name__ == "__main__":
    sys.exit(main())
