# SPDX-License-Identifier: Apache-2.0
"""command_test.py CASE PROGRAM: the command line of the conformance program."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

CASE = ["--filter", "HST-3.silent"]
# The loader then knows of no driver, whichever loader it is.
NO_DRIVER = {"OCL_ICD_VENDORS": "/no/such/folder", "OPENCL_VENDOR_PATH": "/no/such/folder"}


def run(*words, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "RADDLE_REQUIRE"}
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=150,
                          env={**environment, **variables}, check=False)


def check(condition, *what):
    if not condition:
        sys.exit("failed: " + " ".join(str(w) for w in what))


def refused(done, *words):
    check(done.returncode == 2 and done.stdout == "", done)
    check(all(word in done.stderr for word in words), words, done)


def case_options():
    for option in ("--device", "--filter", "--child", "--junit", "--json", "--expectations",
                   "--workers", "--segment-limit", "--repeat", "--seed", "--timeout", "--scale",
                   "--patience"):
        for words in ([option], [option, ""], [option, "--flat"]):
            refused(run(*words), option + " wants a value", "--help")
    for option in ("--workers", "--segment-limit", "--repeat", "--seed", "--timeout", "--scale", "--patience"):
        for value in ("x", "-1", "1x", "99999999999999999999"):
            refused(run(option, value), option + " wants a number", f"'{value}'", "--help")
    for option in ("--repeat", "--timeout", "--scale", "--patience"):
        refused(run(option, "0"), option + " wants a number from 1", "'0'", "--help")
    refused(run("--scale", "101"), "--scale wants a number from 1 to 100", "'101'")
    refused(run(*["--filter", "*"] * 65), "--filter", "--help")
    for words in (["--fast"], ["fast"], ["-x"], ["--flat", "1"], [""]):
        refused(run(*words), f"unknown option '{words[-1]}'", "--help")
    for words in (["--help"], ["-h"], ["--flat", "--help"]):
        done = run(*words)
        check(done.returncode == 0 and done.stdout.startswith("usage:"), done)
    done = run("--filter", "nothing")
    check(done.returncode == 1 and "'nothing'" in done.stdout and "--list" in done.stdout, done)
    done = run("--compile", "--filter", "nothing")
    check(done.returncode == 1 and "fut.task.c" in done.stdout, done)
    done = run("--filter", "HST-3.silent", "--filter", "nothing")
    check(done.returncode == 1 and "'nothing'" in done.stdout, done)
    done = run("--filter", "HST-3.silent", "--filter", "FUT-1.ov*", "--list")
    names = [line.split()[0] for line in done.stdout.splitlines()]
    check(names == ["FUT-1.overlap", "HST-3.silent"], done)


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
    done = run("--device", "host", "--skip-absent", *CASE)
    check(done.returncode == 0, done)


def case_required():
    for device in ("host", "opencl:x"):
        for required in ("opencl", "opencl:x", "host,opencl:x"):
            done = run("--device", device, "--skip-absent", *CASE, RADDLE_REQUIRE=required,
                       **NO_DRIVER)
            name = required.split(",")[-1]
            check(done.returncode == 1, required, done)
            check(f"RADDLE_REQUIRE wants '{name}'" in done.stdout, required, done)
    done = run("--device", "opencl:x", "--skip-absent", *CASE, RADDLE_REQUIRE="host", **NO_DRIVER)
    check(done.returncode == 77, done)
    for required in ("", "host", ",host,"):
        done = run(*CASE, RADDLE_REQUIRE=required, **NO_DRIVER)
        check(done.returncode == 0, required, done)


def case_findings():
    """Oclgrind tells of a bad access and goes on: only --silent makes that a failure."""
    wrong = ("    { (void)*(volatile RDL_GLOBAL rdl_u8 *)(heap + 0x100000000ul); rdl_work_for(heap); }\n")
    words = ["--device", "opencl:oclgrind", "--skip-absent", "--workers", "1", "--scale", "2",
             "--filter", "FUT-1.places"]
    with tempfile.TemporaryDirectory() as folder:
        kernels = pathlib.Path(folder, "kernels")
        shutil.copytree(pathlib.Path(__file__).resolve().parent.parent / "kernels", kernels)
        text = (kernels / "launch.cl").read_text(encoding="utf-8")
        check(text.count("    rdl_work_for(heap);\n") == 1, "launch.cl has changed")
        (kernels / "launch.cl").write_text(text.replace("    rdl_work_for(heap);\n", wrong),
                                         encoding="utf-8")
        done = run(*words, RADDLE_KERNELS=str(kernels))
        if done.returncode == 77:
            print(done.stdout, end="")
            sys.exit(77)
        check(done.returncode == 0, done)
        done = run(*words, "--silent", RADDLE_KERNELS=str(kernels))
    check(done.returncode == 1 and done.stdout.startswith("failed FUT-1.places"), done)
    check("Invalid read of size 1" in done.stdout and "--silent" in done.stdout, done)
    done = run(*words, "--silent")
    check(done.returncode == 0, done)


def expect(text, case="HST-3.none_by_macro", **variables):
    """Runs a case that needs a compiler, with this said of the host."""
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "host.txt").write_text(text, encoding="utf-8")
        return run("--filter", case, "--expectations", folder, XDG_CACHE_HOME=folder, **variables)


def case_expectations():
    broken = {"RADDLE_CC": "/no/such/compiler"}
    done = expect("", **broken)
    check(done.returncode == 1 and done.stdout.startswith("failed HST-3.none_by_macro"), done)

    line = "# HST-9.x\n\nHST-3.none_by_m* | expected-failure | by the test\n"
    done = expect(line, **broken)
    check(done.returncode == 77, done)
    check("skipped HST-3.none_by_macro: expected failure: by the test" in done.stdout, done)
    done = expect(line)
    check(done.returncode == 1 and done.stdout.startswith("failed HST-3.none_by_macro"), done)
    check("passed, although" in done.stdout and "by the test" in done.stdout, done)
    done = expect(line, "HST-3.silent")
    check(done.returncode == 0, done)

    for variables in ({}, broken):
        done = expect("HST-3.none_by_macro | unsupported | by the test\n", **variables)
        check(done.returncode == 77, done)
        check(done.stdout.startswith("skipped HST-3.none_by_macro: by the test\n"), done)

    for text in ("HST-3.gone | unsupported | by the test\n", "HST-3.silent | unsupported\n",
                 "HST-3.silent | unknown | by the test\n", "HST-3.silent | unsupported | x\n" * 200):
        refused(expect(text), "host.txt:")
    refused(expect("\nHST-3.gone | unsupported | by the test\n"), "host.txt:2: ", "fits no case")
    for folder in (PROGRAM, "/proc/no/such/folder"):
        refused(run(*CASE, "--expectations", folder), folder + "/host.txt: ")


def case_reports():
    with tempfile.TemporaryDirectory() as folder:
        names = {"--json": f"{folder}/report.json", "--junit": f"{folder}/report.xml"}
        done = run(*CASE, "--epoch", "--flat", "--scale", "50", *[w for pair in names.items() for w in pair])
        check(done.returncode == 0, done)
        with open(names["--json"], encoding="utf-8") as file:
            told = json.load(file)
        suite = xml.etree.ElementTree.parse(names["--junit"]).getroot()
    properties = {p.get("name"): p.get("value") for p in suite.iter("property")}
    for name in ("platform", "driver", "version"):
        check(told[name] and told[name] == properties[name], name, told, properties)
    check(told["mode"] == properties["mode"] == "epoch", told, properties)
    check(told["flat"] is True and told["scale"] == 50, told)
    check("scale 50 %, flat" in properties["settings"], properties)
    check([case["name"] for case in told["cases"]] == ["HST-3.silent"], told)
    check([case.get("name") for case in suite.iter("testcase")] == ["HST-3.silent"], suite)


PROGRAM = sys.argv[2]
globals()["case_" + sys.argv[1]]()
