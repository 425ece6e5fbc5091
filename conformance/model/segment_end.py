# SPDX-License-Identifier: Apache-2.0
"""What a segment has noted is done behind it, at one place, and together with its suspension: no
wake and no cancel is lost, and none is served twice.

Mirrors rdl_run, rdl_suspend, rdl_begin_wait, rdl_settle_up, rdl_complete, rdl_serve_wakes,
rdl_wake_one, rdl_serve_cancel, rdl_tell_cancel, rdl_take_up, rdl_find, rdl_drain_mailbox and
rdl_leave. What is noted is private to its worker, and stands in local variables here: `fired`,
nodes of lists that have fired, and `woken`, futures that are READY and stand in no queue. All rings
are one queue. (await_one.py has a slot that is born again during the wait, children.py the count.)
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_add, fetch_or, load, main, store,
                     until)
from kernel import (CANCEL_BIT, CANCELLED, DONE, READY, RUNNING, STATE_MASK, TICKET_ONE, WAITING,
                    check, rdl_wake_now, with_state)

SCENARIOS = ("end", "cancel", "messages", "leaves")
FAULTS = {
    "wakes asked for before the ends": ("end", "what an end has woken stays where it was noted"),
    "ends one": ("end", "the end of one may be that of another"),
    "request in the entry": ("end", "no word that it is compared with has it"),
    "woken at once and noted": ("end", "it stands in the queue twice"),
    "fired without a swap": ("end", "a cancel has woken it already"),
    "WAITING by store": ("cancel", "a request that came during the segment is wiped out"),
    "children told behind the wait": ("cancel", "another worker has their list by then"),
    "children not told": ("cancel", "who was woken with CANCELLED tells nobody"),
    "told at every dispatch": ("cancel", "its clean-up is told to end, too"),
    "cause left": ("cancel", "the next wait ends with what ended the last"),
    "segment before the notes": ("messages", "the segment does not end, and nobody can queue them"),
    "taken before the notes": ("messages", "what was picked runs first, once a round"),
    "leaves without a look": ("leaves", "what it noted in its last turn is lost"),
    "backlog is not kept": ("leaves", "what is too many for one dispatch is lost"),
}
AWAITED, CODE_RUNS = 1 << 31, 1 << 10
ONE = TICKET_ONE


def put(memory, who, ready):
    memory["queue"] += ((who, ready),)


def take(memory, whom):
    for entry in memory["queue"]:
        if entry[0] in whom:
            memory["queue"] = tuple(other for other in memory["queue"] if other != entry)
            return entry
    return None


def rdl_cancel(who, woken=()):
    """The request; one that wakes is noted. Returns what is noted now."""
    while True:
        wait = yield load("wait." + who)
        told = yield load("told." + who)
        if wait & STATE_MASK == DONE or wait & CANCEL_BIT or told:
            return woken
        if wait & STATE_MASK == WAITING:
            ready = yield from rdl_wake_now(who, wait, CANCELLED)
            if ready:
                return woken + ((who, ready),)
        else:
            seen = yield cas("wait." + who, wait, wait | CANCEL_BIT)
            if seen == wait:
                return woken


def rdl_serve_wakes(fired, woken, fault, most=9):
    """Returns the nodes that are left for the backlog."""
    while fired and most:
        node, fired, most = fired[0], fired[1:], most - 1
        if fault == "fired without a swap":
            ready = with_state(node[1], READY)
            yield exchange("wait." + node[0], ready)
        else:
            ready = yield from rdl_wake_now(node[0], node[1], 0)
        if ready:
            yield atomic(put, node[0], ready)
    while woken:
        who, woken = woken[0][0], woken[1:]
        wait = yield load("wait." + who)
        yield atomic(put, who, wait if fault == "request in the entry" else wait & ~CANCEL_BIT)
    return fired


def canceller(who, fault):
    """Another worker's segment, or its message, and the end of that dispatch."""
    comes = yield choose(True, False)
    if comes:
        woken = yield from rdl_cancel(who)
        yield from rdl_serve_wakes((), woken, fault)


def picked(entry):
    """rdl_pick by the word that it was queued with, as where futures are careful."""
    who, ready = entry
    wait = yield load("wait." + who)
    yield from check(wait & ~CANCEL_BIT == ready, "the word of what is queued has changed")
    return wait


def words(*futures):
    all_words = {"queue": ()}
    for who in futures:
        all_words.update({"wait." + who: ONE + WAITING, "cause." + who: 0, "told." + who: False,
                          "times." + who: 0, "list." + who: ()})
    return all_words


def once_queued(memory):
    names = [who for who, _ in memory["queue"]]
    return "queued twice" if len(names) != len(set(names)) else None


def all_done(*futures, may=()):
    def final(memory, stuck):
        for who in futures:
            if memory["wait." + who] & STATE_MASK != DONE:
                return who + " is lost"
        left = [name for name in stuck if name not in may]
        return "waits for ever: " + ", ".join(left) if left else None
    return final


