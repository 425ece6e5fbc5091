# SPDX-License-Identifier: Apache-2.0
"""Exhausts the interleavings of a small model and reports the shortest way to a violation.

A thread of a model is a generator. Every `yield` hands the engine ONE atomic operation on shared
words and receives its result; what stands between two yields is private to the thread. So a
thread reads like the code it mirrors, and the engine decides who takes the next step.

The engine visits every reachable state once, breadth first. The private state of a generator is
where it stands and the values of its local variables, in its own frame and in those it delegates
to. This is complete under two rules, which keep nothing of value outside local variables:
a statement holds at most one `yield`, and a loop that yields is a `while`, or a `for` over
distinct values. All values are immutable.

Memory is sequentially consistent. `late(op)` is the exception: it puts an operation into the
thread's store buffer, from where it reaches memory at some later time; loads overtake it, and
every other operation of the thread waits for it.
"""

import argparse
import sys
import time
from collections import deque


# ---- operations ----

def load(word):
    return ("load", word)


def store(word, value):
    return ("store", word, value)


def cas(word, expected, value):
    """Returns what stood there; the store happened when that equals `expected`."""
    return ("cas", word, expected, value)


def exchange(word, value):
    return ("exchange", word, value)


def fetch_add(word, n):
    return ("add", word, n)


def fetch_or(word, bits):
    return ("or", word, bits)


def fetch_and(word, bits):
    return ("and", word, bits)


def fetch_min(word, n):
    return ("min", word, n)


def atomic(function, *args):
    """One step that `function(memory, *args)` describes, for what is private to its caller or shown
    to be atomic by another model."""
    return ("atomic", function, args)


def until(function, *args):
    """As atomic, but not before `function(memory, *args)` gives something true: it must change
    nothing when it gives something false."""
    return ("until", function, args)


def choose(*values):
    """Any of the values: what the model leaves to chance."""
    return ("choose", values)


def late(operation):
    return ("late", operation)


def fail(text):
    return ("fail", text)


SIMPLE = {
    "load": lambda old: old,
    "store": lambda old, value: value,
    "cas": lambda old, expected, value: value if old == expected else old,
    "exchange": lambda old, value: value,
    "add": lambda old, n: old + n,
    "or": lambda old, bits: old | bits,
    "and": lambda old, bits: old & bits,
    "min": min,
}


# ---- models ----

class Model:
    """Words by name, threads by name, and what must hold. `invariant` is asked in every state,
    `final` in every state in which no thread can go on; `stuck` names the threads not at their
    end. Both return a text when something is wrong."""

    def __init__(self, words, threads, invariant=None, final=None):
        self.words = words
        self.threads = threads
        self.invariant = invariant or (lambda memory: None)
        self.final = final or nobody_stuck


def nobody_stuck(memory, stuck):
    return "waits for ever: " + ", ".join(stuck) if stuck else None


def nobody_stuck_but(*may):
    """For threads that wait for something that need not come."""
    return lambda memory, stuck: nobody_stuck(memory, [name for name in stuck if name not in may])


class Memory:
    """The words of one state, by name."""

    def __init__(self, index, values):
        self.index = index
        self.values = list(values)

    def __getitem__(self, name):
        return self.values[self.index[name]]

    def __setitem__(self, name, value):
        self.values[self.index[name]] = value

    def __contains__(self, name):
        return name in self.index


def same(one, other):
    """Whether two operations are equal; functions are, when they come from one piece of text."""
    if one is None or other is None:
        return one is other
    return one == other or (one[0] in ("atomic", "until") and one[0] == other[0]
                            and one[1].__code__ is other[1].__code__ and one[2:] == other[2:])


class Thread:
    """A generator as an automaton, built as far as the search needs it. `ops[k]` is what it does
    in local state k; `ways[k]` the results that lead there from its start."""

    def __init__(self, start):
        self.start = start
        self.known = {}
        self.ops = []
        self.ways = []
        self.next = {}
        self.enter(())

    def enter(self, way):
        generator = self.start()
        op = None
        try:
            op = next(generator)
            for result in way:
                op = generator.send(result)
        except StopIteration:
            op = None
        key = self.key_of(generator) if op else None
        if key not in self.known:
            self.known[key] = len(self.ops)
            self.ops.append(op)
            self.ways.append(way)
        elif not same(self.ops[self.known[key]], op):
            raise AssertionError("a thread keeps state outside its local variables")
        return self.known[key]

    @staticmethod
    def key_of(generator):
        frames = []
        while generator is not None:
            frame = generator.gi_frame
            frames.append((frame.f_code, frame.f_lasti, tuple(sorted(frame.f_locals.items()))))
            generator = generator.gi_yieldfrom
        return tuple(frames)

    def after(self, local, result):
        step = (local, result)
        if step not in self.next:
            self.next[step] = self.enter(self.ways[local] + (result,))
        return self.next[step]


# ---- the search ----

class Violation(Exception):
    pass


