#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the flights example with DuckDB: from gzipped CSV to the last of fourteen tables.

  compare.py [--program FILE] [--device NAME] [--scale N] [--threads N] [--rounds N]

Runs the two by turns, each in a process of its own, and compares their tables byte for byte. The
first round of each warms the caches and is not counted. Both clocks start before the first CSV file
is opened and stop when the last table is written; starting the process, importing DuckDB, opening
the device and compiling the tasks are left out. Python must have DuckDB: reference/requirements.txt.
"""
import argparse
import filecmp
import pathlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PHASES = ("read and parse", "load", "queries", "write tables")


def run(command):
    """What it printed, and the processor seconds it used."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    outcome = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if outcome.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{outcome.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return outcome.stdout, cpu


def seconds(pattern, text):
    match = re.search(pattern + r" +(\d+\.\d+)", text)
    return float(match[1]) if match else sys.exit(f"no '{pattern}' in:\n{text}")


def run_flights(options, folder):
    text, cpu = run([options.program, "--device", options.device, "--scale", str(options.scale),
                     "--workers", str(options.threads), "--readers", str(min(options.threads, 4)),
                     "--tsv", folder])
    found = {"total": seconds("rows of flights in", text), "processor": cpu,
             "inflate": seconds("inflating took", text)}
    return found | {phase: seconds(f"  {phase}", text) for phase in PHASES}


def run_duckdb(options, folder):
    text, cpu = run([sys.executable, HERE / "reference" / "make_tsv.py", "--out", folder,
                     "--scale", str(options.scale), "--threads", str(options.threads), "--time"])
    return {"total": seconds("total_s", text), "processor": cpu,
            "load": seconds("load_s", text), "queries": seconds("queries_s", text)}


def check_same(ours, theirs):
    names = sorted(path.name for path in theirs.glob("*.tsv"))
    _, different, missing = filecmp.cmpfiles(ours, theirs, names, shallow=False)
    if len(names) != 14 or different or missing:
        sys.exit(f"the tables differ: {different + missing}")


def show(name, rounds):
    totals = [round_["total"] for round_ in rounds]
    print(f"{name:8} median {statistics.median(totals):.3f} s, "
          f"min {min(totals):.3f}, max {max(totals):.3f}")
    for phase in rounds[0]:
        if phase != "total":
            print(f"           {phase:15} {statistics.median(r[phase] for r in rounds):.3f} s")
    return statistics.median(totals)


def main():
    parser = argparse.ArgumentParser(description="Compares the flights example with DuckDB.")
    parser.add_argument("--program", default=HERE.parents[1] / "build" / "bin" / "flights")
    parser.add_argument("--device", default="opencl:pocl")
    parser.add_argument("--scale", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as scratch:
        folders = pathlib.Path(scratch) / "raddle", pathlib.Path(scratch) / "duckdb"
        for _ in range(options.rounds + 1):
            ours.append(run_flights(options, folders[0]))
            theirs.append(run_duckdb(options, folders[1]))
            check_same(*folders)
    print(f"scale {options.scale}, {options.threads} threads, {options.device}, "
          f"{options.rounds} rounds by turns; all tables are the same")
    ratio = show("raddle", ours[1:]) / show("duckdb", theirs[1:])
    print(f"ratio of the medians, raddle / duckdb: {ratio:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
