# SPDX-License-Identifier: Apache-2.0
"""Workers leave a launch together: whoever begins a segment without end is not left alone with what
stands behind it.

Mirrors rdl_worker_comes, rdl_meet, rdl_all_are_here, rdl_go_back and rdl_leave. Workers come at any
time; A and B may take the one root whose segment lasts, as long as they have not arrived, and A
may go back once.
"""

from explore import Model, cas, choose, exchange, fetch_add, load, main, store

SCENARIOS = ("two", "three")
FAULTS = {
    "does not look whether others left": ("two", "it comes late, and begins a segment"),
    "looks before it counts itself": ("two", "the other leaves between the look and the count"),
    "closes whoever has come": ("two", "it came before that, and was not seen"),
    "goes back uncounted": ("three", "the others take it for one that has arrived"),
    "goes back when all are here": ("three", "one of the others has left already"),
}

CLOSED = 1000


def rdl_go_back(fault):
    """True when the worker has taken itself back."""
    arrived = yield load("arrived")
    if fault == "goes back uncounted":
        return True
    while True:
        come = yield load("registered")
        if (come >= CLOSED or arrived >= come) and fault != "goes back when all are here":
            return False
        seen = yield cas("arrived", arrived, arrived - 1)
        if seen == arrived:
            return True
        arrived = seen


def rdl_all_are_here(fault):
    come = yield load("registered")
    if come >= CLOSED:
        return True
    arrived = yield load("arrived")
    if arrived < come:
        return False
    if fault == "closes whoever has come":
        yield fetch_add("registered", CLOSED)
        return True
    seen = yield cas("registered", come, come + CLOSED)
    return seen == come


def rdl_meet(patience, fault):
    """False when the worker goes on, which it may once."""
    yield fetch_add("arrived", 1)
    while True:
        here = yield from rdl_all_are_here(fault)
        if here:
            return True
        patient = yield choose(*patience)
        if not patient:
            back = yield from rdl_go_back(fault)
            if back:
                return False


def worker(name, fault):
    if fault == "looks before it counts itself":
        come = yield load("registered")
        yield fetch_add("registered", 1)
    else:
        come = yield fetch_add("registered", 1)
    if come >= CLOSED and fault != "does not look whether others left":
        yield fetch_add("arrived", 1)
        yield store("left." + name, 1)
        return
    patience = (True, False) if name == "A" else (True,)
    while True:
        takes = yield choose(*((True, False) if name != "C" else (False,)))
        if takes:
            root = yield exchange("root", 0)
            if root:
                yield store("held", name)
                yield store("held", "")
        leaves = yield from rdl_meet(patience, fault)
        patience = (True,)
        if leaves:
            yield store("left." + name, 1)
            return


def build(scenario, fault):
    names = {"two": ("A", "B"), "three": ("A", "B", "C")}[scenario]
    words = {"registered": 0, "arrived": 0, "root": 1, "held": ""}
    words.update({"left." + name: 0 for name in names})

    def nobody_is_left_alone(memory):
        holder = memory["held"]
        if holder and all(memory["left." + name] for name in names if name != holder):
            return holder + " is held, and all others have left"
        return None

    threads = {name: (lambda name=name: worker(name, fault)) for name in names}
    return Model(words, threads, nobody_is_left_alone)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
