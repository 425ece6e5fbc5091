# SPDX-License-Identifier: Apache-2.0
"""command_test.py CASE PROGRAM: runs the command line program and checks what it prints."""
import json
import os
import re
import tempfile

import harness
from harness import check, run

SHAPES = {"indep": 100000, "chain": 10000, "wavefront": 10000, "fib": 21891, "tree": 2992501,
          "pingpong": 20000, "fan": 10010, "roundtrip": 10000, "yield": 1000000, "fma": 100000}
FIELDS = {"shape", "device", "workers", "n", "ns_per_future", "ns_min", "ns_max", "suspended",
          "peer", "peer_ns", "ratio"}


def case_help():
    for words in (["--help"], ["bench", "--shape", "fib", "--help"],
                  *([name, "--help"] for name in harness.commands())):
        done = run(*words)
        check(done.returncode == 0 and done.stdout.startswith("usage: raddle"), words, done)
        check(done.stderr == "" and max(map(len, done.stdout.splitlines())) <= 100, words, done)
    check({"bench", "check", "devices"} <= set(harness.commands()), harness.commands())
    for shape in SHAPES:
        check(shape in run("bench", "--help").stdout, shape, "in the help of bench")
    first = run("--version").stdout.split("\n")[0].split()
    check(first[0] == "raddle" and first[1].count(".") == 2, first)


def devices(**variables):
    """Of each device the selector, whether it is usable, and what else is said."""
    done = run("devices", **variables)
    lines = done.stdout.splitlines()
    check(done.returncode == 0 and lines[0].split()[:2] == ["selector", "usable"], done)
    check(max(map(len, lines)) <= 100, done.stdout)
    found = []
    for line in lines[1:]:
        if line[0] == " ":
            found[-1][2] += " " + line.strip()
        else:
            selector, usable, text = line.split(maxsplit=2)
            check(usable in ("yes", "no"), line)
            found.append([selector, usable == "yes", text])
    return found


def pocl_selectors(**variables):
    return [selector for selector, _, text in devices(**variables)
            if "Portable Computing Language" in text]


def case_devices():
    found = devices()
    hosts = [usable for selector, usable, _ in found if selector == "host"]
    check(hosts == [True], found)
    check(all(usable or " lacks " in text for _, usable, text in found), found)
    pocl = pocl_selectors()
    check(len(pocl) != 1 or pocl == ["opencl:pocl"], pocl)
    both = pocl_selectors(POCL_DEVICES="pthread basic")  # which one word cannot tell apart
    check(len(both) < 2 or all(selector[7:].isdigit() for selector in both), both)
    if len(both) > 1:
        done = run("bench", "--once", "--device", "opencl:pocl", POCL_DEVICES="pthread basic")
        check(done.returncode == 1 and "several" in done.stderr, done)
        check(all(selector in done.stderr for selector in both), done)


    listed = [json.loads(line) for line in run("devices", "--json").stdout.splitlines()]
    check([(d["selector"], d["usable"]) for d in listed] == [(s, u) for s, u, _ in found], listed)
    check(all(d["name"] and d["usable"] == (d["missing"] == "") for d in listed), listed)


def case_capabilities():
    plain = [json.loads(line) for line in run("devices", "--json").stdout.splitlines()]
    told = [json.loads(line) for line in run("devices", "-v", "--json", timeout=250).stdout.splitlines()]
    check([d["selector"] for d in told] == [d["selector"] for d in plain], told)
    for device in told:
        rows = {row["name"]: row["value"] for row in device["capabilities"]}
        check(len(rows) > 5 and (rows["usable"] == "yes") == device["usable"], device)
    text = run("devices", "--verbose").stdout
    for device in told:
        for row in device["capabilities"]:
            value = "" if row["name"] == "clock_hz" else re.escape(row["value"][:20]) # measured anew
            line = rf"^  {row['name']} +{'probed' if row['probed'] else 'claimed'} +{value}"
            check(re.search(line, text, re.M), row, text)
    check(max(map(len, text.splitlines())) <= 100, text)
    again = run("devices", "--reprobe", timeout=250)
    check(again.returncode == 0 and "  clock " in again.stdout, again)


def case_selectors():
    for selector, usable, _ in devices():
        done = run("bench", "--once", "--device", selector)
        check(usable == (done.returncode == 0), selector, done)


def case_misuse():
    for words in ([], ["dance"], ["devices", "now"], ["devices", "--json=yes"], ["check"],
                  ["check", "--json"], ["check", "x.task.c", "--device"],
                  ["check", "x.task.c", "--fast"], ["bench", "--shape", "spiral"],
                  ["bench", "--rounds", "0"], ["bench", "--rounds", "-1"], ["bench", "--workers"],
                  ["bench", "--workers", "2x"], ["bench", "--device", "--once"],
                  ["bench", "--device", ""], ["bench", "--peer"], ["bench", "--json"],
                  ["bench", "quickly"], ["bench", "--n", "5"],
                  ["bench", "--shape", "fan", "--n", "5"], ["bench", "--shape", "fib", "--n", "41"],
                  ["bench", "--shape", "tree", "--n", "11"], ["bench", "--shape", "tree", "--n", "0"],
                  ["bench", "--shape", "indep", "--n", "20000001"],
                  ["bench", "--shape", "chain", "--n", "60001"], ["bench", "--slots", "none"],
                  ["bench", "--fast", "1"]):
        done = run(*words)
        check(done.returncode == 2 and "--help" in done.stderr, words, done)
        check(done.stdout == "", words, done.stdout)
    done = run()
    check(done.stderr == run("--help").stdout, "no command", done)
    done = run("bench", "--device", "abacus", "--json", "-")
    check(done.returncode == 1 and "abacus" in done.stderr, done)
    done = run("bench", "--device", "host", "--peer", "nobody")
    check(done.returncode == 1 and "nobody" in done.stderr, done)


