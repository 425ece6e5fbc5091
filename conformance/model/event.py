# SPDX-License-Identifier: Apache-2.0
"""Signals, waiters with thresholds, waiters that join late, and the end of a generation.

Mirrors rdl_event_status, rdl_event_signal, rdl_event_fire, rdl_commit_event, rdl_poll_event and, of
the host, has_waiter, dismiss and renew. A generation changes only between two launches, when every
worker stands between two dispatches: `inside` counts the dispatches that are under way.
"""

from explore import (Model, atomic, choose, exchange, fetch_add, fetch_min, late, load, main,
                     nobody_stuck, store, until)
from kernel import (CANCELLED, OK, READY, RUNNING, STALE, TICKET_ONE, WAITING, check, future,
                    once_queued, rdl_begin_wait, rdl_cancel_waiting, rdl_resume, rdl_take_back,
                    rdl_wake, with_state)

SCENARIOS = ("signals", "cancelled", "reset", "backlog", "destroy")
FAULTS = {
    "count read before the push": ("signals", "a signal between the two is lost"),
    "lowest lowered before the push": ("signals", "who fires resets lowest and takes no node"),
    "lowest read before the push": ("signals", "who fires resets it in between"),
    "lowest reset after the taking": ("signals", "it forgets a node that came in between"),
    "count not read again by who fires": ("signals", "a signal came while the list was away"),
    "lowest not lowered again": ("signals", "nodes that were put back are not looked for"),
    "count read plainly": ("signals", "lowest stands in a store buffer while the count is read"),
    "lowest read plainly": ("signals", "the count stands in a store buffer"),
    "no take-back": ("signals", "the count has come, and the awaiter sleeps"),
    "dead node is fired": ("cancelled", "a node without a ticket hits a later wait"),
    "reset while the device runs": ("reset", "somebody has looked at the old generation"),
    "reset forgets who waits": ("reset", "their nodes go, and nobody is left to wake them"),
    "reset counts dead nodes": ("reset", "it is refused although nobody waits"),
    "count is not reset": ("reset", "signals of the old generation count in the new one"),
    "backlog counts as done": ("backlog", "who was reached but not woken yet is forgotten"),
    "destroyed without a word": ("destroy", "who waits is not told"),
}
NO_WAITER = 1 << 30


def push(memory, nodes):
    memory["list"] = nodes + memory["list"]


def rdl_event_fire(count, fault, postpones=False):
    """Returns the nodes that are still to be woken: none, but in `backlog`."""
    while True:
        lowest = NO_WAITER
        fired, live = (), ()
        if fault != "lowest reset after the taking":
            yield exchange("lowest", NO_WAITER)
        nodes = yield exchange("list", ())
        if fault == "lowest reset after the taking":
            yield exchange("lowest", NO_WAITER)
        for node in nodes:
            if node[2] <= count:
                fired += (node,)
            else:
                wait = yield load("wait." + node[0])  # rdl_chain_keep
                if wait == node[1]:
                    live += (node,)
                    lowest = min(lowest, node[2])
        if live:
            yield atomic(push, live)  # rdl_chain_return
            if fault != "lowest not lowered again":
                yield fetch_min("lowest", lowest)
            if fault != "count not read again by who fires":
                count = yield fetch_add("count", 0)
        if postpones:  # rdl_fire_list with more than it wakes at once
            yield store("backlog", fired)
        else:
            for node in fired:
                yield from wake(node, fault)
        if not live or count < lowest:
            return


def wake(node, fault):
    if fault == "dead node is fired":
        wait = yield load("wait." + node[0])
        if wait & 7 == WAITING:
            yield from rdl_wake(node[0], wait, 0)
    else:
        yield from rdl_wake(node[0], node[1], 0)


def rdl_event_signal(generation, fault, postpones=False):
    seen = yield load("generation")  # rdl_event_status
    if seen != generation:
        return STALE
    if fault == "lowest read plainly":
        yield late(fetch_add("count", 1))
        lowest = yield load("lowest")
        count = yield fetch_add("count", 0)
    else:
        count = yield fetch_add("count", 1)
        count += 1
        lowest = yield fetch_min("lowest", NO_WAITER)  # a read that is a read-modify-write
    if count >= lowest:
        yield from rdl_event_fire(count, fault, postpones)
    return OK


