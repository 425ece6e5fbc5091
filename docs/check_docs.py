#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_docs.py words SOURCE
check_docs.py files SOURCE
check_docs.py blocks SOURCE WORK LOADER DEVICE

`words`: every word that kernels/words.cl has for users stands in docs/tasks.md, and every word that
stands there exists. `files`: every file and folder that a document names exists. `blocks`: every
code block of docs/tasks.md that begins as a task file compiles on DEVICE.
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
        sys.exit(f"check_docs.py excuses words that are gone: {sorted(unknown)}")
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


# In documents: what stands for files of a user, or for some file of a kind, and what a build or an
# installation makes.
EXCUSED = {"file.task.c", ".task.c", "raddle/", "qNN_name.tsv"}
MADE = ("build/", "bin/", "PREFIX/")
SUFFIXES = (".c", ".cl", ".cmake", ".cpp", ".def", ".gz", ".h", ".md", ".py", ".sh", ".tsv", ".txt")


def tree(source):
    """All files and folders, without what is built."""
    paths = [p.relative_to(source) for p in source.rglob("*")]
    return [p for p in paths if p.parts[0] not in ("build", ".git")]


def named_files(text):
    """Words between backquotes that look like paths; capitals in them stand for any name."""
    words = {word for span in re.findall(r"`([^`\n]+)`", text) for word in span.split()}
    return {re.sub(r"\b[A-Z]{3,}\b(?=/|\.txt)", "*", word) for word in words
            if re.fullmatch(r"[\w.*][\w.*/-]*", word) and ("/" in word or word.endswith(SUFFIXES))
            and not word.startswith(MADE)}


def check_files(source):
    paths = tree(source)
    seen, bad = set(), 0
    for document in (p for p in paths if p.suffix == ".md"):
        text = (source / document).read_text()
        links = {link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link}
        gone = {link for link in links if not (source / document.parent / link).exists()}
        named = named_files(text)
        gone |= {name for name in named - EXCUSED if not any(p.match(name) for p in paths)}
        for name in sorted(gone):
            print(f"{document} speaks of {name}, which does not exist")
        seen |= links | named
        bad += len(gone)
    unknown = EXCUSED - seen
    if unknown:
        sys.exit(f"check_docs.py excuses files that are not named: {sorted(unknown)}")
    print(f"{len(seen)} files and folders named, {bad} of them not there")
    return 1 if bad or len(seen) < 80 else 0


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
    if sys.argv[1] == "files":
        sys.exit(check_files(root))
    sys.exit(check_blocks(root, pathlib.Path(sys.argv[3]), sys.argv[4], sys.argv[5]))