def lines_of(done):
    check(done.returncode == 0, done)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check_line(line, shape, workers):
    check(FIELDS <= line.keys(), line)
    check(line["shape"] == shape and line["device"] == "host", line)
    check(line["workers"] == workers and line["n"] == SHAPES[shape], line)
    check(0 < line["ns_min"] <= line["ns_per_future"] <= line["ns_max"], line)


# Each future of these suspends at least so often in a round; awaits of what is done do not count.
LEAST_SUSPENDED = {"chain": 10000, "wavefront": 10000, "pingpong": 10000, "fan": 10}


def case_bench():
    for workers in (1, 2):
        for shape in SHAPES:
            if shape in ("tree", "fma"):
                continue  # they take long: case_sizes takes small ones
            done = run("bench", "--shape", shape, "--rounds", "1", "--device", "host", "--workers",
                       str(workers), "--json", "-")
            lines = lines_of(done)
            check(len(lines) == 1, lines)
            check_line(lines[0], shape, workers)
            check(("size" in lines[0]) == (shape in ("fib", "yield")), lines)
            check(("p50_ns" in lines[0]) == (shape == "roundtrip"), lines)
            check(lines[0]["peer"] is None and lines[0]["ratio"] is None, lines)
            if workers == 1:
                check(lines[0]["suspended"] >= LEAST_SUSPENDED.get(shape, 0), lines)
    fib = lines_of(run("bench", "--shape", "fib", "--rounds", "1", "--device", "host", "--json", "-"))
    check(fib[0]["bytes_per_future"] > 0 and fib[0]["frame_bytes"] == 32, fib)


def of_size(shape, n, *words):
    return lines_of(run("bench", "--shape", shape, "--n", str(n), "--rounds", "1", "--device", "host",
                        "--json", "-", *words))


# Peers that are there check that they do the same.
def case_sizes():
    for shape, n, futures in (("fib", 1, 1), ("fib", 23, 92735), ("tree", 1, 5), ("tree", 3, 529),
                              ("indep", 1, 1), ("indep", 200000, 200000), ("chain", 1, 1),
                              ("chain", 20000, 20000), ("yield", 1, 1000), ("yield", 30, 30000),
                              ("fma", 1, 100000), ("fma", 64, 100000)):
        for line in of_size(shape, n, "--workers", "2", "--peer", "all"):
            check(line["size"] == n and line["n"] == futures, line)
    line, = lines_of(run("bench", "--shape", "roundtrip", "--rounds", "1", "--device", "host",
                         "--json", "-"))
    check(0 < line["ns_min"] and 0 < line["p50_ns"] <= line["p99_ns"], line)
    done = run("bench", "--shape", "fib", "--n", "20", "--rounds", "1", "--device", "host",
               "--workers", "1", "--slots", "8")
    check(done.returncode == 1 and "OUT_OF_SLOTS" in done.stderr, done)
    line, = of_size("fib", 12, "--steady", "--workers", "1")
    check(line["size"] == 12 and line["n"] == 465, line)
    done = run("bench", "--shape", "tree", "--n", "3", "--rounds", "1", "--device", "host")
    check(done.returncode == 0 and "n is 3: 529 futures" in done.stdout, done)


def case_usual_tree():
    line, = lines_of(run("bench", "--shape", "tree", "--rounds", "1", "--device", "host", "--json",
                         "-", timeout=250))
    check(line["size"] == 7 and line["n"] == SHAPES["tree"], line)


# Takes 50 ns times N for a future of fib(N).
PEER = """#!/bin/sh
[ "$1" = fib ] || exit 77
rounds=$5
while [ "$rounds" -gt 0 ]; do echo "$((50 * $7)).0 - {ok}"; rounds=$((rounds - 1)); done
"""


def fake_peer(folder, name, ok):
    path = os.path.join(folder, "peer-" + name)
    with open(path, "w") as file:
        file.write(PEER.replace("{ok}", ok))
    os.chmod(path, 0o755)


# Beside a link to the program there are no peers, so the program itself is copied.
def case_peer():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "raddle")
        with open(harness.PROGRAM, "rb") as source, open(program, "wb") as target:
            target.write(source.read())
        os.chmod(program, 0o755)
        fake_peer(folder, "good", "1")
        words = ["bench", "--rounds", "4", "--device", "host", "--workers", "1", "--json"]
        line, = lines_of(run(*words, "-", "--shape", "fib", "--peer", "good", program=program))
        check_line(line, "fib", 1)
        check(line["peer"] == "good" and line["peer_ns"] == 1000.0, line)
        check(abs(line["ratio"] * line["ns_per_future"] - 1000.0) < 10, line)
        line, = lines_of(run(*words, "-", "--shape", "fib", "--n", "12", "--peer", "good",
                             program=program))
        check(line["size"] == 12 and line["peer_ns"] == 600.0, line)
        line, = lines_of(run(*words, "-", "--shape", "fan", "--peer", "all", program=program))
        check(line["peer"] is None, "a peer that has not the shape", line)
        path = os.path.join(folder, "report")
        done = run(*words, path, "--shape", "fib", "--peer", "all", program=program)
        check(done.returncode == 0 and done.stdout.startswith("shape"), done)
        with open(path) as file:
            check(json.loads(file.read())["peer"] == "good", path)
        fake_peer(folder, "bad", "0")
        done = run(*words, "-", "--shape", "fib", "--peer", "all", program=program)
        check(done.returncode == 1 and "peer-bad" in done.stderr, done)


harness.main(globals())
