# SPDX-License-Identifier: Apache-2.0
"""Where ready futures stand: a worker's ring, lists that others take whole, the ring of roots, and
the chains of a pool. Nothing runs twice and nothing is lost.

Mirrors rdl_ring_push, rdl_spill_ring, rdl_change, rdl_list_push, rdl_adopt, rdl_from_ring,
rdl_from_fifo, rdl_claim, rdl_commit_yield, rdl_dispatch, rdl_start_root, rdl_shared_push,
rdl_shared_pop, rdl_pool_refill_freed, rdl_pool_give_back and rdl_pool_flush. Links are words of
their own here, so this model also shows what the others take for granted: that pushing onto a list
and taking it whole each behave as one step.
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_add, load, main, nobody_stuck,
                     nobody_stuck_but, store, until)
from kernel import (CANCEL_BIT, DONE, QUEUED, READY, RUNNING, STATE_MASK, TICKET_ONE, check,
                    with_state)

SCENARIOS = ("future", "plain", "list", "chain", "roots", "ring")
FAULTS = {
    "spilled without a swap": ("future", "the spilled future may have been claimed"),
    "list before QUEUED": ("future", "the thief unlinks it while it may still be claimed"),
    "change drops the request": ("future", "spilling undoes a request to cancel"),
    "dispatch insists on the word": ("future", "a future with a request is never dispatched"),
    "flat without a swap": ("future", "the owner and who claims both run it"),
    "claims outside flat mode": ("plain", "nobody else looks whether a claim has come first"),
    "spilled and kept": ("plain", "a thief and the ring's owner both run it"),
    "stale entry is not dropped": ("future", "an entry counts although the word has changed"),
    "claims what is queued": ("future", "a future in a list runs, and its link is still needed"),
    "push by load and store": ("list", "two pushes at once lose one"),
    "taken by load and store": ("list", "a push in between is lost"),
    "pop by swap": ("list", "the head has come back with another link (ABA)"),
    "gives back by store": ("chain", "what was flushed meanwhile is lost"),
    "takes one by swap": ("chain", "the head has come back with another link (ABA)"),
    "root starts unseen": ("roots", "a root that was claimed is queued with the word RUNNING"),
    "cell filled after its number": ("ring", "the consumer reads what stood there before"),
    "head by load and store": ("ring", "two consumers take one entry"),
}


# ---- one future between its worker's ring, the overflow, a thief and a claimer ----

def rdl_change(word, old, new, fault):
    seen = yield cas(word, old, new)
    if seen == old:
        return True
    if seen != old | CANCEL_BIT:
        return False
    keep = 0 if fault == "change drops the request" else CANCEL_BIT
    again = yield cas(word, seen, new | keep)
    return again == seen


def rdl_dispatch(expected, fault):
    running = with_state(expected, RUNNING)
    flat = yield load("flat")
    if not flat or fault == "flat without a swap":
        word = yield atomic(starts)
        yield from run(word & ~CANCEL_BIT, bool(word & CANCEL_BIT), fault)
        return
    if fault == "stale entry is not dropped":
        yield exchange("wait", running)
    else:
        seen = yield cas("wait", expected, running)
        if seen != expected:
            if seen != expected | CANCEL_BIT or fault == "dispatch insists on the word":
                return
            again = yield cas("wait", seen, running | CANCEL_BIT)
            if again != seen:
                return
            yield from run(running, True, fault)
            return
    yield from run(running, False, fault)


def starts(memory):
    memory["started"] = 1
    return memory["wait"]


def run(running, cancelled, fault):
    linked = yield load("linked")
    yield from check(not linked, "runs while it stands in a list")
    others = yield fetch_add("running", 1)
    yield from check(others == 0, "two segments of one future overlap")
    yield atomic(lambda memory: note(memory, cancelled))
    yields = yield load("yields")
    if yields and not cancelled:
        yield store("yields", 0)
        yield fetch_add("running", -1)
        yield from rdl_change("wait", running, with_state(running, QUEUED), fault)
        yield store("fifo", True)  # rdl_commit_yield; this worker's own
        word = yield load("wait")
        yield store("fifo", False)
        yield from rdl_dispatch(word & ~CANCEL_BIT, fault)
        return
    yield fetch_add("ends", 1)
    yield fetch_add("running", -1)
    yield exchange("wait", with_state(running, DONE))


def note(memory, cancelled):
    memory["segments"] += 1
    memory["started"] = 1
    memory["heard"] = memory["heard"] or cancelled


def build_future(fault, flat=True):
    """In flat mode a claimer may take the future from its ring; elsewhere only a thief may, from
    the list."""
    ready = TICKET_ONE + READY
    words = {"flat": flat, "wait": ready, "linked": False, "overflow": False, "running": 0, "ends": 0,
             "segments": 0, "yields": 1, "fifo": False, "heard": False, "started": 0,
             "early": False}

    def owner():
        """The entry leaves the ring of its worker in one of the two ways."""
        way = yield choose("runs it", "spills it")
        if way == "runs it":
            yield from rdl_dispatch(ready, fault)
            return
        if fault == "spilled and kept":
            yield from rdl_change("wait", ready, with_state(ready, QUEUED), fault)
            yield atomic(link)
            yield from rdl_dispatch(ready, fault)
            return
        if fault == "list before QUEUED":
            yield atomic(link)
            yield from rdl_change("wait", ready, with_state(ready, QUEUED), fault)
            return
        if fault == "spilled without a swap":
            yield exchange("wait", with_state(ready, QUEUED))
            mine = True
        else:
            mine = yield from rdl_change("wait", ready, with_state(ready, QUEUED), fault)
        if mine:
            yield atomic(link)

    def link(memory):  # rdl_list_push onto the overflow
        memory["linked"] = memory["overflow"] = True

    def unlink(memory):  # rdl_adopt by a thief, then its FIFO
        if not memory["overflow"]:
            return False
        memory["linked"] = memory["overflow"] = False
        return True

    def thief():
        yield until(unlink)
        word = yield load("wait")  # rdl_from_fifo
        yield from rdl_dispatch(word & ~CANCEL_BIT, fault)

    def claimer():  # rdl_claim, then rdl_from_next
        if not flat and fault != "claims outside flat mode":
            return
        wait = yield load("wait")
        state = wait & STATE_MASK
        if state == READY or (state == QUEUED and fault == "claims what is queued"):
            yield from rdl_dispatch(wait & ~CANCEL_BIT, fault)

    def canceller():
        comes = yield choose(True, False)
        while comes:
            wait = yield load("wait")
            if wait & STATE_MASK == DONE:
                return
            done = yield atomic(request, wait)
            if done:
                return

    def request(memory, wait):
        if memory["wait"] != wait:
            return False
        memory["wait"] = wait | CANCEL_BIT
        memory["early"] = memory["started"] == 0
        return True

    def final(memory, stuck):
        wrong = nobody_stuck_but("thief")(memory, stuck)
        if wrong:
            return wrong
        if memory["ends"] != 1:
            return "ends %d times" % memory["ends"]
        return "the request is lost" if memory["early"] and not memory["heard"] else None

    return Model(words, {"owner": owner, "thief": thief, "claimer": claimer,
                         "cancel": canceller}, None, final)


# ---- the list itself: pushed by compare-and-swap, taken by exchange ----

def rdl_list_push(item, fault=None):
    old = yield load("list")
    if fault == "push by load and store":
        yield store("link." + item, old)
        yield store("list", item)
        return
    while True:
        yield store("link." + item, old)
        seen = yield cas("list", old, item)
        if seen == old:
            return
        old = seen


def take(fault):
    """Takes the whole list and counts every item: rdl_adopt."""
    if fault == "taken by load and store":
        item = yield load("list")
        yield store("list", "")
    elif fault == "pop by swap":
        yield from pop()
        return
    else:
        item = yield exchange("list", "")
    while item:
        following = yield load("link." + item)
        yield atomic(came, item)
        item = following


def pop():
    for attempt in range(3):
        item = yield load("list")
        if not item:
            return
        following = yield load("link." + item)
        seen = yield cas("list", item, following)
        if seen == item:
            yield atomic(came, item)


def came(memory, item):
    memory["came." + item] += 1


def build_list(fault):
    """The first taker pushes one of the items again, so that a head can come back."""
    words = {"list": "y", "link.x": "", "link.y": "", "link.z": "", "came.x": 0, "came.y": 0,
             "came.z": 0, "again": False}

    def pusher(item):
        return lambda: rdl_list_push(item, fault)

    def taker():
        yield from take(fault)

    def taker_again():
        yield from take(fault)
        count = yield load("came.y")
        if count == 1:
            yield store("again", True)
            yield from rdl_list_push("y", fault)

    def final(memory, stuck):
        left, item = {}, memory["list"]
        while item and item not in left:
            left[item] = 1
            item = memory["link." + item]
        if item:
            return "the list has become a ring"
        for name in "xyz":
            pushed = 2 if name == "y" and memory["again"] else 1
            if memory["came." + name] + left.get(name, 0) != pushed:
                return name + " is lost or has come twice"
        return nobody_stuck(memory, stuck)

    return Model(words, {"pushes x": pusher("x"), "pushes z": pusher("z"), "taker": taker,
                         "taker again": taker_again}, None, final)


# ---- the chain of a pool: taken whole, the rest given back ----

def rdl_pool_give_back(rest, fault):
    if fault == "gives back by store" and rest:
        yield store("chain", rest)
        return
    while rest:
        seen = yield cas("chain", "", rest)
        if not seen:
            return
        newer = yield exchange("chain", "")
        if not newer:
            continue
        tail = newer
        following = yield load("link." + tail)
        while following:
            tail = following
            following = yield load("link." + tail)
        yield store("link." + tail, rest)
        rest = newer


def refill(worker, fault):
    """rdl_pool_refill_freed for one item."""
    if fault == "takes one by swap":
        head = yield load("chain")
        while head:
            rest = yield load("link." + head)
            seen = yield cas("chain", head, rest)
            if seen == head:
                break
            head = seen
    else:
        head = yield exchange("chain", "")
        if head:
            rest = yield load("link." + head)
            yield from rdl_pool_give_back(rest, fault)
    if head:
        yield atomic(into_stash, worker, head)
    return head


def into_stash(memory, worker, item):
    memory["stash." + worker] += item


def flush(worker, item):  # rdl_pool_flush of one item
    yield atomic(out_of_stash, worker, item)
    old = yield load("chain")
    while True:
        yield store("link." + item, old)
        seen = yield cas("chain", old, item)
        if seen == old:
            return
        old = seen


def out_of_stash(memory, worker, item):
    memory["stash." + worker] = memory["stash." + worker].replace(item, "", 1)


def build_chain(fault):
    words = {"chain": "a", "link.a": "b", "link.b": "c", "link.c": "", "link.d": "",
             "stash.1": "", "stash.2": "d", "stash.3": ""}

    def first():
        yield from refill("1", fault)

    def second():
        """Takes one, takes another, gives the first back: the head returns with another link."""
        yield from flush("2", "d")
        one = yield from refill("2", fault)
        yield from refill("2", fault)
        if one:
            yield from flush("2", one)

    def third():
        yield from refill("3", fault)

    def final(memory, stuck):
        items, item = memory["stash.1"] + memory["stash.2"] + memory["stash.3"], memory["chain"]
        while item and len(items) < 9:
            items += item
            item = memory["link." + item]
        if sorted(items) != list("abcd"):
            return "items now: " + items
        return nobody_stuck(memory, stuck)

    return Model(words, {"first": first, "second": second, "third": third}, None, final)


# ---- a batch of two roots; the first one claims the second before its message is done ----

def build_roots(fault):
    ready = TICKET_ONE + READY
    words = {"wait": ready, "linked": False, "running": 0, "ends": 0, "segments": 0, "yields": 0,
             "fifo": False, "heard": False, "ring": 0, "flat": True, "started": 0}

    def drainer():  # rdl_start_roots has started the first root and comes to the second
        wait = yield load("wait")
        if wait & STATE_MASK == READY or fault == "root starts unseen":
            yield store("ring", wait & ~CANCEL_BIT)
        else:
            yield store("ring", "no")

    def first_root():  # in flat mode: rdl_claim, rdl_from_next
        wait = yield load("wait")
        if wait & STATE_MASK == READY:
            yield from rdl_dispatch(wait, None)

    def worker():  # rdl_from_roots
        entry = yield until(lambda memory: memory["ring"])
        if entry != "no":
            yield from rdl_dispatch(entry, None)

    def final(memory, stuck):
        return nobody_stuck(memory, stuck) or \
            (None if memory["ends"] == 1 else "ends %d times" % memory["ends"])

    return Model(words, {"drainer": drainer, "first root": first_root, "worker": worker}, None,
                 final)


# ---- the bounded ring of many producers and consumers, with two cells ----

CELLS = 2


def rdl_shared_push(item, fault):
    tail = yield load("tail")
    while True:
        sequence = yield load("sequence.%d" % (tail % CELLS))
        behind = sequence - tail
        if behind == 0:
            seen = yield cas("tail", tail, tail + 1)
            if seen == tail:
                cell = tail % CELLS
                if fault == "cell filled after its number":
                    yield store("sequence.%d" % cell, tail + 1)
                    yield store("cell.%d" % cell, item)
                else:
                    yield store("cell.%d" % cell, item)
                    yield store("sequence.%d" % cell, tail + 1)
                return True
            tail = seen
        elif behind < 0:
            return False
        else:
            tail = yield load("tail")


def rdl_shared_pop(fault):
    head = yield load("head")
    while True:
        sequence = yield load("sequence.%d" % (head % CELLS))
        behind = sequence - (head + 1)
        if behind == 0:
            if fault == "head by load and store":
                seen = head
                yield store("head", head + 1)
            else:
                seen = yield cas("head", head, head + 1)
            if seen == head:
                item = yield load("cell.%d" % (head % CELLS))
                yield store("sequence.%d" % (head % CELLS), head + CELLS)
                return item
            head = seen
        elif behind < 0:
            return ""
        else:
            head = yield load("head")


def build_ring(fault):
    words = {"head": 0, "tail": 0, "sequence.0": 0, "sequence.1": 1, "cell.0": "", "cell.1": "",
             "pushed": "", "popped": ""}

    def producer(items):
        def push():
            for item in items:
                done = yield from rdl_shared_push(item, fault)
                if done:
                    yield atomic(append, "pushed", item)
        return push

    def consumer():
        for attempt in range(2):
            item = yield from rdl_shared_pop(fault)
            if item:
                yield atomic(append, "popped", item)

    def append(memory, word, item):
        memory[word] = "".join(sorted(memory[word] + item))

    def final(memory, stuck):
        left = "".join(memory["cell.%d" % (k % CELLS)] for k in range(memory["head"],
                                                                      memory["tail"]))
        if sorted(memory["popped"] + left) != sorted(memory["pushed"]):
            return "pushed %s, popped %s, left %s" % (memory["pushed"], memory["popped"], left)
        return nobody_stuck(memory, stuck)

    return Model(words, {"pushes a, c": producer("ac"), "pushes b": producer("b"),
                         "pops": consumer, "pops too": consumer}, None, final)


def build(scenario, fault):
    builders = {"future": build_future, "plain": lambda fault: build_future(fault, False), "list": build_list, "chain": build_chain,
                "roots": build_roots, "ring": build_ring}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