def ends(who, wait):
    yield fetch_add("times." + who, 1)
    yield store("wait." + who, with_state(wait, DONE))


# ---- the end of a future: its owner, its waiter, and who waits for its owner

def rdl_complete(who, fired, woken, ended, fault):
    """R and Q are the owner's children. Returns what is noted now."""
    yield exchange("wait." + who, ONE + DONE)
    nodes = yield exchange("list." + who, "closed")
    left = yield fetch_add("children.P", -1)
    if left - 1 == AWAITED | CODE_RUNS:  # rdl_wake_owner
        wait = yield load("wait.P")
        if wait & STATE_MASK == WAITING:
            ready = yield from rdl_wake_now("P", wait, 0)
            if ready:
                woken += (("P", ready),)
                if fault == "woken at once and noted":
                    yield atomic(put, "P", ready)
    return fired + nodes, woken, ended


def rdl_settle_up(ended, woken, fault):
    fired = ()
    wakes = bool(woken)
    while ended:
        who, ended = ended[0], ended[1:]
        fired, woken, ended = yield from rdl_complete(who, fired, woken, ended, fault)
        if fault == "ends one":
            break
    if fault != "wakes asked for before the ends":
        wakes = bool(fired or woken)
    if wakes:
        yield from rdl_serve_wakes(fired, woken, fault)


def build_end(fault):
    """One dispatch of A ends R and Q, and may cancel W, which waits for R; P waits for both and
    begins to do so at that time. W and P may be cancelled by others."""
    all_words = words("R", "Q", "W", "P")
    all_words.update({"wait.R": ONE + RUNNING, "wait.Q": ONE + RUNNING, "wait.P": ONE + RUNNING,
                      "list.R": (("W", ONE + WAITING),), "children.P": CODE_RUNS + 2})

    def worker():
        cancels = yield choose(True, False)
        woken = ()
        if cancels:
            woken = yield from rdl_cancel("W")
        yield from rdl_settle_up(("R", "Q"), woken, fault)

    def owner():
        waiting = 2 * ONE + WAITING
        yield fetch_or("children.P", AWAITED)
        seen = yield cas("wait.P", ONE + RUNNING, waiting)
        if seen != ONE + RUNNING:
            yield from ends("P", seen)
            return
        count = yield fetch_or("children.P", 0)  # rdl_commit_children
        if count & ~AWAITED == CODE_RUNS:
            seen = yield cas("wait.P", waiting, 2 * ONE + RUNNING)
            if seen == waiting:
                yield from ends("P", waiting)
                return
        yield from resumed("P")

    def resumed(who):
        entry = yield until(take, (who,))
        wait = yield from picked(entry)
        yield from ends(who, wait)

    return Model(all_words, {"A": worker, "P": owner, "W": lambda: resumed("W"),
                             "cancels P": lambda: canceller("P", fault),
                             "cancels W": lambda: canceller("W", fault)},
                 once_queued, all_done("R", "Q", "W", "P"))


# ---- the suspension: a request may come at any time, and the children hear of it once

def build_cancel(fault):
    """R has a child c, which ends when it is told, or before; R waits for what never comes, and
    when it has been told for c, as its clean-up, and frees it. Any worker may run R next."""
    all_words = words("R", "c")
    all_words.update({"wait.R": ONE + RUNNING, "first_child": "c", "freed": False})

    def rdl_deliver_cancel(wait):
        """Returns the word to run on with, and CANCELLED the first time."""
        told = yield load("told.R")
        wait = with_state(wait + ONE, RUNNING)
        yield store("wait.R", wait)
        if told and fault != "told at every dispatch":
            return wait, 0
        yield store("told.R", True)
        return wait, CANCELLED

    def rdl_serve_cancel():
        child = yield load("first_child")
        if child and fault != "children not told":
            freed = yield load("freed")
            yield from check(not freed, "tells a child that another worker has freed")
            woken = yield from rdl_cancel("c")
            yield from rdl_serve_wakes((), woken, fault)

    def wait_for(wait, awaited, cancels):
        """The end of a segment, and the next dispatch: word and status."""
        if cancels and fault != "children told behind the wait":
            yield from rdl_serve_cancel()
        while True:
            waiting = with_state(wait + ONE, WAITING)
            if fault == "WAITING by store":
                yield store("wait.R", waiting)
                break
            seen = yield cas("wait.R", wait, waiting)
            if seen == wait:
                break
            wait, status = yield from rdl_deliver_cancel(wait)
            if status:
                return wait, status
        if awaited:
            old = yield atomic(join, waiting)
            if old == "closed":
                seen = yield cas("wait.R", waiting, with_state(waiting, RUNNING))
                if seen == waiting:
                    return with_state(waiting, RUNNING), 0
        if cancels and fault == "children told behind the wait":
            yield store("late", True)
        entry = yield until(take, ("R",))
        wait = yield from picked(entry)  # rdl_take_up
        cause = yield load("cause.R")
        if fault != "cause left":
            yield store("cause.R", 0)
        if wait & CANCEL_BIT:
            wait, cause = yield from rdl_deliver_cancel(wait)
        elif cause == CANCELLED:
            yield store("told.R", True)
        return wait, cause

    def join(memory, waiting):
        old = memory["list.c"]
        if old != "closed":
            memory["list.c"] = (("R", waiting),)
        return old

    def code():
        wait, status = yield from wait_for(ONE + RUNNING, False, False)
        yield from check(status == CANCELLED, "goes on with %s" % status)
        wait, status = yield from wait_for(wait, True, True)
        yield from check(status != CANCELLED, "is told a second time")
        yield store("freed", True)
        yield from ends("R", wait)

    def child():
        entry = yield until(take, ("c",))
        wait = yield from picked(entry)
        cause = yield load("cause.c")
        yield from check(cause in (0, CANCELLED), "c goes on with %s" % cause)
        yield from ends("c", wait)
        nodes = yield exchange("list.c", "closed")
        yield from rdl_serve_wakes(nodes, (), fault)

    def event():
        comes = yield choose(True, False)
        if comes:
            yield from rdl_serve_wakes((("c", ONE + WAITING),), (), fault)

    def request(must):
        comes = True
        if not must:
            comes = yield choose(True, False)
        if comes:
            woken = yield from rdl_cancel("R")
            yield from rdl_serve_wakes((), woken, fault)

    def first_worker():  # the one that ran R before, for the fault that tells the children late
        yield until(lambda memory: memory["late"])
        yield from rdl_serve_cancel()

    all_words["late"] = False
    return Model(all_words, {"R": code, "c": child, "cancels": lambda: request(True),
                             "cancels too": lambda: request(False), "worker": first_worker,
                             "event": event},
                 once_queued, all_done("R", "c", may=("worker",)))


