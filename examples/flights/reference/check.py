#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every answer byte for byte, computed again in plain Python with exact fractions.

  python3 check.py [--dir DIR] [--data DIR] [--scale N]

DIR holds the q*.tsv files of any program (default: the ones beside this script). The code follows
QUERIES.md and shares nothing with make_tsv.py. Exit status: 0 all agree, 1 something differs, is
missing, or is there but unknown.
"""
import argparse
import csv
import gzip
import math
import pathlib
import sys
from collections import defaultdict
from fractions import Fraction

HERE = pathlib.Path(__file__).resolve().parent
NUMBERS = {"month", "day", "sched_dep_time", "dep_delay", "arr_delay", "flight", "air_time",
           "distance", "year", "hour", "wind_knots"}


def read_table(path):
    with gzip.open(path, "rt", encoding="ascii", newline="") as stream:
        return [{key: None if text == "" else int(text) if key in NUMBERS else text
                 for key, text in row.items()} for row in csv.DictReader(stream)]


def two_decimals(value):
    """Rounds an exact fraction half away from zero; zero has no sign."""
    whole = math.floor(abs(value) * 100 + Fraction(1, 2))
    sign = "-" if value < 0 and whole else ""
    return f"{sign}{whole // 100}.{whole % 100:02d}"


def present(rows, column):
    return [row[column] for row in rows if row[column] is not None]


def mean(values):
    return two_decimals(Fraction(sum(values), len(values))) if values else None


def quantile(values, p):
    return sorted(values)[math.ceil(p * len(values)) - 1] if values else None


MEDIAN, P90 = Fraction(1, 2), Fraction(9, 10)


def groups(rows, *columns):
    """A sorted list of (key, rows of that key)."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in columns)].append(row)
    return sorted(found.items())


def total(rows, column):
    values = present(rows, column)
    return sum(values) if values else None


def date(row):
    return f"2013-{row['month']:02d}-{row['day']:02d}"


def cancelled(rows):
    return sum(row["dep_delay"] is None for row in rows)


def cancelled_percent(rows):
    return two_decimals(Fraction(100 * cancelled(rows), len(rows)))


def q01_filters(t):
    def line(name, keep):
        rows = [row for row in t["flights"] if keep(row)]
        return (name, len(rows), *(total(rows, column) for column in
                                   ("dep_delay", "arr_delay", "air_time", "distance")))
    yield ("filter", "flights", "sum_dep_delay", "sum_arr_delay", "sum_air_time", "sum_distance")
    yield line("long_late", lambda row: row["distance"] >= 1000 and row["arr_delay"] is not None
               and row["arr_delay"] >= 60)
    yield line("early_jfk", lambda row: row["origin"] == "JFK" and row["sched_dep_time"] < 800
               and row["dep_delay"] is not None and row["dep_delay"] <= 0)


def q02_carrier_delay(t):
    yield ("carrier", "flights", "arrived", "mean_arr_delay", "median_arr_delay", "p90_arr_delay")
    for (carrier,), rows in groups(t["flights"], "carrier"):
        delays = present(rows, "arr_delay")
        yield (carrier, len(rows), len(delays), mean(delays), quantile(delays, MEDIAN),
               quantile(delays, P90))


def q03_origin_month(t):
    yield "origin", "month", "flights", "departed", "mean_dep_delay"
    for key, rows in groups(t["flights"], "origin", "month"):
        delays = present(rows, "dep_delay")
        yield (*key, len(rows), len(delays), mean(delays))


def q04_airline_names(t):
    names = {row["carrier"]: row["name"] for row in t["airlines"]}
    yield "name", "flights", "cancelled", "cancelled_percent", "mean_dep_delay", "sum_distance"
    lines = [(names[carrier], len(rows), cancelled(rows), cancelled_percent(rows),
              mean(present(rows, "dep_delay")), total(rows, "distance"))
             for (carrier,), rows in groups(t["flights"], "carrier") if carrier in names]
    yield from sorted(lines, key=lambda line: (-line[1], line[0]))


