# SPDX-License-Identifier: Apache-2.0
"""A future waits twice with nodes of which one is its slot's own, and the first wait is broken.

Mirrors rdl_node_of, rdl_node_free, rdl_fire and rdl_list_join. Here a list is what it is in the
kernel, a head and links through nodes whose words are written one by one: A waits for T, may be
woken by a deadline while its node stands in T's list, and waits for U.
"""

from explore import Model, cas, exchange, load, main, nobody_stuck_but, store, until
from kernel import (RUNNING, TICKET_ONE, TIMEOUT, WAITING, check, future, once_queued, rdl_dispatch,
                    rdl_take_back, rdl_wake, with_state)

SCENARIOS = ("two waits",)
FAULTS = {
    "takes its own node at once": ("two waits", "nobody looks whether it still stands in a list"),
    "freed before it is read": ("two waits", "who fires the list reads the node when it is free"),
}

NIL, OWN, SPARE, CLOSED = "", "own", "spare", "closed"
PLACES = ("T", "U")


def rdl_node_of(ticket, fault):
    """The node that is taken."""
    used = yield load("who.own")
    node = SPARE if used and fault != "takes its own node at once" else OWN
    yield store("who." + node, "A")
    yield store("ticket." + node, ticket)
    return node


def rdl_list_join(place, node):
    while True:
        old = yield load("list." + place)
        if old == CLOSED:
            return False
        yield store("next." + node, old)
        seen = yield cas("list." + place, old, node)
        if seen == old:
            return True


def wait_for(place, wait, deadline, fault):
    """The wait word to run on with. What A is told counts only where a deadline was set."""
    waiting = with_state(wait + TICKET_ONE, WAITING)
    node = yield from rdl_node_of(waiting, fault)
    yield store("wait.A", waiting)
    if deadline:
        yield store("timer.A", waiting)
    joined = yield from rdl_list_join(place, node)
    if not joined:
        yield store("who." + node, NIL)  # rdl_node_free
        back = yield from rdl_take_back("A", waiting)
        if back:
            return with_state(waiting, RUNNING)
    wait, cause = yield from rdl_dispatch("A")
    closed = yield load("list." + place)
    yield from check(cause or closed == CLOSED, "woken before what it waits for is done")
    return wait


def rdl_fire(node, fault):
    who = yield load("who." + node)
    if fault == "freed before it is read":
        yield store("who." + node, NIL)
        ticket = yield load("ticket." + node)
    else:
        ticket = yield load("ticket." + node)
        yield store("who." + node, NIL)
    yield from check(who == "A", "a node in a list is free")
    yield from rdl_wake("A", ticket, 0)


def end(place, fault):
    node = yield exchange("list." + place, CLOSED)
    while node != NIL:
        following = yield load("next." + node)
        yield from rdl_fire(node, fault)
        node = following


def build(fault):
    words = {**future("A", TICKET_ONE + RUNNING), "timer.A": 0, "over.A": 0}
    for place in PLACES:
        words["list." + place] = NIL
    for node in (OWN, SPARE):
        words.update({"who." + node: NIL, "ticket." + node: 0, "next." + node: NIL})

    def awaiter():
        wait = yield from wait_for("T", TICKET_ONE + RUNNING, True, fault)
        yield from wait_for("U", wait, False, fault)
        yield store("over.A", 1)

    def deadline():
        ticket = yield until(lambda memory: memory["timer.A"])
        yield from rdl_wake("A", ticket, TIMEOUT)

    def all_is_over(memory, stuck):
        if any(memory["who." + node] for node in (OWN, SPARE)) and not stuck:
            return "a node is lost"
        return nobody_stuck_but("deadline")(memory, stuck)

    threads = {"awaiter": awaiter, "end of T": lambda: end("T", fault),
               "end of U": lambda: end("U", fault), "deadline": deadline}
    return Model(words, threads, once_queued("A"), all_is_over)


if __name__ == "__main__":
    main(lambda scenario, fault: build(fault), SCENARIOS, FAULTS)
