#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inlined_size_test.py RADDLE_TASKS MOST FILE...: drivers on which every function is copied to
where it is called (Mesa's) take minutes for a kernel that has many such places, for their time
grows with the square of its size. So the instructions of an image that is compiled like that, of
LLVM, are at most MOST. Skips where there is no clang."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
COMPILE = ["-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header", "-target", "spir64",
           "-w", "-O1", "-S", "-emit-llvm"]


def inlined(text):
    """The same image, in which nothing but the kernel stays a function."""
    text, count = re.subn(r"^#define (RDL_FN|RDL_OUTLINE) +static$",
                          r"#define \1 static __attribute__((always_inline))", text,
                          flags=re.MULTILINE)
    if count < 2:
        sys.exit("the dialect's RDL_FN and RDL_OUTLINE were not found")
    return text


def instructions_of(assembly):
    kernel = re.search(r"^define[^\n]*@rdl_launch\(.*?^}", assembly, re.MULTILINE | re.DOTALL)
    if not kernel:
        sys.exit("the kernel was not found")
    if re.search(r"^define internal", assembly, re.MULTILINE):
        sys.exit("a function was not inlined")
    return len(re.findall(r"^  \S", kernel.group(), re.MULTILINE))


def main():
    tasks, most, files = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    if not shutil.which("clang"):
        print("the compiler clang is not installed")
        return SKIPPED
    with tempfile.TemporaryDirectory(prefix="raddle-size-") as folder:
        image = os.path.join(folder, "image.cl")
        assembly = os.path.join(folder, "image.ll")
        subprocess.run([tasks, "--plain", "image", image] + files, check=True)
        with open(image, encoding="utf-8") as file:
            text = inlined(file.read())
        with open(image, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run(["clang"] + COMPILE + [image, "-o", assembly], check=True)
        with open(assembly, encoding="utf-8") as file:
            count = instructions_of(file.read())
    print("%d instructions, at most %d" % (count, most))
    return 0 if count <= most else 1


if __name__ == "__main__":
    sys.exit(main())
