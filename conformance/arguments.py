# SPDX-License-Identifier: Apache-2.0
"""Lists every parameter of every public function, for the case HST-3.arguments.

usage: arguments.py OUTPUT HEADER...

Writes one C string a parameter, "function.parameter", and "function." for a function without any.
The case fails for every line that it does not try, so a new function cannot be forgotten.
"""
import pathlib
import re
import sys


def declarations(text):
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#.*?(?<!\\)$", " ", text, flags=re.M | re.S)
    for match in re.finditer(r"\bRDL_API\b([^;{]*);", text):
        yield " ".join(match.group(1).split())


def parameters(declaration):
    match = re.match(r".*?\b(rdl_\w+)\s*\((.*)\)$", declaration)
    if not match:
        sys.exit(f"arguments.py: cannot read the declaration: {declaration}")
    name, inside = match.groups()
    if inside.strip() == "void":
        return [f"{name}."]
    return [name + "." + re.search(r"(\w+)$", part.strip()).group(1) for part in inside.split(",")]


def main():
    output, headers = pathlib.Path(sys.argv[1]), sys.argv[2:]
    lines = []
    for header in headers:
        for declaration in declarations(pathlib.Path(header).read_text(encoding="utf-8")):
            lines += parameters(declaration)
    if len(lines) < 50:
        sys.exit("arguments.py: found suspiciously few parameters; has RDL_API changed?")
    output.write_text("".join(f'"{line}",\n' for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