def commit_event(me, waiting, wanted, fault):
    node = (me, waiting, wanted)
    if fault == "count read before the push":
        count = yield fetch_add("count", 0)
        yield atomic(push, (node,))
        yield fetch_min("lowest", wanted)
    elif fault == "lowest lowered before the push":
        yield fetch_min("lowest", wanted)
        yield atomic(push, (node,))
        count = yield fetch_add("count", 0)
    elif fault == "count read plainly":
        yield atomic(push, (node,))
        yield late(fetch_min("lowest", wanted))
        count = yield load("count")
    else:
        if fault != "lowest read before the push":
            yield atomic(push, (node,))
        lowest = yield fetch_min("lowest", NO_WAITER)  # rdl_load_ordered
        if fault == "lowest read before the push":
            yield atomic(push, (node,))
        if lowest > wanted:
            yield fetch_min("lowest", wanted)
        count = yield fetch_add("count", 0)
    if count >= wanted and fault != "no take-back":
        back = yield from rdl_take_back(me, waiting)
        return back
    return False


def enter(memory):  # a dispatch begins, unless the host has the heap to itself
    if memory["host"]:
        return False
    memory["inside"] += 1
    return True


def leave(memory):
    memory["inside"] -= 1


def await_inside(me, wait, wanted, generation, fault):
    """Its segment is a dispatch, and so is the next one."""
    yield until(enter)
    again, wait, status = yield from begins(me, wait, wanted, generation, fault)
    yield atomic(leave)
    if not again:
        wait, status = yield from rdl_resume(me)
    return wait, status or OK


def await_count(me, wait, wanted, generation, fault):
    again, wait, status = yield from begins(me, wait, wanted, generation, fault)
    if not again:
        wait, status = yield from rdl_resume(me)
    return wait, status or OK


def begins(me, wait, wanted, generation, fault):
    """RDL_AWAIT_COUNT up to its end or to where it leaves: whether it runs on, wait word, status."""
    seen = yield load("generation")  # rdl_poll_event
    if seen != generation:
        return True, wait, STALE
    count = yield load("count")
    if count >= wanted:
        return True, wait, OK
    waiting = with_state(wait + TICKET_ONE, WAITING)
    running = yield from rdl_begin_wait(me, wait, waiting)
    if running:
        return True, running, CANCELLED
    again = yield from commit_event(me, waiting, wanted, fault)
    return again, with_state(waiting, RUNNING), OK


def event_words(*waiters):
    words = {"count": 0, "lowest": NO_WAITER, "list": (), "generation": 1, "reset": "",
             "inside": 0, "host": False, "backlog": ()}
    for name in waiters:
        words.update(future(name, TICKET_ONE + READY))
    return words


# ---- signals and waiters, without the host

def build_signals(fault):
    def waiter(name, wanted):
        _, status = yield from await_count(name, TICKET_ONE + READY, wanted, 1, fault)
        yield from check(status == OK, "told %s" % status)
        count = yield load("count")
        yield from check(count >= wanted, "goes on before the count has come")

    return Model(event_words("A", "B"),
                 {"waits for 1": lambda: waiter("A", 1), "waits for 2": lambda: waiter("B", 2),
                  "signal": lambda: rdl_event_signal(1, fault),
                  "signal too": lambda: rdl_event_signal(1, fault)}, once_queued("AB"))


def build_cancelled(fault):
    def waiter():
        wait, _ = yield from await_count("A", TICKET_ONE + READY, 1, 1, fault)
        _, status = yield from await_count("A", wait, 2, 1, fault)
        count = yield load("count")
        yield from check(status != OK or count >= 2, "goes on before the count has come")

    def signals():
        yield from rdl_event_signal(1, fault)
        yield from rdl_event_signal(1, fault)

    return Model(event_words("A"), {"waiter": waiter, "signals": signals,
                                    "cancel": lambda: rdl_cancel_waiting("A")}, once_queued("A"))


# ---- the host between two launches

def heap_stands_still(memory, waits):
    """rdl__service_hold: no worker is inside."""
    if memory["inside"] and waits:
        return False
    memory["host"] = waits
    return True


