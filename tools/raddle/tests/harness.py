# SPDX-License-Identifier: Apache-2.0
"""What the tests of the command line program share. They are called as TEST CASE PROGRAM [...]."""
import os
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[2]


def run(*words, program=None, timeout=110, user=None, **variables):
    """A variable that is None is taken away."""
    environment = {**os.environ, **variables}
    return subprocess.run([program or PROGRAM, *words], capture_output=True, text=True, timeout=timeout,
                          user=user, env={k: v for k, v in environment.items() if v is not None})


def check(condition, *what):
    if not condition:
        sys.exit("failed: " + " ".join(str(w) for w in what))


def skip(why):
    print(why)
    sys.exit(77)


def commands():
    """The names of the commands, from the help."""
    lines = run("--help").stdout.split("\n\n")[1].splitlines()
    return [line.split()[0] for line in lines]


def write(folder, name, text):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


def main(cases):
    """Runs the case that the command line names, in a temporary folder of its own."""
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            cases["case_" + sys.argv[1]]()
        finally:
            os.chdir(home)