def with_plane(t):
    planes = {row["tailnum"]: row for row in t["planes"]}
    return [row | {"plane": planes[row["tailnum"]]} for row in t["flights"]
            if row["tailnum"] in planes]


def q05_manufacturers(t):
    yield "manufacturer", "planes", "flights", "mean_arr_delay", "p90_arr_delay"
    makers = defaultdict(list)
    for row in with_plane(t):
        makers[row["plane"]["manufacturer"]].append(row)
    for maker, rows in sorted(makers.items(), key=lambda item: (-len(item[1]), item[0]))[:10]:
        delays = present(rows, "arr_delay")
        yield (maker, len({row["tailnum"] for row in rows}), len(rows), mean(delays),
               quantile(delays, P90))


def q06_plane_age(t):
    yield "age_from", "age_to", "flights", "mean_dep_delay", "mean_arr_delay"
    bands = defaultdict(list)
    for row in with_plane(t):
        if row["plane"]["year"] is not None:
            bands[(2013 - row["plane"]["year"]) // 5].append(row)
    for band, rows in sorted(bands.items()):
        yield (5 * band, 5 * band + 4, len(rows), mean(present(rows, "dep_delay")),
               mean(present(rows, "arr_delay")))


def q07_worst_flights(t):
    columns = ("sched_dep_time", "carrier", "flight", "tailnum", "origin", "dest", "dep_delay",
               "arr_delay")
    order = ("month", "day", "sched_dep_time", "carrier", "flight", "origin", "dest")
    yield ("date", *columns)
    rows = [row for row in t["flights"] if row["arr_delay"] is not None]
    rows.sort(key=lambda row: (-row["arr_delay"], *(row[name] for name in order)))
    for row in rows[:20]:
        yield (date(row), *(row[name] for name in columns))


def q08_days(t):
    yield "date", "flights", "cancelled", "mean_dep_delay"
    for _, rows in groups(t["flights"], "month", "day"):
        yield date(rows[0]), len(rows), cancelled(rows), mean(present(rows, "dep_delay"))


def with_weather(t):
    hours = {(row["origin"], row["month"], row["day"], row["hour"]): row for row in t["weather"]}
    assert len(hours) == len(t["weather"])
    for row in t["flights"]:
        yield row, hours.get((row["origin"], row["month"], row["day"],
                              row["sched_dep_time"] // 100))


def q09_visibility(t):
    yield "miles", "flights", "cancelled", "cancelled_percent", "mean_dep_delay", "p90_dep_delay"
    names = ("0-1", "1-3", "3-10", "10+", "none")
    bands = defaultdict(list)
    for row, hour in with_weather(t):
        if hour is None or hour["visib"] is None:
            bands[4].append(row)
        else:
            miles = Fraction(hour["visib"])
            bands[sum(miles >= bound for bound in (1, 3, 10))].append(row)
    for band, rows in sorted(bands.items()):
        delays = present(rows, "dep_delay")
        yield (names[band], len(rows), cancelled(rows), cancelled_percent(rows), mean(delays),
               quantile(delays, P90))


def q10_wind(t):
    yield "origin", "knots", "flights", "mean_dep_delay"
    names = ("0-4", "5-9", "10-14", "15-19", "20+", "none")
    bands = defaultdict(list)
    for row, hour in with_weather(t):
        known = hour is not None and hour["wind_knots"] is not None
        bands[row["origin"], min(hour["wind_knots"] // 5, 4) if known else 5].append(row)
    for (origin, band), rows in sorted(bands.items()):
        yield origin, names[band], len(rows), mean(present(rows, "dep_delay"))


def largest_sum(rows, *columns):
    """Of the groups of arrived flights, the one with the largest sum; ties: the smallest key."""
    arrived = [row for row in rows if row["arr_delay"] is not None]
    return min(groups(arrived, *columns), key=lambda item: (-total(item[1], "arr_delay"), item[0]))


def q11_busiest_routes(t):
    yield ("origin", "dest", "flights", "median_air_time", "p90_arr_delay", "worst_date",
           "worst_arrived", "worst_sum_arr_delay", "worst_mean_arr_delay")
    routes = sorted(groups(t["flights"], "origin", "dest"),
                    key=lambda item: (-len(item[1]), item[0]))
    for key, rows in routes[:10]:
        _, worst = largest_sum(rows, "month", "day")
        yield (*key, len(rows), quantile(present(rows, "air_time"), MEDIAN),
               quantile(present(rows, "arr_delay"), P90), date(worst[0]), len(worst),
               total(worst, "arr_delay"), mean(present(worst, "arr_delay")))


def q12_tail_numbers(t):
    yield "tail_numbers", "in_planes", "flights_with", "flights_without"
    known = present(t["flights"], "tailnum")
    planes = {row["tailnum"] for row in t["planes"]}
    yield len(set(known)), len(set(known) & planes), len(known), len(t["flights"]) - len(known)


def q13_busiest_planes(t):
    yield "tailnum", "manufacturer", "year", "flights", "destinations", "sum_distance"
    planes = {row["tailnum"]: row for row in t["planes"]}
    rows = [row for row in t["flights"] if row["tailnum"] is not None]
    order = sorted(groups(rows, "tailnum"), key=lambda item: (-len(item[1]), item[0]))
    for (tailnum,), own in order[:20]:
        plane = planes.get(tailnum, {"manufacturer": None, "year": None})
        yield (tailnum, plane["manufacturer"], plane["year"], len(own),
               len({row["dest"] for row in own}), total(own, "distance"))


def q14_drill_down(t):
    yield "level", "worst", "arrived", "sum_arr_delay", "mean_arr_delay"
    rows = t["flights"]
    for level in ("month", "day", "origin", "carrier", "flight"):
        (worst,), rows = largest_sum(rows, level)
        delays = present(rows, "arr_delay")
        yield level, worst, len(delays), sum(delays), mean(delays)


QUERIES = (q01_filters, q02_carrier_delay, q03_origin_month, q04_airline_names, q05_manufacturers,
           q06_plane_age, q07_worst_flights, q08_days, q09_visibility, q10_wind,
           q11_busiest_routes, q12_tail_numbers, q13_busiest_planes, q14_drill_down)


def tsv(lines):
    return "".join("\t".join("" if value is None else str(value) for value in line) + "\n"
                   for line in lines).encode("ascii")


def compare(path, expected):
    """One word and, where the bytes differ, the first line that does."""
    if not path.exists():
        return "MISSING"
    found = path.read_bytes()
    if found == expected:
        return f"agrees ({expected.count(10) - 1} rows)"
    ours, theirs = expected.split(b"\n"), found.split(b"\n")
    at = next((i for i, (a, b) in enumerate(zip(ours, theirs)) if a != b),
              min(len(ours), len(theirs)))
    show = [lines[at].decode("utf-8", "replace") if at < len(lines) else "(end of file)"
            for lines in (ours, theirs)]
    return f"DIFFERS at line {at + 1}\n  expected: {show[0]}\n  found:    {show[1]}"


def main():
    parser = argparse.ArgumentParser(description="Checks the flights answers.")
    parser.add_argument("--dir", type=pathlib.Path, default=HERE, help="where the q*.tsv are")
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "data")
    parser.add_argument("--scale", type=int, default=1)
    options = parser.parse_args()
    tables = {name: read_table(options.data / f"{name}.csv.gz")
              for name in ("flights", "airlines", "planes", "weather")}
    tables["flights"] = tables["flights"] * options.scale
    bad = 0
    for query in QUERIES:
        outcome = compare(options.dir / f"{query.__name__}.tsv", tsv(query(tables)))
        bad += not outcome.startswith("agrees")
        print(f"{query.__name__}: {outcome}")
    known = {f"{query.__name__}.tsv" for query in QUERIES}
    for path in sorted(options.dir.glob("*.tsv")):
        if path.name not in known:
            bad += 1
            print(f"{path.name}: UNKNOWN")
    print(f"{len(QUERIES)} queries, {bad} wrong")
    return 1 if bad or options.scale < 1 else 0


if __name__ == "__main__":
    sys.exit(main())
