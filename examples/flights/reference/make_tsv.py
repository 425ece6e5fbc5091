#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the answers of QUERIES.md with DuckDB: gzipped CSV in, one TSV a query out.

  python3 make_tsv.py --out DIR [--data DIR] [--scale N] [--threads N] [--time]

--time prints the wall-clock seconds from opening an empty DuckDB, before the first read of a CSV
file, to the last table written. The start of Python and the import of DuckDB are not in it.
"""
import argparse
import pathlib
import sys
import time

import duckdb

HERE = pathlib.Path(__file__).resolve().parent


def statements(path):
    return [statement.query for statement in duckdb.extract_statements(path.read_text("utf-8"))]


def load(connection, data, scale):
    """Fills in the file names of sql/load.sql and runs it."""
    names = {table: repr(str(data / f"{table}.csv.gz"))
             for table in ("airlines", "planes", "weather")}
    names["flights"] = "[" + ", ".join([repr(str(data / "flights.csv.gz"))] * scale) + "]"
    for statement in statements(HERE / "sql" / "load.sql"):
        for table, name in names.items():
            statement = statement.replace("$" + table, name)
        connection.execute(statement)


def write_table(cursor, path):
    lines = ["\t".join(column[0] for column in cursor.description)]
    for row in cursor.fetchall():
        lines.append("\t".join("" if value is None else str(value) for value in row))
    path.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")


def main():
    parser = argparse.ArgumentParser(description="Computes the flights answers with DuckDB.")
    parser.add_argument("--data", type=pathlib.Path, default=HERE.parent / "data")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--scale", type=int, default=1, help="how often the flights are repeated")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--time", action="store_true")
    options = parser.parse_args()
    if options.scale < 1 or options.threads < 1:
        parser.error("--scale and --threads must be at least 1")
    options.out.mkdir(parents=True, exist_ok=True)

    start = time.perf_counter()
    # The order of rows never matters, so DuckDB is free to read without keeping it (faster).
    connection = duckdb.connect(
        config={"threads": options.threads, "preserve_insertion_order": False})
    load(connection, options.data, options.scale)
    loaded = time.perf_counter()
    for path in sorted((HERE / "sql").glob("q*.sql")):
        (query,) = statements(path)
        write_table(connection.execute(query), options.out / f"{path.stem}.tsv")
    end = time.perf_counter()
    if options.time:
        print(f"load_s {loaded - start:.3f} queries_s {end - loaded:.3f} total_s {end - start:.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
