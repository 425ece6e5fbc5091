#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the flights program.

  test.py PROGRAM --device NAME answers --workers N --scale N
      runs it and compares every table byte for byte with reference/, scaled as QUERIES.md says
  test.py PROGRAM --device NAME errors
      gives it files that are broken, short or odd, and wants the right message or the right answer
  test.py PROGRAM --device NAME terminal
      wants it to say on a terminal, and nowhere else, that it compiles

With --epoch the program shares no memory with the device.

Exit status: 0 as wanted, 1 not, 77 the device is not there.
"""
import argparse
import gzip
import os
import pathlib
import pty
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
COUNTS = re.compile(r"flights(_with|_without)?|arrived|departed|cancelled|worst_arrived|sum_.*|"
                    r"worst_sum_.*")
NO_DEVICE = 3


def scaled(path, scale):
    """The reference for rows that are used `scale` times: QUERIES.md, "Scale"."""
    header, *lines = path.read_text("ascii").splitlines()
    if path.stem == "q07_worst_flights":
        lines = [line for line in lines for _ in range(scale)][:len(lines)]
    else:
        names = header.split("\t")
        lines = ["\t".join(str(int(cell) * scale) if cell and COUNTS.fullmatch(name) else cell
                           for name, cell in zip(names, line.split("\t"))) for line in lines]
    return "".join(line + "\n" for line in [header, *lines]).encode("ascii")


def run(options, *arguments):
    command = [options.program, "--device", options.device, *map(str, arguments)]
    command += ["--epoch"] if options.epoch else []
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=240)
    if outcome.returncode == NO_DEVICE:
        print(outcome.stderr)
        sys.exit(77)
    return outcome


def wrong(message, outcome=None):
    print("WRONG:", message)
    if outcome:
        print(outcome.stdout[-2000:], outcome.stderr, f"exit code {outcome.returncode}", sep="\n")
    return 1


def compare(folder, scale):
    bad = 0
    for path in sorted((HERE / "reference").glob("q*.tsv")):
        found = folder / path.name
        if not found.exists():
            bad += wrong(f"{path.name} was not written")
        elif found.read_bytes() != scaled(path, scale):
            bad += wrong(f"{path.name} differs:\n{found.read_text('ascii')[:600]}")
    return bad


def figure(text, name):
    match = re.search(rf"^ *{name} +(\d+)", text, re.M)
    return int(match[1]) if match else -1


def test_answers(options):
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(options, "--workers", options.workers, "--scale", options.scale,
                      "--tsv", folder)
        if outcome.returncode:
            return wrong("it failed", outcome)
        bad = compare(pathlib.Path(folder), options.scale)
    roots = figure(outcome.stdout, "most roots alive at once")
    suspended = figure(outcome.stdout, "awaits that suspended")
    if roots < 16:
        bad += wrong(f"16 roots are submitted at once, and {roots} were alive", outcome)
    if suspended < 16:
        bad += wrong(f"every root awaits, and {suspended} awaits suspended", outcome)
    print(f"{roots} roots alive at once, {suspended} awaits suspended, {bad} wrong")
    return bad


def write(folder, name, text, end=None):
    """Makes a data folder that differs from the true one in one file."""
    folder.mkdir()
    for path in (HERE / "data").glob("*.csv.gz"):
        if path.name != name:
            (folder / path.name).symlink_to(path)
    if text is not None:
        (folder / name).write_bytes(gzip.compress(text.encode("ascii"), 1)[:end])
    return folder


def failures(scratch, flights):
    """Folder, and what the message must say."""
    header, *lines = flights.splitlines(keepends=True)
    bad = "1,1,515,2,x1,UA,1545,N14228,EWR,IAH,227,1400\n"
    return [
        (write(scratch / "field", "flights.csv.gz", header + "".join(lines[:50]) + bad),
         r"flights\.csv\.gz: cannot read arr_delay in the line '1,1,515,2,x1,UA"),
        (write(scratch / "month", "flights.csv.gz", header + bad.replace("1,1,", "13,1,", 1)),
         r"cannot read month in the line '13,1,515"),
        (write(scratch / "columns", "flights.csv.gz", header + "1,1,515,2\n"),
         r"cannot read dep_delay in the line '1,1,515,2'"),
        (write(scratch / "visib", "weather.csv.gz",
               "origin,month,day,hour,visib,wind_knots\nEWR,1,1,1,10.5,9\n"),
         r"weather\.csv\.gz: cannot read visib in the line 'EWR,1,1,1,10\.5,9'"),
        (write(scratch / "header", "planes.csv.gz", "tailnum,manufacturer\nN1,X\n"),
         r"planes\.csv\.gz: the first line is not 'tailnum,year,manufacturer'"),
        (write(scratch / "cut", "flights.csv.gz", flights, -1000),
         r"flights\.csv\.gz: (the file is cut off|holds more text)|flights\.csv\.gz holds more text"),
        (write(scratch / "absent", "airlines.csv.gz", None), r"airlines\.csv\.gz: No such file"),
        (write(scratch / "rows", "airlines.csv.gz", "carrier,name\n" + "U,A\n" * 20000),
         r"reading: the lines are too short"),
    ]


def test_failures(options, scratch, flights):
    bad = 0
    for folder, message in failures(scratch, flights):
        outcome = run(options, "--data", folder)
        if outcome.returncode != 1 or not re.search(message, outcome.stderr):
            bad += wrong(f"{folder.name}: wanted exit code 1 and /{message}/", outcome)
    return bad


def test_few_rows(options, scratch, flights):
    """The first 1000 flights, without an end of the last line, against the check in plain Python."""
    text = "".join(flights.splitlines(keepends=True)[:1001])
    folder = write(scratch / "few", "flights.csv.gz", text[:-1])
    outcome = run(options, "--data", folder, "--tsv", scratch / "out")
    if outcome.returncode:
        return wrong("1000 flights", outcome)
    check = subprocess.run([sys.executable, HERE / "reference" / "check.py", "--data", folder,
                            "--dir", scratch / "out"], capture_output=True, text=True)
    return wrong("1000 flights", check) if check.returncode else 0


def test_no_rows(options, scratch, flights):
    """No flight at all: tables with fewer lines or none, and no failure."""
    folder = write(scratch / "none", "flights.csv.gz", flights.splitlines(keepends=True)[0])
    outcome = run(options, "--data", folder, "--tsv", scratch / "out")
    if outcome.returncode:
        return wrong("no flights", outcome)
    found = {name: (scratch / "out" / name).read_text("ascii").splitlines()[1:]
             for name in ("q01_filters.tsv", "q12_tail_numbers.tsv", "q14_drill_down.tsv")}
    wanted = {"q01_filters.tsv": ["long_late\t0\t\t\t\t", "early_jfk\t0\t\t\t\t"],
              "q12_tail_numbers.tsv": ["0\t0\t0\t0"], "q14_drill_down.tsv": []}
    return 0 if found == wanted else wrong(f"no flights: {found}")


def test_errors(options):
    flights = gzip.decompress((HERE / "data" / "flights.csv.gz").read_bytes()).decode("ascii")
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        bad = test_failures(options, scratch, flights)
        bad += test_few_rows(options, scratch, flights)
        bad += test_no_rows(options, scratch, flights)
    print(f"{bad} wrong")
    return bad


def test_terminal(options):
    outcome = run(options)
    if outcome.returncode or outcome.stderr:
        return wrong("without a terminal it says something beside its answers", outcome)
    ours, its = pty.openpty()
    child = subprocess.Popen([options.program, "--device", options.device],
                             stdout=subprocess.DEVNULL, stderr=its)
    os.close(its)
    said = b""
    try:
        while part := os.read(ours, 4096):
            said += part
    except OSError:  # how a terminal ends whose other side is closed
        pass
    os.close(ours)
    if child.wait() or said.count(b"compiling the tasks") != 1 or b"the next run" not in said:
        return wrong(f"on a terminal it says {said!r}, exit code {child.returncode}")
    print("compiling is told on a terminal only")
    return 0


def main():
    parser = argparse.ArgumentParser(description="Tests the flights program.")
    parser.add_argument("program")
    parser.add_argument("--device", required=True)
    parser.add_argument("what", choices=("answers", "errors", "terminal"))
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--scale", type=int, default=1)
    parser.add_argument("--epoch", action="store_true")
    options = parser.parse_args()
    tests = {"answers": test_answers, "errors": test_errors, "terminal": test_terminal}
    return 1 if tests[options.what](options) else 0


if __name__ == "__main__":
    sys.exit(main())