# ---- messages, of which one starts a segment that does not end

def build_messages(fault):
    """A message wakes W, and another starts H, whose segment never ends. Each of two workers looks
    for messages when it has nothing else to do, or as the last of a round."""
    all_words = words("W", "H")
    all_words.update({"wait.H": ONE + READY, "box": (), "roots": ()})
    messages = (("W", ONE + WAITING), ("H", ONE + READY))

    def say(memory, message):
        memory["box"] += (message,)

    def host():
        turned = yield choose(True, False)
        yield atomic(say, messages[turned])
        yield atomic(say, messages[not turned])

    def drain(memory):
        some, memory["box"] = memory["box"], ()
        memory["roots"] += tuple(entry for entry in some if entry[0] == "H")
        return tuple(entry for entry in some if entry[0] == "W")

    def near(memory):
        entry = take(memory, ("W",))
        if not entry and memory["roots"]:
            entry, memory["roots"] = memory["roots"][0], ()
        return entry

    def run(entry):
        wait = yield from picked(entry)
        if entry[0] == "H":
            yield until(lambda memory: False)
        yield from ends(entry[0], wait)

    def worker():
        while True:
            last = yield choose(True, False)  # of a round
            found, woken = None, ()
            if not last or fault == "taken before the notes":
                found = yield atomic(near)
            if last or not found:
                noted = yield atomic(drain)
                while noted:
                    node, noted = noted[0], noted[1:]
                    ready = yield from rdl_wake_now(node[0], node[1], 0)
                    if ready:
                        woken += ((node[0], ready),)
            if not found and (not woken or fault == "segment before the notes"):
                found = yield atomic(near)
            if found:
                yield from run(found)
            yield from rdl_serve_wakes((), woken, fault)
            over = yield load("wait.W")
            if over & STATE_MASK == DONE:
                return

    return Model(all_words, {"A": worker, "B": worker, "host": host}, once_queued,
                 all_done("W", may=("A", "B")))


# ---- the last turn of a worker

def build_leaves(fault):
    """A list of three has fired in the last dispatch of a worker, which wakes two at once; a cancel
    comes for one of them. What is left is served in the next launch."""
    names = ("U", "V", "W")
    all_words = words(*names)
    all_words.update({"backlog": (), "left": False})

    def worker():
        fired = tuple((who, ONE + WAITING) for who in names)
        rest = fired
        if fault != "leaves without a look":
            rest = yield from rdl_serve_wakes(fired, (), fault, 2)
            if fault != "backlog is not kept":
                yield store("backlog", rest)  # rdl_worker_close
        yield store("left", True)

    def next_launch():
        yield until(lambda memory: memory["left"])
        rest = yield exchange("backlog", ())
        yield from rdl_serve_wakes(rest, (), fault)

    def resumed(who):
        def thread():
            entry = yield until(take, (who,))
            wait = yield from picked(entry)
            yield from ends(who, wait)
        return thread

    threads = {who: resumed(who) for who in names}
    threads.update({"A": worker, "next": next_launch, "cancels": lambda: canceller("V", fault),
                    "cancels W": lambda: canceller("W", fault)})
    return Model(all_words, threads, once_queued, all_done(*names))


def build(scenario, fault):
    builders = {"end": build_end, "cancel": build_cancel, "messages": build_messages,
                "leaves": build_leaves}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
