#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_tasks.py words SOURCE, or check_tasks.py blocks SOURCE WORK LOADER DEVICE

`words`: every word that kernels/words.cl has for users stands in docs/tasks.md, and every word that
stands there exists. `blocks`: every code block that begins as a task file compiles on DEVICE.
"""
import pathlib
import re
import subprocess
import sys

MARK = "/* a task file */\n"

# Macros of words.cl that only Raddle's own text uses. All others are for users.
INTERNAL = {"RDL_WORDS", "RDL_CLASS_OF", "RDL_RESULT_CLASS", "RDL_FRAME_BYTES", "RDL_RUNNER", "RDL_INFO",
            "RDL_LANES_RUNNER", "RDL_LANES_INFO"}
LANES = r"rdl_(?:lane|lanes|sync|ballot|(?:broadcast|reduce|scan|atomic)_\w+)"


def user_words(source):
    words = (source / "kernels/words.cl").read_text()
    dialect = (source / "kernels/dialect.h").read_text()
    macros = set(re.findall(r"^#define (RDL_[A-Z_]*[A-Z])\b", words, re.M))
    unknown = INTERNAL - macros
    if unknown:
        sys.exit(f"check_tasks.py excuses words that are gone: {sorted(unknown)}")
    functions = set(re.findall(rf"^RDL_FN \w+ ({LANES})\(", words, re.M))
    mathematics = set(re.findall(r"^RDL_FN float (rdl_\w+)\(", dialect, re.M))
    return macros - INTERNAL | functions | mathematics


def check_words(source):
    document = (source / "docs/tasks.md").read_text()
    written = set(re.findall(r"\b(?:RDL|rdl)_\w+\b", document))
    users = user_words(source)
    missing = sorted(users - written)
    text = "".join(p.read_text() for folder in ("kernels", "api/include/raddle")
                   for p in sorted((source / folder).glob("*.[ch]*")))
    # The host's names of statuses come from a list, without their prefix.
    exists = set(re.findall(r"\w+", text)) | {f"RDL_{w}" for w in re.findall(r"X\((\w+),", text)}
    made_up = sorted(w for w in written if w not in exists and w != "rdl_" and w != "RDL_")
    for word in missing:
        print(f"kernels/words.cl has {word}, and docs/tasks.md does not explain it")
    for word in made_up:
        print(f"docs/tasks.md speaks of {word}, which does not exist")
    print(f"{len(users)} words for users, {len(missing)} missing, {len(made_up)} made up")
    return 1 if missing or made_up or len(users) < 60 else 0


def check_blocks(source, work, loader, device):
    document = (source / "docs/tasks.md").read_text()
    blocks = [b for b in re.findall(r"^```c\n(.*?)^```$", document, re.M | re.S) if b.startswith(MARK)]
    work.mkdir(parents=True, exist_ok=True)
    files = []
    for number, block in enumerate(blocks, 1):
        files.append(work / f"block{number}.task.c")
        files[-1].write_text(block)
    print(f"{len(files)} task files")
    return subprocess.run([loader, device, *files]).returncode if files else 1


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "words":
        sys.exit(check_words(root))
    sys.exit(check_blocks(root, pathlib.Path(sys.argv[3]), sys.argv[4], sys.argv[5]))
