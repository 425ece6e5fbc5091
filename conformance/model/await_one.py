# SPDX-License-Identifier: Apache-2.0
"""A future awaits another one, which ends, is cancelled for, timed out, freed or reborn meanwhile.

Mirrors rdl_poll_future, rdl_suspend, rdl_commit_future, rdl_join_future, rdl_take_back, rdl_sweep,
rdl_complete, rdl_slot_free, rdl_record_clear, rdl_cancel and RDL_SAY_WAKE.
"""

from explore import Model, atomic, fetch_add, load, main, nobody_stuck_but, store, until
from kernel import (CANCELLED, OK, READY, RUNNING, STALE, TICKET_ONE, TIMEOUT, WAITING, check,
                    drop_plain, fire_plain, future, is_closed, list_close, list_join, once_queued,
                    put_entry, rdl_begin_wait, rdl_cancel_waiting, rdl_cause_of, rdl_dispatch,
                    rdl_join_future, rdl_requested, rdl_resume, rdl_sweep, rdl_take_back, rdl_wake,
                    record_clear, set_result, slot_free, with_state)

SCENARIOS = ("race", "reuse", "batch", "sweep")
FAULTS = {
    "no take-back after closed": ("race", "the awaiter finds the list closed and waits"),
    "joins before it waits": ("race", "the node is pushed before WAITING is stored"),
    "ticket is not raised": ("race", "every wait of a future has the same word"),
    "waker does not swap": ("race", "WAITING is read, then READY is stored"),
    "closed in two steps": ("race", "the list is read, then CLOSED is stored"),
    "generation not read again": ("reuse", "the awaiter joins the list of another future"),
    "result read without generation": ("reuse", "the slot may have been reborn since the wake"),
    "batch member closes by store": ("batch", "who joins with an old handle is overwritten"),
    "sweeper leaves closed list": ("sweep", "who finds the list closed wakes nobody"),
    "sweeper trusts the slot": ("sweep", "live nodes go back onto whatever list is there now"),
    "sweeper looks once": ("sweep", "live nodes go back after the slot was reborn, and stay"),
    "sweeper reads generation early": ("sweep", "the generation is read before the list is taken"),
}


def poll_future(me, wait, target, generation):  # rdl_poll_future: a status, or None = suspend
    running = yield from rdl_requested(me, wait)
    if running:
        return running, CANCELLED
    seen = yield load("generation." + target)
    if seen != generation:
        return wait, STALE
    closed = yield atomic(is_closed, target)
    if not closed:
        return wait, None
    status = yield from rdl_cause_of(target, generation)
    return wait, status


def rdl_suspend(me, wait, target, generation, deadline, fault):
    """True: it runs on at once, False: it left. Also its wait word, and what it is told."""
    waiting = with_state(wait + (0 if fault == "ticket is not raised" else TICKET_ONE), WAITING)
    node = (me, waiting, "plain", generation)
    joined = False
    if fault == "joins before it waits":
        joined = yield atomic(list_join, target, (node,))
    if deadline:
        yield store("timer." + me, waiting)  # rdl_timer_set
    running = yield from rdl_begin_wait(me, wait, waiting)
    if running:
        return True, running, CANCELLED
    again = yield from rdl_commit_future(me, waiting, target, node, joined, fault)
    return again, with_state(waiting, RUNNING), 0


def rdl_commit_future(me, waiting, target, node, joined, fault):
    if not joined:
        joined = yield from rdl_join_future(target, node, fault)
    if joined or fault == "no take-back after closed":
        return False
    back = yield from rdl_take_back(me, waiting)
    return back


def settle_future(cause, target, generation, fault):  # rdl_settle_future
    if cause:
        return cause
    if fault == "result read without generation":
        result = yield load("result." + target)
        yield from check(result == generation, "reads a result that is not there")
        return OK
    status = yield from rdl_cause_of(target, generation)
    return status


def rdl_await(me, wait, target, generation, deadline, fault):
    wait, status = yield from poll_future(me, wait, target, generation)
    if status:
        return wait, status
    again, wait, cause = yield from rdl_suspend(me, wait, target, generation, deadline, fault)
    if not again:
        wait, cause = yield from rdl_resume(me)
    status = yield from settle_future(cause, target, generation, fault)
    return wait, status


def end(name, fault, unnamed=False):  # the last steps of rdl_complete
    yield atomic(set_result, name)
    if unnamed and fault == "batch member closes by store":
        yield store("waiters." + name, ("closed", False, ()))
        return
    if fault == "closed in two steps":
        head = yield load("waiters." + name)
        yield store("waiters." + name, ("closed", False, ()))
    else:
        head = yield atomic(list_close, name)
    for node in head[2]:
        if fault == "waker does not swap":
            wait = yield load("wait." + node[0])
            if wait == node[1]:
                yield store("wait." + node[0], with_state(wait, READY))
                yield atomic(put_entry, node[0], with_state(wait, READY))
        else:
            yield from rdl_wake(node[0], node[1], 0)


