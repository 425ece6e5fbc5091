#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_docs.py words SOURCE
check_docs.py files SOURCE
check_docs.py environment SOURCE
check_docs.py blocks SOURCE WORK LOADER DEVICE
check_docs.py programs SOURCE WORK LOADER DEVICE CC LIBRARY TASKS

`words`: every word that kernels/words.cl has for users stands in docs/tasks.md, and every word that
stands there exists. `files`: every file and folder that a document names exists. `environment`:
docs/environment.md lists the variables that the code reads, and no other of ours. `blocks`: every
code block of docs/tasks.md that begins as a task file compiles on DEVICE. `programs`: the programs of
docs/programs.md, and the one of README.md, are compiled by CC with the LIBRARY of that folder, run on
DEVICE, and print what the document says. TASKS compiles the task files ahead for those that want it.
"""
import os
import pathlib
import re
import subprocess
import sys
import textwrap

MARK = "/* a task file */\n"

# Macros of words.cl that only Raddle's own text uses. All others are for users.
INTERNAL = {"RDL_WORDS", "RDL_CLASS_OF", "RDL_RESULT_CLASS", "RDL_FRAME_BYTES", "RDL_RUNNER", "RDL_INFO",
            "RDL_LANES_RUNNER", "RDL_LANES_INFO", "RDL_ALONE_RUNNER", "RDL_PACKS", "RDL_ALONE_INFO", "RDL_STAGE"}
LANES = r"rdl_(?:lane|lanes|sync|ballot|ballot_from|(?:broadcast|reduce|scan|atomic)_\w+)"


def user_words(source):
    words = (source / "kernels/words.cl").read_text()
    dialect = (source / "kernels/dialect.h").read_text()
    macros = set(re.findall(r"^#define (RDL_[A-Z_]*[A-Z])\b", words, re.M))
    unknown = INTERNAL - macros
    if unknown:
        sys.exit(f"check_docs.py excuses words that are gone: {sorted(unknown)}")
    functions = set(re.findall(rf"^(?:RDL_FN \w+|#define) ({LANES})\(", words + dialect, re.M))
    functions = {name for name in functions if not name.endswith("_of")}
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


def check_environment(source):
    rows = re.findall(r"^\| (`.*?) \|", (source / "docs/environment.md").read_text(), re.M)
    listed = set(re.findall(r"\w+", " ".join(rows)))
    texts = {p: (source / p).read_text() for p in tree(source) if p.suffix == ".c"}
    code = "".join(texts.values())
    library = "".join(text for p, text in texts.items()
                      if p.parts[0] in ("api", "backends") and "tests" not in p.parts)
    read = set(re.findall(r'"(RADDLE_[A-Z_]+)"', code)) | set(re.findall(r'getenv\("(\w+)"\)', library))
    missing = sorted(read - listed)
    made_up = sorted(name for name in listed if f'"{name}"' not in code)
    for name in missing:
        print(f"{name} is read, and docs/environment.md does not list it")
    for name in made_up:
        print(f"docs/environment.md lists {name}, which nothing reads")
    print(f"{len(listed)} variables")
    return 1 if missing or made_up or len(read) < 8 else 0


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


def programs_of(source):
    """(name, {file: text}, what it prints) of each program in the documents."""
    readme = (source / "README.md").read_text()
    files = {name: textwrap.dedent(text) for name, text in
             re.findall(r"^`(\S+\.c)`, .*\n(?:\S.*\n)*\n((?: {4}.*\n|\n)+)", readme, re.M)}
    yield "main", files, "fib(20) = 6765\n"
    document = (source / "docs/programs.md").read_text()
    files = {}
    for kind, text in re.findall(r"^```(c|text)\n(.*?)^```$", document, re.M | re.S):
        if kind == "c":
            name = re.match(r"/\* (\S+) \*/\n", text)[1]
            files[name] = text
        else:
            yield name.removesuffix(".c"), files, text
            files = {}


# As in cmake/RaddleTasks.cmake.
AHEAD = ["-fno-strict-aliasing", "-Wno-pedantic", "-Wno-unused-function"]


def compiled_ahead(name, files, folder, compiler, include, tasks):
    """The object file of the program's tasks, where it wants one."""
    wanted = re.search(r"extern const rdl_prebuilt rdl_prebuilt_(\w+);", files[name + ".c"])
    if not wanted:
        return []
    subprocess.run([tasks, wanted[1], "tasks.c", *(f for f in files if f.endswith(".task.c"))],
                   cwd=folder, check=True)
    subprocess.run([compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", *AHEAD, include, "-c",
                    "tasks.c"], cwd=folder, check=True)
    return ["tasks.o"]


def opencl_of(name, files):
    """What a program that uses OpenCL itself is linked with: the loader, by the name that is there
    also where nothing to link with was installed."""
    return ["-l:libOpenCL.so.1"] if "#include <CL/cl.h>" in files[name + ".c"] else []


def check_programs(source, work, loader, device, compiler, library, tasks):
    count = bad = 0
    for name, files, wanted in programs_of(source):
        opencl = opencl_of(name, files)
        if opencl and not device.startswith("opencl"):
            continue
        folder = work / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / file).write_text(text)
        code = subprocess.run([loader, device, *(f for f in files if f.endswith(".task.c"))],
                              cwd=folder).returncode
        if code:
            return code
        include = f"-I{source}/api/include"
        ahead = compiled_ahead(name, files, folder, compiler, include, tasks)
        subprocess.run([compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", name + ".c", *ahead, "-o",
                        name, include, f"-L{library}", f"-Wl,-rpath,{library}", "-lraddle", "-pthread",
                        "-ldl", "-lm", *opencl], cwd=folder, check=True)
        environment = {**os.environ, "RADDLE_DEVICE": device}
        if ahead and device == "host":  # neither a compiler nor what it made before
            environment |= {"RADDLE_CC": "/nonexistent", "XDG_CACHE_HOME": str(folder / "empty")}
        done = subprocess.run([folder / name], cwd=folder, env=environment, capture_output=True,
                              text=True)
        count += 1
        if done.returncode or done.stdout != wanted:
            bad += 1
            print(f"{name} printed {done.stdout!r} {done.stderr!r}, not {wanted!r}")
    print(f"{count} programs, {bad} wrong")
    return 1 if bad or count < (6 if device.startswith("opencl") else 5) else 0


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "words":
        sys.exit(check_words(root))
    if sys.argv[1] == "files":
        sys.exit(check_files(root))
    if sys.argv[1] == "environment":
        sys.exit(check_environment(root))
    check = {"blocks": check_blocks, "programs": check_programs}[sys.argv[1]]
    sys.exit(check(root, pathlib.Path(sys.argv[3]), *sys.argv[4:]))
