# SPDX-License-Identifier: Apache-2.0
"""A parent and its children: awaiting all of them, detaching one, ending before them.
(late_cancel.py has a cancel that comes after its own end.)

Mirrors rdl_count_children, rdl_live_children, rdl_children_settle, rdl_poll_children,
rdl_commit_children, rdl_wake_owner, rdl_drop_child, rdl_complete, rdl_return, rdl_end_begins and
rdl_detach. `spawned` is a local variable of the parent, as it is in the kernel: its children that
the record does not count yet.
"""

from explore import (Model, atomic, cas, choose, exchange, fetch_add, fetch_and, fetch_or, load,
                     main, nobody_stuck_but, store, until)
from kernel import (CANCEL_BIT, CANCELLED, DONE, READY, RETURNED, RUNNING, STATE_MASK,
                    TICKET_ONE, WAITING, check, future, once_queued, put_entry, rdl_begin_wait,
                    rdl_requested, rdl_resume, rdl_take_back, rdl_wake, with_state)

SCENARIOS = ("await", "detach", "take")
FAULTS = {
    "count read before the bit": ("await", "the last child ends between the two"),
    "count read before WAITING": ("await", "the last child finds nobody waiting"),
    "no second look": ("await", "a child of an earlier wait wakes a later one too soon"),
    "no look at what is awaited": ("await", "the last child ends a wait for something else"),
    "awaited bit left at the end": ("await", "a cancelled wait leaves it in the count"),
    "not counted before the wait": ("await", "the count never comes to where the last child wakes"),
    "running code counts as one": ("await", "children that are not counted yet end the parent"),
    "return without a hold": ("await", "the last child ends the parent before it is RETURNED"),
    "detach counts always": ("detach", "both count off a child that ended at the same time"),
    "detach never counts": ("detach", "nobody counts off a child that is detached in time"),
    "detached by load and store": ("detach", "nobody, or both, free the slot"),
    "done is read from the wait word": ("take", "the slot is freed under its finisher's hands"),
    "record read after closing": ("take", "the owner is read from a record that is freed"),
}
AWAITED = 1 << 31
CODE_RUNS = 1 << 10


def code_runs(fault):
    return 1 if fault == "running code counts as one" else CODE_RUNS


def rdl_wake_owner(owner, fault):
    wait = yield load("wait." + owner)
    if wait & STATE_MASK != WAITING:
        return
    if fault != "no look at what is awaited":
        awaits = yield load("awaits." + owner)
        if awaits != "children":
            return
    yield from rdl_wake(owner, wait, 0)


def rdl_drop_child(owner, complete, fault):
    left = yield fetch_add("children." + owner, -1)
    left -= 1
    if left == AWAITED | code_runs(fault):
        yield from rdl_wake_owner(owner, fault)
    if left == 0:
        yield from complete()


def parent_completes():  # rdl_complete of the parent
    state = yield load("wait.P")
    yield from check(state & STATE_MASK != DONE, "the parent ends twice")
    yield from check(state & STATE_MASK == RETURNED, "the parent ends while its code runs")
    yield store("wait.P", with_state(state, DONE))


def rdl_children_settle(fault=None):
    count = yield load("children.P")
    if count & AWAITED:
        yield fetch_and("children.P", ~AWAITED)


def rdl_live_children(spawned, fault):
    count = yield load("children.P")
    return count + spawned - code_runs(fault)


def rdl_return(spawned, fault):
    mine = 0 if fault == "return without a hold" else 1
    left = yield fetch_add("children.P", spawned + mine - code_runs(fault))
    wait = yield load("wait.P")
    while True:
        seen = yield cas("wait.P", wait, wait & ~STATE_MASK | RETURNED)
        if seen == wait:
            break
        wait = seen
    if mine:
        yield from rdl_drop_child("P", parent_completes, fault)
    elif left + spawned == code_runs(fault):
        yield from parent_completes()


def rdl_end(spawned, fault):
    if fault != "awaited bit left at the end":
        yield from rdl_children_settle()
    live = yield from rdl_live_children(spawned, fault)
    if live:
        yield from rdl_return(spawned, fault)
        return
    wait = yield load("wait.P")  # nobody else counts here any more: rdl_complete
    yield from check(wait & STATE_MASK not in (DONE, RETURNED), "the parent ends twice")
    yield store("wait.P", with_state(wait, DONE))


