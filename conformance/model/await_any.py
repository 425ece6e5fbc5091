# SPDX-License-Identifier: Apache-2.0
"""A future awaits the first of two others, then a third; nodes of the first wait come late.

Mirrors rdl_poll_any, rdl_settle_any, rdl_suspend, rdl_commit_any, rdl_complete, rdl_fire_waiters
and rdl_cancel.
"""

from explore import Model, atomic, fetch_add, load, main, store, until
from kernel import (CANCELLED, OK, RUNNING, STALE, TICKET_ONE, WAITING, check, future, is_closed,
                    list_close, once_queued, rdl_begin_wait, rdl_cancel_waiting, rdl_cause_of,
                    rdl_join_future, rdl_requested, rdl_resume, rdl_take_back, rdl_wake,
                    record_clear, set_result, slot_free, with_state)

SCENARIOS = ("race", "reuse", "shared")
FAULTS = {
    "ticket is not raised": ("race", "a late node of the first wait hits the second"),
    "no take-back after closed": ("race", "a target that is done is passed over"),
    "goes on after closed": ("race", "joins the other lists although it has taken itself back"),
    "second node has its own ticket": ("race", "the wait word cannot match both nodes"),
    "cause goes with the wake": ("shared", "a waiter is told what it should have looked at itself"),
    "generation looked at first": ("reuse", "the slot is reborn between the two looks"),
    "generation not read again": ("reuse", "the node stands in the list of another future"),
}


def settle_any(cause, targets, fault):  # which, status
    if cause:
        return None, cause
    for name in targets:
        if fault == "generation looked at first":
            seen = yield load("generation." + name)
            closed = yield atomic(is_closed, name)
        else:
            closed = yield atomic(is_closed, name)
            seen = yield load("generation." + name)
        if seen != 1:
            return name, STALE
        if closed:
            status = yield from rdl_cause_of(name, 1)
            return name, status
    return None, OK


def commit_any(me, waiting, targets, fault):
    for name in targets:
        ticket = waiting
        if fault == "second node has its own ticket" and name != targets[0]:
            ticket = waiting + TICKET_ONE
        seen = yield load("generation." + name)  # rdl_handle_status
        joined = False
        if seen == 1:
            joined = yield from rdl_join_future(name, (me, ticket, "plain", 1), fault)
        if joined or fault == "no take-back after closed":
            continue
        back = yield from rdl_take_back(me, waiting)
        if fault != "goes on after closed":
            return back
        waiting = waiting + TICKET_ONE
        yield store("wait." + me, waiting)
    return False


def await_any(me, wait, targets, fault):
    running = yield from rdl_requested(me, wait)
    if running:
        return running, None, CANCELLED
    which, status = yield from settle_any(0, targets, fault)  # rdl_poll_any
    if which:
        return wait, which, status
    waiting = with_state(wait + (0 if fault == "ticket is not raised" else TICKET_ONE), WAITING)
    running = yield from rdl_begin_wait(me, wait, waiting)
    if running:
        return running, None, CANCELLED
    again = yield from commit_any(me, waiting, targets, fault)
    wait, cause = with_state(waiting, RUNNING), 0
    if not again:
        wait, cause = yield from rdl_resume(me)
    which, status = yield from settle_any(cause, targets, fault)
    return wait, which, status


def end(name, cause=0):  # rdl_complete
    yield atomic(set_result, name)
    head = yield atomic(list_close, name)
    for node in head[2]:  # rdl_fire_waiters
        yield from rdl_wake(node[0], node[1], cause if len(head[2]) > 1 else 0)


def build_race(fault):
    words = {**future("A", TICKET_ONE + RUNNING), **future("T", RUNNING), **future("U", RUNNING),
             **future("V", RUNNING)}

    def awaiter():
        wait, which, status = yield from await_any("A", TICKET_ONE + RUNNING, "TU", fault)
        yield from check(which or status == CANCELLED, "woken although none is done")
        wait, which, status = yield from await_any("A", wait, "V", fault)
        yield from check(which or status == CANCELLED, "woken by a node of the wait before")

    threads = {"awaiter": awaiter, "cancel": lambda: rdl_cancel_waiting("A"),
               "end of T": lambda: end("T"), "end of U": lambda: end("U"),
               "end of V": lambda: end("V")}
    return Model(words, threads, once_queued("A"))


def build_reuse(fault):
    """T's slot is reborn at any time; the new future, and U, end only after the awaiter."""
    words = {**future("A", TICKET_ONE + RUNNING), **future("T", RUNNING), **future("U", RUNNING)}
    words["over"] = 0

    def awaiter():
        _, which, status = yield from await_any("A", TICKET_ONE + RUNNING, "TU", fault)
        yield from check(which == "T" and status in (OK, STALE), "woken although none is done")
        yield store("over", 1)

    def slot():
        yield from end("T")
        yield atomic(slot_free, "T")
        yield fetch_add("generation.T", 1)
        yield atomic(record_clear, "T")
        yield until(lambda memory: memory["over"])
        yield from end("T")

    return Model(words, {"awaiter": awaiter, "slot T": slot}, once_queued("A"))


def build_shared(fault):
    """T, which another one awaits too, was cancelled. Nobody has cancelled its awaiters."""
    words = {**future("A", TICKET_ONE + RUNNING), **future("T", RUNNING), **future("U", RUNNING)}
    words["waiters.T"] = ("open", False, (("B", TICKET_ONE + WAITING, "plain", 1),))
    words.update(future("B", TICKET_ONE + WAITING))

    def awaiter():
        _, which, status = yield from await_any("A", TICKET_ONE + RUNNING, "TU", fault)
        yield from check(status != CANCELLED, "takes the end of T for a request to itself")
        yield from check(which == "T", "is not told which one has ended")

    def other():
        _, cause = yield from rdl_resume("B")
        yield from check(not cause, "takes the end of T for a request to itself")

    cause = CANCELLED if fault == "cause goes with the wake" else 0
    return Model(words, {"awaiter": awaiter, "other awaiter": other,
                         "end of T": lambda: end("T", cause)}, once_queued("AB"))


def build(scenario, fault):
    builders = {"race": build_race, "reuse": build_reuse, "shared": build_shared}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