def waiting_nodes(memory):
    return tuple(node for node in memory["list"] if memory["wait." + node[0]] == node[1])


def renew(fault, even_with_waiters=False):
    """Reset, or the end of the event. Each step is one of its own, for the fault that does not
    wait until the device has been left."""
    yield until(heap_stands_still, fault != "reset while the device runs")
    alive = yield atomic(waiting_nodes)
    nodes = yield load("list")
    busy = alive
    if fault == "reset counts dead nodes":
        busy = nodes
    if busy and not even_with_waiters and fault != "reset forgets who waits":
        yield from check(alive, "refused although nobody waits")
        yield store("host", False)
        return "BUSY"
    yield store("list", ())  # dismiss
    yield store("say", () if fault == "destroyed without a word" else alive)
    if fault == "backlog counts as done":
        yield store("backlog", ())
    if fault != "count is not reset":
        yield store("count", 0)
    yield store("lowest", NO_WAITER)
    yield fetch_add("generation", 1)
    yield store("host", False)
    return OK


def mailbox():  # RDL_SAY_WAKE for those who waited for an event that is destroyed
    nodes = yield until(lambda memory: memory["say"])
    yield until(enter)
    for node in nodes:
        yield from rdl_wake(node[0], node[1], STALE)
    yield atomic(leave)


def signal_inside(generation, fault, postpones=False):
    yield until(enter)
    status = yield from rdl_event_signal(generation, fault, postpones)
    yield atomic(leave)
    return status


def build_reset(fault):
    """A waits for 1, and may be cancelled; one signal comes or does not. A reset that is refused
    is followed by a signal, so that everybody can go on."""
    words = event_words("A")
    words["say"] = ()

    def waiter():
        _, status = yield from await_inside("A", TICKET_ONE + READY, 1, 1, fault)
        yield from check(status in (OK, CANCELLED, STALE), "told %s" % status)

    def reset():
        told = yield from renew(fault)
        yield store("reset", told)
        if told == "BUSY":
            yield from signal_inside(1, fault)

    def signal():
        comes = yield choose(True, False)
        if comes:
            yield from signal_inside(1, fault)

    def final(memory, stuck):
        if stuck:
            return nobody_stuck(memory, stuck)
        if memory["reset"] == OK and memory["count"]:
            return "a signal of the old generation is counted in the new one"
        return None

    def cancel():
        comes = yield choose(True, False)
        if comes:
            yield until(enter)
            yield from rdl_cancel_waiting("A")
            yield atomic(leave)

    return Model(words, {"waiter": waiter, "signal": signal, "reset": reset, "cancel": cancel},
                 once_queued("A"), final)


def build_backlog(fault):
    """The count has come, and the wake stands in a worker's backlog when the launch ends."""
    words = event_words("A")
    words["say"] = ()

    def waiter():
        _, status = yield from await_inside("A", TICKET_ONE + READY, 1, 1, fault)
        yield from check(status in (OK, STALE), "told %s" % status)

    def reset():
        told = yield from renew(fault)
        while told == "BUSY":
            told = yield from renew(fault)
        yield store("reset", told)

    def signal():
        yield from signal_inside(1, fault, True)
        yield until(enter)  # rdl_serve_backlog, in this launch or in the next one
        nodes = yield exchange("backlog", ())
        for node in nodes:
            yield from rdl_wake(node[0], node[1], 0)
        yield atomic(leave)

    return Model(words, {"waiter": waiter, "signal": signal, "reset": reset}, once_queued("A"))


def build_destroy(fault):
    words = event_words("A")
    words["say"] = ()

    def waiter():
        _, status = yield from await_inside("A", TICKET_ONE + READY, 1, 1, fault)
        yield from check(status in (OK, STALE), "told %s" % status)

    def destroy():
        yield from renew(fault, True)

    def final(memory, stuck):
        return nobody_stuck(memory, [name for name in stuck if name != "mailbox"])

    return Model(words, {"waiter": waiter, "destroy": destroy, "mailbox": mailbox},
                 once_queued("A"), final)


def build(scenario, fault):
    builders = {"signals": build_signals, "cancelled": build_cancelled, "reset": build_reset,
                "backlog": build_backlog, "destroy": build_destroy}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