# ---- await: two waits for children, the second after another spawn; one wait for something else

def commit_children(waiting, fault):
    if fault == "count read before the bit":
        count = yield load("children.P")
        yield fetch_or("children.P", AWAITED)
    elif fault == "count read before WAITING":
        count = yield load("early")
    else:
        count = yield fetch_or("children.P", 0)  # rdl_load_ordered
    if count & ~AWAITED != code_runs(fault):
        return False
    back = yield from rdl_take_back("P", waiting)
    return back


def await_children(wait, spawned, fault):
    """RDL_AWAIT_CHILDREN with rdl_suspend: wait word, CANCELLED or 0, and what is not counted."""
    while True:
        running = yield from rdl_requested("P", wait)  # rdl_poll_begins
        if running:
            return running, CANCELLED, spawned
        yield from rdl_children_settle()
        live = yield from rdl_live_children(spawned, fault)
        if not live:
            return wait, 0, spawned
        if spawned and fault != "not counted before the wait":
            yield fetch_add("children.P", spawned)  # rdl_count_children
            spawned = 0
        waiting = with_state(wait + TICKET_ONE, WAITING)
        yield store("awaits.P", "children")
        if fault != "count read before the bit":
            early = yield fetch_or("children.P", AWAITED)
            yield store("early", early)
        running = yield from rdl_begin_wait("P", wait, waiting)
        if running:
            return running, CANCELLED, spawned
        again = yield from commit_children(waiting, fault)
        cause = 0
        wait = with_state(waiting, RUNNING)
        if not again:
            wait, cause = yield from rdl_resume("P")
        if cause or fault == "no second look":
            return wait, cause, spawned


def child_ends(name, fault):
    """The last steps of a child: its list is closed, then it counts itself off."""
    yield until(lambda memory, who: memory["born." + who], name)
    yield exchange("waiters." + name, ("closed", False, ()))
    yield from rdl_drop_child("P", parent_completes, fault)


def all_closed(memory, *names):
    return all(memory["waiters." + name][0] == "closed" for name in names)


def build_await(fault):
    words = {**future("P", TICKET_ONE + READY, children=code_runs(fault), awaits=""),
             **future("c", RUNNING), **future("d", RUNNING), **future("e", RUNNING),
             "early": 0, "event": 0}
    words["born.e"] = 0

    def parent():
        wait, cause, spawned = yield from await_children(TICKET_ONE + READY, 2, fault)
        if not cause:
            closed = yield atomic(all_closed, "c", "d")
            yield from check(closed, "goes on although a child lives")
        yield store("born.e", 1)  # rdl_child_start; clean-up after a cancel may spawn too
        spawned += 1
        way = yield choose("children", "other")
        if way == "other":
            yield from await_other(wait)
        else:
            wait, cause, spawned = yield from await_children(wait, spawned, fault)
            if not cause:
                closed = yield atomic(all_closed, "c", "d", "e")
                yield from check(closed, "goes on although a child lives")
        yield from rdl_end(spawned, fault)

    def await_other(wait):
        """A wait for an event, which comes when all children have counted themselves off."""
        waiting = with_state(wait + TICKET_ONE, WAITING)
        yield store("awaits.P", "event")
        running = yield from rdl_begin_wait("P", wait, waiting)
        if running:
            return
        yield store("event", waiting)
        _, cause = yield from rdl_resume("P")
        came = yield load("event")
        yield from check(cause or came == "signalled",
                         "woken by a child while it waits for an event")

    def event():
        waiting = yield until(lambda memory: memory["event"])
        yield exchange("event", "signalled")
        yield from rdl_wake("P", waiting, 0)

    threads = {"parent": parent, "child c": lambda: child_ends("c", fault),
               "child d": lambda: child_ends("d", fault), "child e": lambda: child_ends("e", fault),
               "cancel": cancel_unless_returned, "event": event}
    return Model(words, threads, once_queued("P"), parent_is_done("event"))