def reborn(name):
    """Its owner takes the result and spawns another future in the slot."""
    yield until(is_closed, name)
    yield atomic(slot_free, name)
    yield fetch_add("generation." + name, 1)
    yield atomic(record_clear, name)


def over(memory, *names):
    return all(memory["over." + name] for name in names)


def build_race(fault):
    words = {**future("A", TICKET_ONE + RUNNING), **future("T", RUNNING), **future("U", RUNNING)}
    words.update({"timer.A": 0, "over.A": 0})

    def awaiter():
        wait, status = yield from rdl_await("A", TICKET_ONE + RUNNING, "T", 1, True, fault)
        yield from check(status != STALE, "T is not stale")
        wait, status = yield from rdl_await("A", wait, "U", 1, False, fault)
        yield from check(status in (OK, CANCELLED), "told %s by a wait that is over" % status)
        yield store("over.A", 1)

    def deadline():  # the host: RDL_SAY_WAKE, at any time after the deadline was set
        ticket = yield until(lambda memory: memory["timer.A"])
        yield from rdl_wake("A", ticket, TIMEOUT)

    threads = {"awaiter": awaiter, "end of T": lambda: end("T", fault),
               "end of U": lambda: end("U", fault), "deadline": deadline,
               "cancel": lambda: rdl_cancel_waiting("A")}
    return Model(words, threads, once_queued("A"), nobody_stuck_but("deadline"))


def build_reuse(fault):
    words = {**future("A", TICKET_ONE + RUNNING), **future("T", RUNNING), "over.A": 0}

    def awaiter():
        _, status = yield from rdl_await("A", TICKET_ONE + RUNNING, "T", 1, False, fault)
        yield from check(status in (OK, STALE), "neither OK nor STALE")
        yield store("over.A", 1)

    def slot():
        yield from end("T", fault)
        yield from reborn("T")
        yield until(over, "A")  # the new future waits for the awaiter, directly or not
        yield from end("T", fault)

    return Model(words, {"awaiter": awaiter, "slot T": slot}, once_queued("A"))


def build_batch(fault):
    """The slot is born again as a member of a batch, of which nobody has a handle. Whoever looked
    at the handle of the slot's last life may still join, and the member ends without regard."""
    words = {**future("A", TICKET_ONE + RUNNING), **future("T", RUNNING)}

    def awaiter():
        _, status = yield from rdl_await("A", TICKET_ONE + RUNNING, "T", 1, False, fault)
        yield from check(status in (OK, STALE), "neither OK nor STALE")

    def slot():
        yield from end("T", fault)
        yield from reborn("T")
        yield from end("T", fault, True)

    return Model(words, {"awaiter": awaiter, "slot T": slot}, once_queued("A"))


def build_sweep(fault):
    """X waits already; a dead node stands beside it. B joins and sweeps, then C awaits what the
    slot holds next, which ends only after X and B have gone on."""
    x_waits = 2 * TICKET_ONE + WAITING
    words = {**future("X", x_waits), **future("B", TICKET_ONE + RUNNING),
             **future("C", TICKET_ONE + RUNNING), **future("T", RUNNING)}
    words.update({"over.X": 0, "over.B": 0, "over.C": 0})
    words["waiters.T"] = ("open", False, (("X", TICKET_ONE + WAITING, "plain", 1),
                                          ("X", x_waits, "plain", 1)))

    def waiter():
        _, cause = yield from rdl_dispatch("X")
        status = yield from settle_future(cause, "T", 1, fault)
        yield from check(status in (OK, STALE), "woken for nothing")
        yield store("over.X", 1)

    def sweeper():
        waiting = 2 * TICKET_ONE + WAITING
        yield store("wait.B", waiting)
        joined = yield atomic(list_join, "T", (("B", waiting, "plain", 1),))
        back = False
        if joined:  # RDL_JOIN_SWEEP
            yield from rdl_sweep("T", fire_plain, drop_plain, fault)
        else:
            back = yield from rdl_take_back("B", waiting)
        if not back:
            yield from rdl_dispatch("B")
        yield store("over.B", 1)

    def newcomer():
        yield until(lambda memory: memory["born.T"] == 2)
        _, status = yield from rdl_await("C", TICKET_ONE + RUNNING, "T", 2, False, fault)
        yield from check(status == OK, "the new future's awaiter is told %s" % status)
        yield store("over.C", 1)

    def slot():
        yield from end("T", fault)
        yield from reborn("T")
        yield until(over, "X", "B")
        yield from end("T", fault)

    threads = {"waiter X": waiter, "sweeper B": sweeper, "awaiter C": newcomer, "slot T": slot}
    return Model(words, threads, once_queued("XBC"))


def build(scenario, fault):
    return {"race": build_race, "reuse": build_reuse, "batch": build_batch,
            "sweep": build_sweep}[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
