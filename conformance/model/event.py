# SPDX-License-Identifier: Apache-2.0
"""Signals, waiters with thresholds, waiters that join late, and reset of an event.

Mirrors rdl_event_signal, rdl_event_fire, rdl_commit_event, rdl_event_renew, rdl_event_dismiss and
rdl_event_reset. The count's upper bits hold the generation, and so does what a node waits for:
who reads either knows which life of the event it belongs to.
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_add, fetch_min, late, load, main,
                     nobody_stuck, store)
from kernel import (OK, RUNNING, STALE, TICKET_ONE, WAITING, check, future, once_queued,
                    rdl_cancel_waiting, rdl_resume, rdl_take_back, rdl_wake, with_state)

SCENARIOS = ("signals", "cancelled", "reset", "reset2")
FAULTS = {
    "count read before the push": ("signals", "a signal between the two is lost"),
    "lowest lowered before the push": ("signals", "who fires resets lowest and takes no node"),
    "lowest reset after the taking": ("signals", "it forgets a node that came in between"),
    "count not read again by who fires": ("signals", "a signal came while the list was away"),
    "lowest not lowered again": ("signals", "nodes that were put back are not looked for"),
    "count read plainly": ("signals", "lowest stands in a store buffer while the count is read"),
    "lowest read plainly": ("signals", "the count stands in a store buffer"),
    "no take-back": ("signals", "the count has come, and the awaiter sleeps"),
    "dead node is fired": ("cancelled", "a node without a ticket hits a later wait"),
    "count without generation": ("reset", "a signal meant for the old life counts in the new one"),
    "who fires trusts the event": ("reset2", "puts waiters back onto the list of the next life"),
}
NO_WAITER = 1 << 30
LIFE = 100  # generation of the event, in what the count and the nodes hold


def push(memory, nodes):
    memory["list"] = nodes + memory["list"]


def has_come(wanted, count):
    """The count has reached what a node waits for, or the node is of an older life."""
    return wanted // LIFE != count // LIFE or wanted <= count


def rdl_event_fire(count, fault):
    trusts = fault in ("who fires trusts the event", "count without generation")
    while True:
        lowest = NO_WAITER
        fired, live = (), ()
        if fault != "lowest reset after the taking":
            yield exchange("lowest", NO_WAITER)
        nodes = yield exchange("list", ())
        if fault == "lowest reset after the taking":
            yield exchange("lowest", NO_WAITER)
        for node in nodes:
            if has_come(node[2], count):
                fired += (node,)
            else:
                wait = yield load("wait." + node[0])  # rdl_chain_keep
                if wait == node[1]:
                    live += (node,)
                    lowest = min(lowest, node[2] % LIFE)
        seen = count
        if live:
            yield atomic(push, live)  # rdl_chain_return
            if fault != "lowest not lowered again":
                yield fetch_min("lowest", lowest)
            if fault != "count not read again by who fires":
                count = yield fetch_add("count", 0)
        for node in fired:
            stale = node[2] // LIFE != seen // LIFE
            yield from wake(node, STALE if stale else 0, fault)
        if not live:
            return False
        if count // LIFE == seen // LIFE or trusts:
            if count % LIFE < lowest:
                return True


def wake(node, cause, fault):
    if fault == "dead node is fired":
        wait = yield load("wait." + node[0])
        if wait & 7 == WAITING:
            yield from rdl_wake(node[0], wait, cause)
    else:
        yield from rdl_wake(node[0], node[1], cause)


def rdl_event_signal(life, fault):
    if fault == "lowest read plainly":
        yield late(fetch_add("count", 1))
        lowest = yield load("lowest")
        count = yield fetch_add("count", 0)
    elif fault == "count without generation":
        seen = yield load("generation")
        if seen != life:
            return STALE
        count = yield fetch_add("count", 1)
        count += 1
        lowest = yield fetch_min("lowest", NO_WAITER)
    else:
        old = yield load("count")
        while True:
            if old // LIFE != life:
                return STALE
            count = old + 1
            seen = yield cas("count", old, count)
            if seen == old:
                break
            old = seen
        lowest = yield fetch_min("lowest", NO_WAITER)  # a read that is a read-modify-write
    if count % LIFE >= lowest:
        yield from rdl_event_fire(count, fault)
    return OK


def commit_event(me, waiting, wanted, fault):
    node = (me, waiting, wanted)
    if fault == "count read before the push":
        count = yield fetch_add("count", 0)
        yield atomic(push, (node,))
        yield fetch_min("lowest", wanted % LIFE)
    elif fault == "lowest lowered before the push":
        yield fetch_min("lowest", wanted % LIFE)
        yield atomic(push, (node,))
        count = yield fetch_add("count", 0)
    elif fault == "count read plainly":
        yield atomic(push, (node,))
        yield late(fetch_min("lowest", wanted % LIFE))
        count = yield load("count")
    else:
        yield atomic(push, (node,))
        yield fetch_min("lowest", wanted % LIFE)
        count = yield fetch_add("count", 0)
    if has_come(wanted, count) and fault != "no take-back":
        back = yield from rdl_take_back(me, waiting)
        return back
    return False


def await_count(me, wait, wanted, fault):
    count = yield load("count")  # rdl_poll_event
    if count // LIFE != wanted // LIFE:
        return wait, STALE
    if count >= wanted:
        return wait, OK
    waiting = with_state(wait + TICKET_ONE, WAITING)
    seen = yield cas("wait." + me, wait, waiting)
    if seen != wait:  # a request to cancel: delivered, and the ticket rises
        wait = with_state(waiting, RUNNING)
        yield store("wait." + me, wait)
        return wait, "CANCELLED"
    again = yield from commit_event(me, waiting, wanted, fault)
    wait, cause = with_state(waiting, RUNNING), 0
    if not again:
        wait, cause = yield from rdl_resume(me)
    if not cause:
        count = yield load("count")
        if count // LIFE != wanted // LIFE:
            return wait, STALE
        yield from check(count >= wanted, "goes on before the count has come")
    return wait, cause or OK


def rdl_event_reset(life, fault):
    if fault == "count without generation" or fault == "who fires trusts the event":
        count = yield fetch_add("count", 0)
        busy = yield from rdl_event_fire(count, fault)
        if busy:
            return "BUSY"
        yield store("generation", life + 1)
        nodes = yield exchange("list", ())  # rdl_event_dismiss
        for node in nodes:
            yield from rdl_wake(node[0], node[1], STALE)
        yield exchange("count", (life + 1) * LIFE)
        yield exchange("lowest", NO_WAITER)
        return OK
    count = yield fetch_add("count", 0)
    while True:
        busy = yield from rdl_event_fire(count, fault)
        if busy:
            return "BUSY"
        seen = yield cas("count", count, (life + 1) * LIFE)
        if seen == count:
            break
        count = seen
    yield store("generation", life + 1)
    yield from rdl_event_fire((life + 1) * LIFE, fault)  # who joined late is told STALE
    return OK


def event_words(*waiters):
    words = {"count": LIFE, "lowest": NO_WAITER, "list": (), "generation": 1, "reset": ""}
    for name in waiters:
        words.update(future(name, TICKET_ONE + RUNNING))
    return words


def build_signals(fault):
    def waiter(name, wanted):
        _, status = yield from await_count(name, TICKET_ONE + RUNNING, LIFE + wanted, fault)
        yield from check(status == OK, "told %s" % status)

    return Model(event_words("A", "B"),
                 {"waits for 1": lambda: waiter("A", 1), "waits for 2": lambda: waiter("B", 2),
                  "signal": lambda: rdl_event_signal(1, fault),
                  "signal too": lambda: rdl_event_signal(1, fault)}, once_queued("AB"))


def build_cancelled(fault):
    def waiter():
        wait, _ = yield from await_count("A", TICKET_ONE + RUNNING, LIFE + 1, fault)
        yield from await_count("A", wait, LIFE + 2, fault)

    def signals():
        yield from rdl_event_signal(1, fault)
        yield from rdl_event_signal(1, fault)

    return Model(event_words("A"), {"waiter": waiter, "signals": signals,
                                    "cancel": lambda: rdl_cancel_waiting("A")}, once_queued("A"))


def reset_and_watch(fault, others):
    """One reset. When it is refused as BUSY, signals let everybody go on."""
    def reset():
        told = yield from rdl_event_reset(1, fault)
        yield store("reset", told)
        if told == "BUSY":
            yield from rdl_event_signal(1, fault)
            yield from rdl_event_signal(1, fault)

    return {**others, "reset": reset}


def nothing_from_before(memory, stuck):
    if stuck:
        return nobody_stuck(memory, stuck)
    if memory["reset"] == OK and memory["count"] % LIFE:
        return "a signal of the old generation is counted in the new one"
    return None


def build_reset(fault):
    def waiter():
        yield from await_count("A", TICKET_ONE + RUNNING, LIFE + 1, fault)

    def signal():
        comes = yield choose(True, False)
        if comes:
            yield from rdl_event_signal(1, fault)

    return Model(event_words("A"), reset_and_watch(fault, {"waiter": waiter, "signal": signal}),
                 once_queued("A"), nothing_from_before)


def build_reset2(fault):
    """B waits already when a signal lets A go on and puts B back, while the reset comes."""
    b_waits = TICKET_ONE + WAITING
    words = event_words("A", "B")
    words.update({"wait.B": b_waits, "list": (("B", b_waits, LIFE + 2),), "lowest": 2})

    def waiter():
        yield from await_count("A", TICKET_ONE + RUNNING, LIFE + 1, fault)

    threads = {"waits for 1": waiter, "waits for 2": lambda: rdl_resume("B"),
               "signal": lambda: rdl_event_signal(1, fault)}
    final = nothing_from_before if fault != "who fires trusts the event" else nobody_stuck
    return Model(words, reset_and_watch(fault, threads), once_queued("AB"), final)


def build(scenario, fault):
    builders = {"signals": build_signals, "cancelled": build_cancelled, "reset": build_reset,
                "reset2": build_reset2}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