def cancel_unless_returned():
    """rdl_cancel of the parent, or none; of a RETURNED one it is the subject of `returned`."""
    comes = yield choose(True, False)
    while comes:
        wait = yield load("wait.P")
        if wait & STATE_MASK in (RETURNED, DONE):
            return
        if wait & STATE_MASK == WAITING:
            ready = yield cas("wait.P", wait, with_state(wait, READY))
            if ready == wait:
                yield store("cause.P", CANCELLED)
                yield atomic(put_entry, "P", with_state(wait, READY))
                return
        else:
            seen = yield cas("wait.P", wait, wait | CANCEL_BIT)
            if seen == wait:
                return


def parent_is_done(*may):
    def final(memory, stuck):
        wrong = nobody_stuck_but(*may)(memory, stuck)
        if wrong:
            return wrong
        if memory["wait.P"] & STATE_MASK != DONE:
            return "the parent never ends"
        return None
    return final


# ---- detach: the owner lets go of a child that ends at the same time

def build_detach(fault):
    """The child is counted, because its owner has waited, or not yet."""
    words = {**future("P", TICKET_ONE + READY, children=CODE_RUNS, awaits=""),
             **future("c", RUNNING), "freed": 0, "started": False}

    def free_slot():
        before = yield fetch_add("freed", 1)
        yield from check(before == 0, "the slot is freed twice")

    def child():  # rdl_complete
        yield until(lambda memory: memory["started"])
        head = yield exchange("waiters.c", ("closed", False, ()))
        if head[1]:
            yield from free_slot()
        else:
            yield from rdl_drop_child("P", parent_completes, fault)

    def parent():  # rdl_detach, then the end
        spawned = yield choose(1, 0)
        if not spawned:
            yield fetch_add("children.P", 1)
        yield store("started", True)
        if fault == "detached by load and store":
            old = yield load("waiters.c")
            yield store("waiters.c", (old[0], True, old[2]))
        else:
            old = yield atomic(set_detached)
        if old[0] == "closed":
            yield from free_slot()
        if (old[0] != "closed" or fault == "detach counts always") and \
                fault != "detach never counts":
            if spawned:
                spawned -= 1
            else:
                yield fetch_add("children.P", -1)
        yield from rdl_end(spawned, fault)

    def final(memory, stuck):
        wrong = parent_is_done()(memory, stuck)
        return wrong or (None if memory["freed"] == 1 else "the slot is lost")

    return Model(words, {"parent": parent, "child": child}, once_queued("P"), final)


def set_detached(memory):  # rdl_fetch_or(&record->waiters, RDL_DETACHED_BIT)
    old = memory["waiters.c"]
    memory["waiters.c"] = (old[0], True, old[2])
    return old


# ---- take: the owner sees that the child is done, takes its result and spawns again in its slot

def build_take(fault):
    words = {**future("P", TICKET_ONE + READY, children=CODE_RUNS, awaits=""),
             **future("c", TICKET_ONE + RUNNING, owner="P")}

    def child():  # rdl_complete
        owner = yield load("owner.c")
        yield store("wait.c", TICKET_ONE + DONE)
        yield exchange("waiters.c", ("closed", False, ()))
        if fault == "record read after closing":
            owner = yield load("owner.c")
        yield from check(owner == "P", "counts off a child of another future")
        yield from rdl_drop_child("P", parent_completes, fault)

    def parent():
        yield until(is_done)
        yield store("owner.c", 0)  # rdl_slot_free and the next birth, with another owner
        yield fetch_add("generation.c", 1)
        yield store("waiters.c", ("open", False, ()))
        yield store("wait.c", 2 * TICKET_ONE + RUNNING)
        yield from rdl_end(1, fault)

    def is_done(memory):
        if fault == "done is read from the wait word":
            return memory["wait.c"] & STATE_MASK == DONE
        return memory["waiters.c"][0] == "closed"

    def final(memory, stuck):
        wrong = parent_is_done()(memory, stuck)
        if memory["waiters.c"][0] == "closed":
            wrong = wrong or "the list of a new future is closed by the end of the old one"
        return wrong

    return Model(words, {"parent": parent, "child": child}, once_queued("P"), final)


def build(scenario, fault):
    builders = {"await": build_await, "detach": build_detach, "take": build_take}
    return builders[scenario](fault)


if __name__ == "__main__":
    main(build, SCENARIOS, FAULTS)