class Search:
    def __init__(self, model):
        self.model = model
        self.names = list(model.threads)
        self.index = {name: k for k, name in enumerate(model.words)}
        self.threads = [Thread(start) for start in model.threads.values()]
        self.came = {}
        self.back = {}

    def perform(self, values, op):
        """(new values, result), or None when the operation must wait."""
        kind = op[0]
        if kind in SIMPLE:
            at = self.index[op[1]]
            old = values[at]
            new = SIMPLE[kind](old, *op[2:])
            if new != old:
                values = values[:at] + (new,) + values[at + 1:]
            return values, None if kind == "store" else old
        if kind == "fail":
            raise Violation(op[1])
        memory = Memory(self.index, values)
        result = op[1](memory, *op[2])
        if kind == "until" and not result:
            return None
        return tuple(memory.values), result

    def steps(self, state):
        values, locals_, buffers = state
        for k, thread in enumerate(self.threads):
            if buffers[k]:
                op = buffers[k][0]
                rest = buffers[:k] + (buffers[k][1:],) + buffers[k + 1:]
                after = (self.perform(values, op)[0], locals_, rest)
                yield (k, ("reaches memory",) + op, None), after
            op = thread.ops[locals_[k]]
            if op is None:
                continue
            if op[0] == "choose":
                for value in op[1]:
                    local = thread.after(locals_[k], value)
                    there = locals_[:k] + (local,) + locals_[k + 1:]
                    yield (k, op, value), (values, there, buffers)
                continue
            if op[0] == "late":
                after, result = values, None
                left = buffers[:k] + (buffers[k] + (op[1],),) + buffers[k + 1:]
            else:
                if buffers[k] and not self.overtakes(op, buffers[k]):
                    continue
                try:
                    done = self.perform(values, op)
                except Violation as what:
                    yield (k, op, str(what)), None
                    continue
                if done is None:
                    continue
                after, result = done
                left = buffers
            local = thread.after(locals_[k], result)
            yield (k, op, result), (after, locals_[:k] + (local,) + locals_[k + 1:], left)

    @staticmethod
    def overtakes(op, buffer):
        return op[0] == "load" and all(op[1] != waiting[1] for waiting in buffer)

    def wrong_at(self, state, is_end):
        memory = Memory(self.index, state[0])
        wrong = self.model.invariant(memory)
        if wrong or not is_end:
            return wrong
        stuck = [name for k, name in enumerate(self.names)
                 if self.threads[k].ops[state[1][k]] is not None]
        return self.model.final(memory, stuck)

    def run(self, limit=2000000):
        """None, or (text, trace)."""
        first = (tuple(self.model.words.values()), tuple(0 for _ in self.threads),
                 tuple(() for _ in self.threads))
        self.came[first] = None
        queue = deque([first])
        ends = []
        while queue:
            state = queue.popleft()
            is_end = True
            for step, after in self.steps(state):
                is_end = False
                if after is None:
                    return step[2], self.trace(state) + [step]
                self.back.setdefault(after, []).append(state)
                if after not in self.came:
                    self.came[after] = (state, step)
                    queue.append(after)
            wrong = self.wrong_at(state, is_end)
            if wrong:
                return wrong, self.trace(state)
            if is_end:
                ends.append(state)
            if len(self.came) > limit:
                raise SystemExit("more than %d states: make the model smaller" % limit)
        return self.never_ends(ends)

    def never_ends(self, ends):
        """From every state some end must be reachable, else threads can keep each other busy."""
        reached = set(ends)
        queue = deque(ends)
        while queue:
            for before in self.back.get(queue.popleft(), ()):
                if before not in reached:
                    reached.add(before)
                    queue.append(before)
        for state in self.came:
            if state not in reached:
                return "no end can be reached from here", self.trace(state)
        return None

    def trace(self, state):
        steps = []
        while self.came[state]:
            state, step = self.came[state]
            steps.append(step)
        return steps[::-1]

    def say(self, step):
        k, op, result = step
        if op[0] in ("atomic", "until"):
            text = op[1].__name__ + repr(op[2])
        elif op[0] == "fail":
            text = "finds the fault"
        else:
            flat = [part for part in op if not isinstance(part, tuple)]
            flat += [repr(part) for part in op if isinstance(part, tuple)]
            text = " ".join(str(part) for part in flat)
        return "  %-10s %s -> %s" % (self.names[k], text, result)


# ---- the program of every model file ----

def examine(build, scenario, fault, out):
    """Searches one model. Returns (text or None, states)."""
    search = Search(build(scenario, fault))
    found = search.run()
    if found and out:
        print("  %s" % found[0], file=out)
        for step in found[1]:
            print(search.say(step), file=out)
    return (found[0] if found else None), len(search.came)


def main(build, scenarios, faults):
    """`build(scenario, fault)` gives a Model, with fault None for the protocol as it should be.
    `scenarios` are names; `faults` maps a name to (scenario, what is done wrong). The correct
    protocol must hold in every scenario, and every fault must be found."""
    parser = argparse.ArgumentParser(description=sys.modules["__main__"].__doc__)
    parser.add_argument("--scenario", choices=scenarios, help="this scenario only")
    parser.add_argument("--fault", choices=sorted(faults), help="show how this fault goes wrong")
    asked = parser.parse_args()
    if asked.fault:
        found, _ = examine(build, faults[asked.fault][0], asked.fault, sys.stdout)
        sys.exit(0 if found else "this fault was not found")
    good = True
    for scenario in [asked.scenario] if asked.scenario else scenarios:
        start = time.monotonic()
        found, states = examine(build, scenario, None, sys.stdout)
        good = good and not found
        print("%-24s %8d states %6.2f s  %s" % (scenario, states, time.monotonic() - start,
                                                 "VIOLATED" if found else "holds"))
    for name, (scenario, _) in sorted(faults.items()):
        if asked.scenario and asked.scenario != scenario:
            continue
        found, states = examine(build, scenario, name, None)
        good = good and bool(found)
        print("fault %-34s %8d states  %s" % (name, states, found or "NOT FOUND"))
    sys.exit(0 if good else 1)
