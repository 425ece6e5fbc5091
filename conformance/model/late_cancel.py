# SPDX-License-Identifier: Apache-2.0
"""A future whose code has ended is cancelled while a child of it lives: it gets one dispatch, which
only cancels its children.

Mirrors rdl_return, rdl_cancel, rdl_hold, rdl_drop_child, rdl_take_unwind, rdl_serve_cancel,
rdl_complete, rdl_slot_free and rdl_release_root. Unwind lists are written out, with a link in each
record, for a future in two of them would tie one list to the other. Every worker serves its list,
one dispatch a future, whenever it has nothing else to do.
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_add, fetch_or, load, main, store,
                     until)
from kernel import (CANCEL_BIT, DONE, FREE, READY, RETURNED, STATE_MASK, TICKET_ONE, check,
                    with_state)

SCENARIOS = ("two", "last", "deep", "reborn")
FAULTS = {
    "RETURNED before the count": ("two", "who finds the code in the count leaves it to the owner"),
    "both see the request": ("two", "owner and canceller each put it into a list"),
    "request read before the swap": ("two", "one that comes in between is lost"),
    "request by load and store": ("two", "two requests put the future into two lists"),
    "RETURNED by store": ("two", "a request that came in between is wiped out"),
    "link before the request": ("two", "a loser writes the link of one that stands in a list"),
    "return without a hold": ("last", "the last child ends it before it is RETURNED"),
    "cancel does not hold": ("last", "it ends while it stands in a list"),
    "holds what is over": ("last", "who has the last child and who cancels both end it"),
    "keeps the hold": ("two", "who came second never lets go"),
    "owner is not let go": ("last", "what the list held of the count stays there"),
    "owner let go first": ("last", "its children are gone before they are told"),
    "children are not told": ("deep", "those of a RETURNED child never hear"),
    "holds what runs": ("reborn", "the hold is added to code that runs, and ends without a look"),
    "generation before the wait word": ("reborn", "the next life is cancelled"),
    "frees before the outcome": ("reborn", "who finishes it writes into the next life"),
}
CODE_RUNS = 1 << 10
CLOSED, DETACHED = 1, 2
CHILD = {"F": "c", "c": "g"}


class Worker:
    """A worker: its unwind list, and what it does to futures."""

    def __init__(self, name, fault, deep=False):
        self.fault = fault
        self.deep = deep
        self.unwind = "unwind." + name

    # ---- the list

    def put(self, memory, who):
        memory["link." + who] = memory[self.unwind]
        memory[self.unwind] = who
        memory["listed." + who] += 1

    def take(self, memory):
        who = memory[self.unwind]
        if not who:
            return ""
        memory[self.unwind] = memory["link." + who]
        memory["listed." + who] -= 1
        memory["dispatches." + who] += 1
        return who

    def tell(self, memory, who):
        """The child runs, and hears of it there; `deep` has one that may not."""
        if not (who == "F" and self.deep):
            memory["wait." + CHILD[who]] |= CANCEL_BIT
        return memory["wait." + who] & STATE_MASK == RETURNED

    def rdl_take_unwind(self):
        """Until the list is empty."""
        while True:
            who = yield atomic(self.take)
            if not who:
                return
            yield from self.rdl_serve_cancel(who)

    def rdl_serve_cancel(self, who):
        if self.fault == "owner let go first":
            yield from self.rdl_drop_child(who)
        if self.fault != "children are not told":
            lives = yield atomic(self.tell, who)
            yield from check(lives, "tells the children of what is over")
            if who == "F" and self.deep:
                yield from self.rdl_cancel("c", 1)
        if self.fault not in ("owner is not let go", "owner let go first"):
            yield from self.rdl_drop_child(who)

    # ---- the count

    def rdl_hold(self, who):
        count = yield load("children." + who)
        while (count or self.fault == "holds what is over") and \
                (count < CODE_RUNS // 2 or self.fault == "holds what runs"):
            seen = yield cas("children." + who, count, count + 1)
            if seen == count:
                return True
            count = seen
        return False

    def rdl_drop_child(self, who):
        left = yield fetch_add("children." + who, -1)
        if left == 1:
            yield from self.rdl_complete(who)

    # ---- the end

    def rdl_return(self, who):
        """The code of `who` has ended, and a child that is not counted yet has not."""
        mine = 0 if self.fault == "return without a hold" else 1
        late = self.fault in ("RETURNED before the count", "both see the request")
        left = 0
        if not late:
            left = yield fetch_add("children." + who, 1 + mine - CODE_RUNS)
        wait = yield load("wait." + who)
        early = wait
        if self.fault == "RETURNED by store":
            yield store("wait." + who, with_state(wait, RETURNED))
        else:
            while True:
                seen = yield cas("wait." + who, wait, wait & ~STATE_MASK | RETURNED)
                if seen == wait:
                    break
                wait = seen
        if self.fault == "request read before the swap":
            wait = early
        if late:
            left = yield fetch_add("children." + who, 1 + mine - CODE_RUNS)
            if self.fault == "both see the request":
                wait = yield fetch_or("wait." + who, 0)
        if wait & CANCEL_BIT:
            yield atomic(self.put, who)
        elif mine:
            yield from self.rdl_drop_child(who)
        elif left + 1 == CODE_RUNS:
            yield from self.rdl_complete(who)

    def rdl_complete(self, who):
        wait = yield load("wait." + who)
        yield from check(wait & STATE_MASK != DONE, who + " ends twice")
        yield from check(wait & STATE_MASK == RETURNED, who + " ends while its code runs")
        generation = yield load("generation." + who)
        yield store("wait." + who, with_state(wait, DONE))
        head = yield exchange("waiters." + who, CLOSED)
        if head & DETACHED:
            yield from self.rdl_slot_free(who)
        elif who == "F":  # rdl_post
            yield store("outcome", generation)
        if who == "c":
            yield from self.rdl_drop_child("F")

    def rdl_slot_free(self, who):
        wait = yield load("wait." + who)
        yield store("wait." + who, with_state(wait, FREE))
        yield fetch_add("generation." + who, 1)

    # ---- the request

    def rdl_cancel(self, who, generation):
        while True:
            if self.fault == "generation before the wait word":
                seen = yield load("generation." + who)
                wait = yield load("wait." + who)
            else:
                wait = yield load("wait." + who)
                seen = yield load("generation." + who)
            state = wait & STATE_MASK
            if seen != generation or state in (FREE, DONE) or wait & CANCEL_BIT:
                return
            held = False
            if state == RETURNED and self.fault != "cancel does not hold":
                held = yield from self.rdl_hold(who)
            if held and self.fault == "link before the request":
                yield atomic(self.put, who)
            if self.fault == "request by load and store":
                seen = wait
                yield store("wait." + who, wait | CANCEL_BIT)
            else:
                seen = yield cas("wait." + who, wait, wait | CANCEL_BIT)
            marked = seen == wait
            if marked and state == RETURNED and not held and self.fault == "both see the request":
                held = yield from self.rdl_hold(who)
            if marked and (held or (state == RETURNED and self.fault == "cancel does not hold")):
                if self.fault != "link before the request":
                    yield atomic(self.put, who)
                return
            if held and self.fault != "keeps the hold":
                yield from self.rdl_drop_child(who)
            if marked:
                return


def words(*futures, lists=("1", "2", "3")):
    """Futures of which each is the child of the one before."""
    all_words = {"unwind." + name: "" for name in lists}
    all_words["outcome"] = 0
    for name in futures:
        all_words.update({"wait." + name: TICKET_ONE + READY, "children." + name: CODE_RUNS,
                          "generation." + name: 1, "waiters." + name: 0, "link." + name: "",
                          "listed." + name: 0, "dispatches." + name: 0})
    return all_words


def canceller(name, fault, deep=False):
    worker = Worker(name, fault, deep)

    def thread():
        yield from worker.rdl_cancel("F", 1)
        yield from worker.rdl_take_unwind()
    return thread


def returner(name, fault, who="F", deep=False):
    worker = Worker(name, fault, deep)

    def thread():
        yield from worker.rdl_return(who)
        yield from worker.rdl_take_unwind()
    return thread


def leaf(name, fault, who, owner, alone):
    """The last descendant: it ends when it hears the request, or by itself."""
    worker = Worker(name, fault)

    def thread():
        ends = yield choose(*((True, False) if alone else (False,)))
        if not ends:
            yield until(lambda memory: memory["wait." + who] & CANCEL_BIT)
        yield from worker.rdl_drop_child(owner)
    return thread


def all_end(*futures):
    def final(memory, stuck):
        for who in futures:
            if memory["wait." + who] & STATE_MASK not in (DONE, FREE):
                return who + " never ends"
        if stuck:
            return "waits for ever: " + ", ".join(stuck)
        return None
    return final


def one_list(*futures):
    """A request is delivered once, and a record has one link."""
    def invariant(memory):
        for who in futures:
            if memory["listed." + who] > 1:
                return who + " stands in two lists"
            if memory["dispatches." + who] > 1:
                return who + " is told twice"
            if memory["listed." + who] and memory["wait." + who] & STATE_MASK == DONE:
                return who + " ends while it stands in a list"
        return None
    return invariant


def build_two(fault):
    """Two requests, before the code ends, while it does and behind it. The child ends only when it
    is told."""
    return Model(words("F", "c"),
                 {"F returns": returner("1", fault), "cancels": canceller("2", fault),
                  "cancels too": canceller("3", fault),
                  "child": leaf("4", fault, "c", "F", False)},
                 one_list("F"), all_end("F"))


def build_last(fault):
    """The child also ends by itself, at any time."""
    return Model(words("F", "c", lists=("1", "2", "4")),
                 {"F returns": returner("1", fault), "cancels": canceller("2", fault),
                  "child": leaf("4", fault, "c", "F", True)},
                 one_list("F"), all_end("F"))


def build_deep(fault):
    """The child returns at the same time and leaves a child of its own: the request goes on to
    that one, whichever of the two it finds RETURNED."""
    return Model(words("F", "c", "g", lists=("1", "2", "3", "4")),
                 {"F returns": returner("1", fault, "F", True),
                  "c returns": returner("3", fault, "c", True),
                  "cancels": canceller("2", fault, True),
                  "grandchild": leaf("4", fault, "g", "c", False)},
                 one_list("F", "c"), all_end("F", "c"))


def build_reborn(fault):
    """The host gives the handle back, and the slot has a second life, whose code ends with no
    child, or with one. One request is for the first life, which ends alone."""
    ticket = 2 * TICKET_ONE

    worker, other = Worker("h", fault), Worker("2", fault)

    def host():  # rdl_release_root, for which the message stays until it can be done
        head = yield fetch_or("waiters.F", DETACHED)
        if head & CLOSED:
            if fault != "frees before the outcome":
                yield until(lambda memory: memory["outcome"] == 1)
            yield from worker.rdl_slot_free("F")

    def second_life():
        yield until(lambda memory: memory["generation.F"] == 2)
        posted = yield load("outcome")
        yield store("waiters.F", 0)  # rdl_record_clear
        yield store("children.F", CODE_RUNS)
        yield store("wait.F", ticket + READY)
        child = yield choose(True, False)
        if child:
            yield from other.rdl_return("F")
            yield from other.rdl_drop_child("F")
        else:
            count = yield load("children.F")  # rdl_end_begins
            yield from check(count == CODE_RUNS, "a hold is added to running code")
        wait = yield load("wait.F")
        yield from check(not wait & CANCEL_BIT, "the next life is cancelled")
        again = yield load("outcome")
        yield from check(child or again == posted, "the outcome of the first life comes late")
        if not child:
            yield store("wait.F", with_state(wait, DONE))
        yield from other.rdl_take_unwind()

    return Model(words("F", "c", lists=("1", "2", "3", "h", "4")),
                 {"F returns": returner("1", fault), "child": leaf("4", fault, "c", "F", True),
                  "cancels 1": canceller("3", fault), "host": host, "second life": second_life},
                 one_list("F"), all_end("F"))


def build(scenario, fault):
    builders = {"two": build_two, "last": build_last, "deep": build_deep, "reborn": build_reborn}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
