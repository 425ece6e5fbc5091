# SPDX-License-Identifier: Apache-2.0
"""The engine itself, on problems whose answers are known."""

from explore import Model, cas, choose, fetch_add, late, load, main, store, until

SCENARIOS = ("flags", "count", "handover")
FAULTS = {
    "flags in a store buffer": ("flags", "each reads the other's flag before its own is seen"),
    "flags read first": ("flags", "the two loads come before the two stores"),
    "count by load and store": ("count", "one of two additions is lost"),
    "waits for nothing": ("handover", "a thread that can never go on is noticed"),
    "turns for ever": ("handover", "threads that keep each other busy are noticed"),
    "one choice is wrong": ("handover", "what is left to chance is tried both ways"),
}


def flags(fault):
    """Each of two threads raises a flag and looks at the other's: one of them must see one."""
    def raises(mine, other, seen):
        def thread():
            if fault == "flags read first":
                value = yield load(other)
                yield store(mine, 1)
            elif fault == "flags in a store buffer":
                yield late(store(mine, 1))
                value = yield load(other)
            else:
                yield store(mine, 1)
                value = yield load(other)
            yield store(seen, value)
        return thread

    def final(memory, stuck):
        return None if memory["seen a"] or memory["seen b"] else "neither sees the other's flag"

    return Model({"a": 0, "b": 0, "seen a": 0, "seen b": 0},
                 {"a": raises("a", "b", "seen a"), "b": raises("b", "a", "seen b")}, None, final)


def count(fault):
    def adds():
        if fault:
            value = yield load("n")
            yield store("n", value + 1)
        else:
            yield fetch_add("n", 1)

    def final(memory, stuck):
        return None if memory["n"] == 2 else "counted %d" % memory["n"]

    return Model({"n": 0}, {"one": adds, "two": adds}, None, final)


def handover(fault):
    def gives():
        good = yield choose(True, fault != "one choice is wrong")
        if good and fault != "waits for nothing":
            yield store("word", 1)

    def takes():
        if fault == "turns for ever":
            while True:
                yield cas("word", 1, 0)
                yield cas("word", 0, 1)
        yield until(lambda memory: memory["word"])

    return Model({"word": 0}, {"gives": gives, "takes": takes})


def build(scenario, fault):
    return {"flags": flags, "count": count, "handover": handover}[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
