# SPDX-License-Identifier: Apache-2.0
"""command_test.py CASE PROGRAM: the command line of the conformance program."""
import os
import subprocess
import sys

CASE = ["--filter", "HST-3.silent"]
# The loader then knows of no driver, whichever loader it is.
NO_DRIVER = {"OCL_ICD_VENDORS": "/no/such/folder", "OPENCL_VENDOR_PATH": "/no/such/folder"}


def run(*words, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "RADDLE_REQUIRE"}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=50,
                          env={**environment, **variables}, check=False)


def check(condition, *what):
    if not condition:
        sys.exit("failed: " + " ".join(str(w) for w in what))


def refused(done, *words):
    check(done.returncode == 2 and done.stdout == "", done)
    check(all(word in done.stderr for word in words), words, done)


def case_options():
    for option in ("--device", "--filter", "--child", "--junit", "--json", "--workers",
                   "--segment-limit", "--repeat", "--seed", "--timeout"):
        for words in ([option], [option, ""], [option, "--flat"]):
            refused(run(*words), option + " wants a value", "--help")
    for option in ("--workers", "--segment-limit", "--repeat", "--seed", "--timeout"):
        for value in ("x", "-1", "1x", "99999999999999999999"):
            refused(run(option, value), option + " wants a number", f"'{value}'", "--help")
    for option in ("--repeat", "--timeout"):
        refused(run(option, "0"), option + " wants a number from 1", "'0'", "--help")
    refused(run(*["--filter", "*"] * 65), "--filter", "--help")
    for words in (["--fast"], ["fast"], ["-x"], ["--flat", "1"], [""]):
        refused(run(*words), f"unknown option '{words[-1]}'", "--help")
    for words in (["--help"], ["-h"], ["--flat", "--help"]):
        done = run(*words)
        check(done.returncode == 0 and done.stdout.startswith("usage:"), done)
    done = run("--filter", "nothing")
    check(done.returncode == 1 and "'nothing'" in done.stdout and "--list" in done.stdout, done)
    done = run("--filter", "HST-3.silent", "--filter", "nothing")
    check(done.returncode == 1 and "'nothing'" in done.stdout, done)
    done = run("--filter", "HST-3.silent", "--filter", "FUT-1.o*", "--list")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    check(names == ["FUT-1.once", "FUT-1.overlap", "HST-3.silent"], done)


def case_device():
    done = run(*CASE)
    check(done.returncode == 0 and done.stdout.startswith("passed HST-3.silent"), done)
    for words in (CASE, ["--compile"], []):
        refused(run("--device", "nope", *words), "nope", "Devices here: ", "host (")
        refused(run("--device", "opencl:x", *words, **NO_DRIVER), "opencl:x", "host (")


def case_absent():
    for words in (CASE, ["--compile"]):
        done = run("--device", "opencl:x", "--skip-absent", *words, **NO_DRIVER)
        check(done.returncode == 77 and done.stdout.startswith("skipped: no device 'opencl:x'"),
              done)
    done = run("--device", "opencl:x", "--skip-absent", *CASE, RADDLE_REQUIRE="opencl", **NO_DRIVER)
    check(done.returncode == 1 and "RADDLE_REQUIRE" in done.stdout, done)
    done = run("--device", "host", "--skip-absent", *CASE)
    check(done.returncode == 0, done)


PROGRAM = sys.argv[2]
globals()["case_" + sys.argv[1]]()
